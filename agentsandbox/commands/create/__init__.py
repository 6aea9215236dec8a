"""New names: mkdir, mkfifo, mknod, mktemp, touch, truncate."""
