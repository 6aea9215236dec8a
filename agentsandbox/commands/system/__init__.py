"""The machine: uname, arch, hostname, nproc, getconf, uptime, free, locale."""
