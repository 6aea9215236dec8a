"""Room on the filesystem: df, du, stat."""
