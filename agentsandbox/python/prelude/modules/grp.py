"""The groups of the sandbox, read from /etc/group; this process's own group without it."""

import _agentsandbox


class struct_group(tuple):
    """One group: gr_name, gr_passwd, gr_gid, gr_mem."""

    __slots__ = ()
    n_fields = n_sequence_fields = 4
    gr_name = property(lambda self: self[0])
    gr_passwd = property(lambda self: self[1])
    gr_gid = property(lambda self: self[2])
    gr_mem = property(lambda self: self[3])

    def __repr__(self):
        names = ("name", "passwd", "gid", "mem")
        fields = ", ".join(f"gr_{name}={value!r}" for name, value in zip(names, self, strict=True))
        return f"grp.struct_group({fields})"


def getgrall():
    """Return all groups."""
    process = _agentsandbox.process
    found = []
    try:
        with open("/etc/group", encoding="utf-8", errors="surrogateescape") as file:
            for line in file:
                fields = line.rstrip("\n").split(":")
                if len(fields) == 4 and fields[2].isdecimal():
                    members = fields[3].split(",") if fields[3] else []
                    found.append(struct_group((fields[0], fields[1], int(fields[2]), members)))
    except OSError:
        pass
    if not any(entry.gr_gid == process.gid for entry in found):
        found.append(struct_group((process.user, "x", process.gid, [])))
    return found


def getgrgid(id):
    """Return the group with this number."""
    for entry in getgrall():
        if entry.gr_gid == id:
            return entry
    raise KeyError(f"getgrgid(): gid not found: {id}")


def getgrnam(name):
    """Return the group with this name."""
    for entry in getgrall():
        if entry.gr_name == name:
            return entry
    raise KeyError(f"getgrnam(): name not found: {name!r}")
