"""Notes: texts beside objects, in a tree whose names are those of the objects (git-notes(1))."""

from __future__ import annotations

from agentsandbox.git.objects import format_commit, is_object_name
from agentsandbox.git.trees import flat_tree
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.objects import Entry
    from agentsandbox.git.repository import Repository

DEFAULT = "refs/notes/commits"
_FLAT = 256
"""Up to so many notes are in one tree; more are in trees by the first two digits."""


def full_ref(name: str) -> str:
    """Return the full name of a notes reference."""
    if name.startswith("refs/notes/"):
        return name
    return f"refs/{name}" if name.startswith("notes/") else f"refs/notes/{name}"


def default_ref(repository: Repository) -> str:
    """Return the reference that is used without --ref."""
    env = repository.git.env.get("GIT_NOTES_REF")
    return env or repository.config.get("core.notesref") or DEFAULT


def read_notes(repository: Repository, ref: str) -> dict[str, str]:
    """Return the blob of each object with a note."""
    tip = repository.refs.read(ref)
    if tip is None:
        return {}
    tree = repository.objects.peel(tip, "tree")
    found = {}
    for path, (_, oid) in flat_tree(repository.objects, tree).items():
        name = decode(path.replace(b"/", b""))
        if is_object_name(name):
            found[name] = oid
    return found


def write_notes(repository: Repository, ref: str, notes: dict[str, str], message: str) -> None:
    """Replace the notes of a reference by a commit."""
    objects = repository.objects
    entries: list[Entry] = [(encode(name), 0o100644, oid) for name, oid in notes.items()]
    if len(entries) > _FLAT:
        groups: dict[bytes, list[Entry]] = {}
        for name, mode, oid in entries:
            groups.setdefault(name[:2], []).append((name[2:], mode, oid))
        entries = [(name, 0o40000, objects.write_tree(group)) for name, group in groups.items()]
    tip = repository.refs.read(ref)
    commit = objects.write(
        "commit",
        format_commit(
            objects.write_tree(entries),
            [tip] if tip is not None else [],
            repository.ident("author"),
            repository.ident("committer"),
            encode(f"{message}\n"),
        ),
    )
    repository.refs.write(ref, commit, f"notes: {message}", old=tip or "0" * 40)


class NoteTexts:
    """The notes that `log` shows."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.ref = default_ref(repository)
        self._notes: dict[str, str] | None = None

    def of(self, oid: str) -> bytes | None:
        """Return the note of an object, None without one."""
        if self._notes is None:
            self._notes = read_notes(self.repository, self.ref)
        blob = self._notes.get(oid)
        return None if blob is None else self.repository.objects.blob(blob)

    def shown(self, oid: str) -> str:
        """Return what `log` prints of a note, "" without one."""
        data = self.of(oid)
        if data is None:
            return ""
        title = "" if self.ref == DEFAULT else f" ({self.ref.removeprefix('refs/notes/')})"
        lines = decode(data).removesuffix("\n").split("\n")
        return f"\nNotes{title}:\n" + "".join([f"    {line}\n" for line in lines])
