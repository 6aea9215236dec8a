"""`bc` and `dc`: their numbers, bc's language and library, dc's machine."""
