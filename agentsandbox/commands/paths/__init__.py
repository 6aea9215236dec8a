"""Paths as text and as names: basename, dirname, realpath, readlink, pathchk, pwd."""
