"""cp, mv, ln, install: files under other names."""
