"""New names: mkdir, mkfifo, mktemp, touch, truncate."""
