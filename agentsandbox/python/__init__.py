"""CPython in the sandbox: the runtime that a host gives, and the commands that run it."""

from agentsandbox.python.runtime import PythonRuntime

__all__ = ["PythonRuntime"]
