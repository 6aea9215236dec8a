"""The awk language: a lexer, a parser, a compiler to Python functions, and the runtime those
call.
"""
