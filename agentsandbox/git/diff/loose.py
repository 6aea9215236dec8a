"""Differences between files that no repository has to know (`git diff --no-index`)."""

from __future__ import annotations

from agentsandbox.git.diff.options import DiffOptions
from agentsandbox.git.diff.printing import DiffPrinter
from agentsandbox.git.errors import Fatal
from agentsandbox.git.objects import NULL, object_name
from agentsandbox.git.trees import Delta
from agentsandbox.git.worktree import mode_of
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.invocation import Invocation


class _LoosePrinter(DiffPrinter):
    """Reads contents by path."""

    contents: dict[str, bytes]

    def content(self, mode: int, oid: str, path: bytes, dirt: int = 0) -> bytes:
        del path, dirt
        return self.contents[oid] if mode else b""


def compare_paths(git: Invocation, options: DiffOptions, old: str, new: str) -> int:
    """Print the differences between two files or directories; 1 if there are any."""
    options.configure(git)
    if not options.formats and not options.no_patch:
        options.formats.add("patch")
    printer = _LoosePrinter(git, options)
    printer.prefix = b""
    printer.contents = {}
    sides = [_files(git, word, printer.contents) for word in (old, new)]
    if ("" in sides[0]) != ("" in sides[1]):  # a file beside a directory
        at = 0 if "" in sides[0] else 1
        name = (old, new)[at].rstrip("/").rpartition("/")[2]
        sides[at] = {name: sides[at][""]}
        one = sides[1 - at].get(name)
        sides[1 - at] = {name: one} if one is not None else {}
        roots = [old, new]
        roots[at] = roots[at].rpartition("/")[0]
        old, new = roots
    found = []
    for name in sorted(sides[0].keys() | sides[1].keys()):
        one, two = sides[0].get(name), sides[1].get(name)
        if one == two:
            continue
        paths = [
            encode(f"{root.rstrip('/')}/{name}" if name and root else name or root)
            for root in (old, new)
        ]
        delta = Delta(paths[1], *(one or (0, NULL)), *(two or (0, NULL)))
        delta.old_path = paths[0] if one is not None else paths[1]
        if two is None:
            delta.new_path = paths[0]
        found.append(delta)
    if options.reverse:
        raise Fatal("git diff --no-index -R is not supported in this sandbox")
    printer.print(found)
    return 1 if found else 0


def _files(git: Invocation, word: str, contents: dict[str, bytes]) -> dict[str, tuple[int, str]]:
    """Return (mode, name) of a file, or of all files of a directory, and keep their contents."""
    found: dict[str, tuple[int, str]] = {}

    def keep(name: str, mode: int, data: bytes) -> None:
        oid = object_name("blob", data)
        contents[oid] = data
        found[name] = (mode, oid)

    if word == "-":
        keep("", 0o100644, git.read_input())
        return found
    if word == "/dev/null":
        return found
    path = git.path(word)
    try:
        info = git.fs.stat(path)
    except OSError:
        git.error(f"Could not access '{word}'")
        raise Fatal(f"Could not access '{word}'", 1) from None
    if not info.is_dir:
        git.budget.charge(info.size)
        keep("", mode_of(info), git.fs.read_bytes(path))
        return found
    for here, _, names in git.fs.walk(path):
        for name in names:
            git.budget.step()
            full = f"{here}/{name}"
            below = full[len(path.rstrip("/")) + 1 :]
            inner = git.fs.stat(full, follow=False)
            if inner.is_link:
                keep(below, 0o120000, encode(git.fs.readlink(full)))
            elif inner.is_file:
                git.budget.charge(inner.size)
                keep(below, mode_of(inner), git.fs.read_bytes(full))
    return found
