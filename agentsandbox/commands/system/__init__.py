"""The machine: uname, hostname, nproc, getconf, uptime, free, locale."""
