"""The stream editor's language (POSIX 1003.1-2017, GNU sed 4.9).

A script is parsed to commands; they are compiled to closures that an editor calls line by line, or,
if they look at one line only, to functions that change whole blocks of lines.
"""
