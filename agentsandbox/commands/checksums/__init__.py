"""Digests and checksums: md5sum, sha256sum, cksum, sum."""
