"""The shell: grammar, expansion, interpreter, builtins."""
