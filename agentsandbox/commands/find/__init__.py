"""`find` (POSIX 1003.1-2017, GNU findutils 4.9): an expression, compiled to closures, asked of each
file of a tree.
"""
