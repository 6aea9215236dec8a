"""Compressed files: gzip, bzip2, xz, zstd and their kin."""
