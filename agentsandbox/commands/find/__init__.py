"""`find` (POSIX, GNU findutils 4.9): an expression as closures, asked of each file of a tree."""
