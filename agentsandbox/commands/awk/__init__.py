"""The awk language: a lexer, a parser, a compiler to one Python function, and its runtime."""
