"""ls, dir and vdir."""
