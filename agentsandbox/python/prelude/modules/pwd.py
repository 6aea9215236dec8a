"""The accounts of the sandbox, read from /etc/passwd; this process's own account without it."""

import _agentsandbox


class struct_passwd(tuple):
    """One account: pw_name, pw_passwd, pw_uid, pw_gid, pw_gecos, pw_dir, pw_shell."""

    __slots__ = ()
    n_fields = n_sequence_fields = 7
    pw_name = property(lambda self: self[0])
    pw_passwd = property(lambda self: self[1])
    pw_uid = property(lambda self: self[2])
    pw_gid = property(lambda self: self[3])
    pw_gecos = property(lambda self: self[4])
    pw_dir = property(lambda self: self[5])
    pw_shell = property(lambda self: self[6])

    def __repr__(self):
        names = ("name", "passwd", "uid", "gid", "gecos", "dir", "shell")
        fields = ", ".join(f"pw_{name}={value!r}" for name, value in zip(names, self, strict=True))
        return f"pwd.struct_passwd({fields})"


struct_pwent = struct_passwd


def getpwall():
    """Return all accounts."""
    process = _agentsandbox.process
    found = []
    try:
        with open("/etc/passwd", encoding="utf-8", errors="surrogateescape") as file:
            for line in file:
                fields = line.rstrip("\n").split(":")
                if len(fields) == 7 and fields[2].isdecimal() and fields[3].isdecimal():
                    fields[2:4] = int(fields[2]), int(fields[3])
                    found.append(struct_passwd(fields))
    except OSError:
        pass
    if not any(entry.pw_uid == process.uid for entry in found):
        own = (process.user, "x", process.uid, process.gid, "", process.home, "/bin/bash")
        found.append(struct_passwd(own))
    return found


def getpwuid(uid, /):
    """Return the account with this number."""
    for entry in getpwall():
        if entry.pw_uid == uid:
            return entry
    raise KeyError(f"getpwuid(): uid not found: {uid}")


def getpwnam(name, /):
    """Return the account with this name."""
    if not isinstance(name, str):
        raise TypeError(f"getpwnam() argument must be str, not {type(name).__name__}")
    for entry in getpwall():
        if entry.pw_name == name:
            return entry
    raise KeyError(f"getpwnam(): name not found: {name!r}")
