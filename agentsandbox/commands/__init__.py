"""The commands, each imported when it is first run.

A command is a module of its own name, in this folder or in a package of its family, that holds an
object of that name made by `@command`. `FAMILIES` lists what each package brings; a package that
it does not list brings the command of its own name. Nothing else has to be registered.

Packages whose names begin with an underscore hold what several families share. All other modules of
a package are its own: no other room imports them.
"""

from __future__ import annotations

import os

from agentsandbox.kernel.caching import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.contract.command import Command

FAMILIES = {
    "accounts": "groups id logname who whoami",
    "awk": "awk gawk=awk mawk=awk nawk=awk",
    "bc": "bc dc",
    "cal": "cal ncal=cal",
    "checksums": "cksum shasum sum b2sum=digests md5sum=digests sha1sum=digests "
    "sha224sum=digests sha256sum=digests sha384sum=digests sha512sum=digests",
    "columns": "colrm column expand unexpand",
    "compress": "bzip2 bunzip2=bzip2 bzcat=bzip2 gzip gunzip=gzip zcat=gzip uncompress=gzip "
    "zstd unzstd=zstd zstdcat=zstd xz lzma=xz lzcat=xz unlzma=xz unxz=xz xzcat=xz",
    "copy": "cp install link ln mv",
    "create": "mkdir mkfifo mktemp touch truncate",
    "diff": "cmp diff patch zdiff zcmp=zdiff",
    "dos2unix": "dos2unix mac2unix=dos2unix unix2dos=dos2unix",
    "dumps": "hexdump od strings xxd",
    "encodings": "base32=bases base64=bases uudecode=uu uuencode=uu",
    "grep": "grep egrep=grep fgrep=grep rg zgrep zegrep=zgrep zfgrep=zgrep",
    "network": "curl nc wget",
    "numbers": "expr factor numfmt seq",
    "pagers": "less man more zless zmore=zless",
    "pages": "fmt fold pr",
    "paths": "basename dirname pathchk pwd readlink realpath",
    "permissions": "chgrp chmod chown",
    "processes": "kill pgrep pkill=pgrep ps watch",
    "remove": "rm rmdir shred unlink",
    "running": "env flock ionice nice nohup parallel setsid stdbuf time timeout xargs",
    "space": "df du stat",
    "split": "csplit split",
    "system": "free getconf hostname locale lscpu nproc uname uptime",
    "terminal": "clear stty tput tty",
    "zip": "unzip zip zipinfo=unzip",
}
"""The commands of each package; `name=module` where the module is not called as the command."""

_OBJECTS = {"[": "bracket"}
"""The object of a command whose name is not one of Python's."""


@lru_cache(maxsize=None)
def _modules() -> dict[str, str]:
    """Return the module of each command, below this package, without importing one."""
    try:
        entries = os.listdir(__path__[0])
    except OSError:  # inside an archive; `pkgutil` knows how, but is slow to import
        import pkgutil

        entries = [
            f"{found.name}{'' if found.ispkg else '.py'}"
            for found in pkgutil.iter_modules(__path__)
        ]
    found = {"[": "test"}
    for entry in entries:
        name, dot, suffix = entry.partition(".")
        if name.startswith("_") or (dot and suffix != "py"):
            continue
        if dot:
            found[name] = name
            continue
        for word in FAMILIES.get(name, name).split():
            command, _, module = word.partition("=")
            found[command] = f"{name}.{module or command}"
    return found


@lru_cache(maxsize=None)
def names() -> frozenset[str]:
    """Return the names of all commands, without importing one."""
    return frozenset(name for name in _modules() if name != "[")


def module_of(name: str) -> str | None:
    """Return the module of a command, below this package; None if there is no such command."""
    return _modules().get(name)


def find_command(name: str) -> Command | None:
    """Return the command called `name`, None for an unknown name."""
    return _load(name) if name in _modules() else None


@lru_cache(maxsize=None)
def _load(name: str) -> Command:
    where = module_of(name)
    attribute = _OBJECTS.get(name, name)
    module = __import__(f"agentsandbox.commands.{where}", fromlist=[attribute])
    found: Command = module.__dict__[attribute]
    return found


class _Commands:
    """The table as a shell is given it (`contract.command.CommandTable`)."""

    __slots__ = ()

    find = staticmethod(find_command)
    names = staticmethod(names)

    def hint(self, name: str) -> str | None:
        """Return a hint for a program that is not available; None for an unknown one."""
        from agentsandbox.commands._unavailable import unavailable_hint

        return unavailable_hint(name)


COMMANDS = _Commands()
