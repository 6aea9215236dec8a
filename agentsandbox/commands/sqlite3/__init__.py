"""sqlite3: the shell of SQLite over databases in the sandbox."""
