"""Bytes shown: od, hexdump, xxd, strings."""
