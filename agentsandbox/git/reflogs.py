"""Reflogs as `log -g` and `reflog` walk them."""

from __future__ import annotations

from agentsandbox.git.dates import show_date
from agentsandbox.git.errors import Fatal
from agentsandbox.git.history import merge_bases
from agentsandbox.git.objects import NULL
from agentsandbox.git.pretty import Person
from agentsandbox.git.revisions import find_ref
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.git.invocation import Invocation
    from agentsandbox.git.logs import LogPrinter
    from agentsandbox.git.refs import LogEntry
    from agentsandbox.git.repository import Repository


def full_name(git: Invocation, name: str) -> str:
    """Return the full name of a reference with a log."""
    repository = git.repository
    if name in ("HEAD", "@"):
        return "HEAD"
    found = find_ref(repository, name)
    if found is not None:
        return found[0]
    for full in (name, f"refs/{name}", f"refs/heads/{name}"):
        if repository.fs.is_file(repository.refs.log_path(full)):
            return full
    raise Fatal(
        f"ambiguous argument '{name}': unknown revision or path not in the working tree.\n"
        "Use '--' to separate paths from revisions, like this:\n"
        "'git <command> [<revision>...] -- [<file>...]'"
    )


class ReflogWalk:
    """The entries of some reflogs, the newest first, and how each is shown."""

    def __init__(self, git: Invocation, names: list[str], *, dated: bool) -> None:
        self.git = git
        self.dated = dated
        self.entries: list[tuple[str, int, LogEntry]] = []
        for name in names or ["HEAD"]:
            start = 0
            base, at, place = name.rpartition("@{")
            if not (at and place.endswith("}") and place.count("}") == 1):
                base = name
            else:
                base, place = base or "HEAD", place[:-1]
                if place.isdigit():
                    start = int(place[:8])
                else:
                    self.dated = True
            log = git.repository.refs.read_log(full_name(git, base))
            shown = "HEAD" if base == "@" else base
            for number, entry in enumerate(reversed(log)):
                if number >= start and entry.new != NULL:
                    self.entries.append((shown, number, entry))

    def selector(self, at: int, printer: LogPrinter, *, explicit: bool) -> str:
        """Return "HEAD@{1}", with the date instead of the number if that was asked for."""
        name, number, entry = self.entries[at]
        if not (self.dated or explicit):
            return f"{name}@{{{number}}}"
        person = Person(entry.ident)
        text = show_date(
            person.seconds, person.zone, printer.pretty.style, self.git.now, self.git.tz
        )
        return f"{name}@{{{text}}}"


def walk_reflog(
    git: Invocation, names: list[str], printer: LogPrinter, *, most: int | None, skip: int,
    explicit_date: bool, accepts: Callable[[str], bool] | None = None,
) -> int:  # fmt: skip
    """Print the commits of reflogs."""
    walk = ReflogWalk(git, names, dated=False)
    shown = 0
    oneline = printer.format == "oneline"
    for at, (_, _, entry) in enumerate(walk.entries):
        objects = git.repository.objects
        if entry.new not in objects or objects.type_of(entry.new) != "commit":
            continue
        if accepts is not None and not accepts(entry.new):
            continue
        if skip > 0:
            skip -= 1
            continue
        if most is not None and shown >= most:
            break
        shown += 1
        selector = walk.selector(at, printer, explicit=explicit_date)
        message = decode(entry.message)
        person = Person(entry.ident)
        printer.pretty.log_entry = _fields(selector, message, person)
        printer.reflog = (selector, message)
        printer.extra_header = (
            []
            if oneline
            else [
                f"Reflog: {selector} ({person.name} <{person.mail}>)",
                f"Reflog message: {message}",
            ]
        )
        printer.show(entry.new)
    return 0


def _fields(selector: str, message: str, person: Person) -> Callable[[str, str], str]:
    return lambda oid, name: _field(name, selector, message, person)


def _field(name: str, selector: str, message: str, person: Person) -> str:
    """Return %gd, %gD, %gs, %gn or %ge."""
    if name in ("gd", "gD"):
        return selector
    if name == "gs":
        return message
    if name in ("gn", "gN"):
        return person.name
    return person.mail if name in ("ge", "gE") else ""


def fork_point(repository: Repository, name: str, commit: str) -> str | None:
    """Return where a branch forked off a reference, by its log; None if that is not clear."""
    ref = find_ref(repository, name)
    if ref is None:
        return None
    points = [ref[1]]
    for entry in reversed(repository.refs.read_log(ref[0])):
        points += [oid for oid in (entry.new, entry.old) if oid != NULL]
    points = [oid for oid in dict.fromkeys(points) if oid in repository.objects]
    bases = merge_bases(repository, commit, points)
    return bases[0] if len(bases) == 1 and bases[0] in points else None
