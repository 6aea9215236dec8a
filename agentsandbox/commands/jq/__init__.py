"""The jq language, version 1.8.1: a lexer, a parser and a compiler to Python closures."""
