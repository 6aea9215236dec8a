"""What several commands know of files: copying, removing, backups, listings, compression."""
