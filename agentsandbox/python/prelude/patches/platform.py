"""`platform` of the Debian that the sandbox looks like."""

LIBC = ("glibc", "2.36")


def apply(module):
    """Name the C library of Debian 12, as the release of the sandbox's files says."""
    module.libc_ver = lambda executable=None, lib="", version="", chunksize=16384: LIBC
