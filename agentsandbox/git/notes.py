"""Notes: texts beside objects, in a tree whose names are those of the objects (git-notes(1))."""

from __future__ import annotations

from agentsandbox.git.objects import format_commit, is_object_name
from agentsandbox.git.patterns import wildmatch
from agentsandbox.git.trees import flat_tree
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

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


class NoteOptions:
    """Which notes a command line asks for."""

    def __init__(self) -> None:
        self.shows: bool | None = None
        """Whether notes are shown; None: with the default format."""
        self.default: bool | None = None
        """Whether the default reference and the configured ones count; None: without others."""
        self.refs: list[str] = []

    def show(self, ref: str | None) -> None:
        """Take `--notes` or `--notes=REF`."""
        self.shows = True
        if ref is None:
            self.default = True
        else:
            self.refs.append(full_ref(ref))

    def hide(self) -> None:
        """Take `--no-notes`, which forgets what came before."""
        self.shows, self.default = False, None
        self.refs.clear()


class NoteTexts:
    """The notes that `log` shows."""

    def __init__(self, repository: Repository, options: NoteOptions | None = None) -> None:
        self.repository = repository
        options = options or NoteOptions()
        self.refs: list[str] = []
        if options.default or (options.default is None and not options.refs):
            self.refs.append(default_ref(repository))
            env = repository.git.env.get("GIT_NOTES_DISPLAY_REF")
            configured = (
                env.split(":") if env is not None else repository.config.get_all("notes.displayref")
            )
            for pattern in configured:
                self._add(pattern)
        for ref in options.refs:
            self._add(ref)
        self._notes: dict[str, dict[str, str]] = {}

    def _add(self, pattern: str) -> None:
        """Add a reference, or those that a pattern matches."""
        refs = self.repository.refs
        if any(each in pattern for each in "*?["):
            names = [
                name for name in refs.all()
                if wildmatch(encode(pattern), encode(name), pathname=False)
            ]  # fmt: skip
        else:
            names = [pattern] if pattern else []
            if pattern and refs.read(pattern) is None:
                self.repository.git.warn(f"notes ref {pattern} is invalid")
        self.refs += [name for name in names if name not in self.refs]

    def each(self, oid: str) -> Iterator[tuple[str, bytes]]:
        """Yield (reference, note) of an object."""
        for ref in self.refs:
            if ref not in self._notes:
                self._notes[ref] = read_notes(self.repository, ref)
            blob = self._notes[ref].get(oid)
            if blob is not None:
                yield ref, self.repository.objects.blob(blob)

    def of(self, oid: str) -> bytes:
        """Return the notes of an object, one after the other."""
        return b"".join([data for _, data in self.each(oid)])

    def shown(self, oid: str) -> str:
        """Return what `log` prints of the notes, "" without any."""
        text = ""
        for ref, data in self.each(oid):
            name = ref.removeprefix("refs/").removeprefix("notes/")
            title = "" if ref == DEFAULT else f" ({name})"
            lines = decode(data).removesuffix("\n").split("\n")
            text += f"\nNotes{title}:\n" + "".join([f"    {line}\n" for line in lines])
        return text
