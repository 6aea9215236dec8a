"""Which symbolic links a script may make in a folder of the host.

A script's own paths are resolved in the sandbox and cannot leave the folder, whatever the links in
it say. But the host's programs read the folder too, and the kernel follows a link for them wherever
it leads: a backup that reads `result.csv`, a link to `/etc/passwd`, has been led out by the script.
So no link that a script makes may lead out, now or later.

It is not enough to count names and ".." in the text of a link. In `s/../x` the name `s` may be a
link to `.`, made before or after, and then ".." leaves the folder although the text goes down
before it goes up. Hence the rule: **a link climbs first and then goes down**. Its text is relative,
and ".." occurs only in front of all names. Then it holds, whatever else is in the folder:

* The kernel begins in the directory in which the link stands. Each ".." at the beginning leads to
  the directory above that, and the link is allowed only if it climbs no higher than the root of the
  folder.
* From there on every name leads to a file or directory in the folder, or to another link of which
  the same is true.

A link can be re-aimed only by giving it another place. A link that climbs k levels is safe in every
directory that is at least k levels below the root, so only a rename that lifts a link, or a
directory with links in it, has to look at them. The host's own links are not made by this rule. A
script cannot make a link that leads through one that leaves the folder, and cannot rename or link
to such a link; it can rename a directory that contains absolute ones (they lead where they led
before), as in a virtual environment of Python.
"""

from __future__ import annotations

EVERYWHERE = 1 << 30
"""What `climbs` returns for a link that may lead anywhere: more levels than any path has."""


def climbs(text: str) -> int:
    """Return how many levels a link climbs; `EVERYWHERE` if absolute, or not only at first."""
    if text.startswith("/"):
        return EVERYWHERE
    levels = 0
    down = False
    for part in text.split("/"):
        if part == "..":
            if down:
                return EVERYWHERE
            levels += 1
        elif part not in ("", "."):
            down = True
    return levels


# TM-MOUNT-2
def leaves(text: str, depth: int) -> bool:
    """Whether a relative link, `depth` levels below the root, passes above it."""
    for part in text.split("/"):
        if part == "..":
            depth -= 1
            if depth < 0:
                return True
        elif part not in ("", "."):
            depth += 1
    return False
