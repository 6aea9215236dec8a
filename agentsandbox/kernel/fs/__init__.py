"""Filesystems: the tree in memory, mounts, the host read-only or under an overlay."""
