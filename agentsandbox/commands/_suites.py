"""The releases of the suites that several commands belong to: what their `--version` says."""

from __future__ import annotations

from agentsandbox.contract.manners import Release

COREUTILS = Release("NAME (GNU coreutils) 9.1")
GLIBC = Release("NAME (Debian GLIBC 2.36-9+deb12u14) 2.36", "-V, --version")
PROCPS = Release("NAME from procps-ng 4.0.2", "-V, --version")
SHARUTILS = Release("NAME (GNU sharutils) 4.15.2", "-v, --version")
UTIL_LINUX = Release("NAME from util-linux 2.38.1", "-V, --version")
