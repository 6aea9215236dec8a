"""rm, rmdir, unlink, shred."""
