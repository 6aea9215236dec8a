"""The release of the real tool that a command follows: what `--version` says."""

from __future__ import annotations

__all__ = ["release_of", "version_option"]

_COREUTILS = (
    "arch b2sum base32 base64 basename basenc cat chgrp chmod chown cksum comm cp csplit cut date df dir dirname du env expand expr "
    "factor fmt fold groups head hostid id install join link ln logname ls md5sum mkdir mkfifo mknod mktemp mv nice nl nohup nproc "
    "numfmt od paste pathchk pinky pr printenv ptx readlink realpath rm rmdir seq sha1sum sha224sum sha256sum sha384sum sha512sum shred "
    "shuf sleep sort split stat stdbuf stty sum sync tac tail tee timeout touch tr truncate tsort tty uname unexpand uniq unlink users "
    "vdir wc who whoami yes"
)
_UTIL_LINUX = "colrm column flock getopt hexdump ionice look more rev setsid uuidgen whereis"
_RELEASES = {
    "{} (GNU coreutils) 9.1": (_COREUTILS, "--version"),
    "{} (GNU diffutils) 3.8": ("cmp", "-v, --version"),
    "{} (GNU findutils) 4.9.0": ("xargs", "--version"),
    "{} 1.12": ("gzip", "-V, --version"),
    "{} (gzip) 1.12": ("gunzip zcat", "-V, --version"),
    "xz (XZ Utils) 5.4.1": ("lzcat lzma unlzma unxz xz xzcat", "-V, --version"),
    "{}, a block-sorting file compressor.  Version 1.0.8, 13-Jul-2019.": ("bunzip2 bzcat bzip2", "-V, --version"),
    "GNU {} (GNU Binutils for Debian) 2.40": ("strings", "-v, -V, --version"),
    "{} from util-linux 2.38.1": (_UTIL_LINUX, "-V, --version"),
    "{} from procps-ng 4.0.2": ("free kill pgrep pkill ps uptime watch", "-V, --version"),
    "{} (PSmisc) 23.6": ("fuser", "-V, --version"),
    "{} (GNU tar) 1.34": ("tar", "--version"),
    "{} (Debian GLIBC 2.36-9+deb12u14) 2.36": ("getconf iconv locale", "-V, --version"),
    "{} (coreutils) 9.1": ("dd", "--version"),
    "{} (GNU sharutils) 4.15.2": ("uudecode uuencode", "-v, --version"),
    "file-5.44": ("file", "-v, --version"),
    "man 2.11.2": ("man", "-V, --version"),
    "{} 590 (GNU regular expressions)": ("less", "-V, --version"),
    "{} (GNU gettext-runtime) 0.21": ("envsubst", "-V, --version"),
    "/usr/bin/{} using File::Rename version 2.01": ("rename", "-V, --version"),
    "{} 3.23": ("hostname", "-V, --version"),
}
_BY_NAME = {name: (text, spelling) for text, (names, spelling) in _RELEASES.items() for name in names.split()}


def release_of(name: str) -> str:
    """The lines that `--version` prints."""
    text, _ = _BY_NAME[name]
    return f"{text.replace('{}', name)}\nA command of agentsandbox, written to behave like this release.\n"


def version_option(name: str, usage: str) -> str:
    """The usage text with a line for --version after the one for --help, unless it has one or the tool has no such option."""
    entry = _BY_NAME.get(name)
    if entry is None or any(f"--version{end}" in usage for end in " \n,"):
        return usage
    start = usage.rfind("--help")
    if start < 0:
        return usage
    start = usage.rfind("\n", 0, start) + 1
    end = usage.find("\n", start) + 1
    line = usage[start:end]
    spelling = entry[1]
    column = line.find("  ", line.find("--help")) + 2
    while line[column : column + 1] == " ":
        column += 1
    if spelling.startswith("-V") and "-V," in usage:
        spelling = "--version"
    indent = "  " if spelling[1] != "-" else "      "
    declared = f"{indent}{spelling}  ".ljust(column) + "show the release that this command follows\n"
    return f"{usage[:end]}{declared}{usage[end:]}"
