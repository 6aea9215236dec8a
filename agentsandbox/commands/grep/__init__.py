"""grep and ripgrep: the lines that match."""
