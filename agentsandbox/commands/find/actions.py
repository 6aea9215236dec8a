"""The actions of `find`: print, delete, run commands, and end the search or a part of it."""

from __future__ import annotations

import os

from agentsandbox.commands._files.names import quote
from agentsandbox.commands.find.formats import compile_format, long_lister
from agentsandbox.commands.find.search import Quit
from agentsandbox.commands.find.tests import EntryPrinter, EntryTest
from agentsandbox.commands.find.visits import Output
from agentsandbox.errors import CommandError
from agentsandbox.kernel.streams import Null, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.find.search import Search
    from agentsandbox.commands.find.visits import Test, Visit

_LONGEST = 131072
"""The largest size of the words of one command that `+` collects."""


def open_output(search: Search, name: str) -> Output:
    """Return the output of `-fprint NAME` and the like; the file is emptied at once."""
    if name == "/dev/stdout":
        return search.stdout
    output = search.outputs.get(name)
    if output is None:
        if name == "/dev/stderr":
            output = Output(search.ctx.stderr)
        else:
            permissions = 0o666 & ~search.ctx.umask
            try:
                file = search.ctx.fs.open(search.ctx.path(name), "w", permissions=permissions)
            except OSError as error:
                raise CommandError(f"{quote(name)}: {os.strerror(error.errno or 5)}") from None
            output = Output(file)
        search.outputs[name] = output
    return output


def print_name(output: Output, end: str) -> Test:
    """Make `-print` or `-print0`: the path and `end`."""
    return EntryPrinter(EntryTest(), output, end)


def print_formatted(search: Search, output: Output, format: str) -> Test:
    """Make `-printf`."""
    pieces, stops = compile_format(search, format)

    def test(visit: Visit) -> bool:
        output.write(
            "".join([piece if isinstance(piece, str) else piece(visit) for piece in pieces])
        )
        if stops:
            output.flush()
        return True

    return test


def ls(search: Search, output: Output) -> Test:
    """Make `-ls`."""
    show = long_lister(search)

    def test(visit: Visit) -> bool:
        output.write(show(visit))
        return True

    return test


def prune(visit: Visit) -> bool:
    """Do not enter this directory (`-prune`)."""
    visit.prune = True
    return True


def quit_search(_visit: Visit) -> bool:
    """End the search (`-quit`)."""
    raise Quit


def delete(search: Search) -> Test:
    """Make `-delete`."""

    def test(visit: Visit) -> bool:
        if visit.path == "." or visit.name in (".", ".."):
            return True
        try:
            if visit.info.is_dir:
                visit.fs.rmdir(visit.absolute)
            else:
                visit.fs.unlink(visit.absolute)
        except OSError as error:
            search.warn(f"cannot delete {quote(visit.path)}: {os.strerror(error.errno or 5)}")
            return False
        return True

    return test


def _local(visit: Visit) -> str:
    """Return the name of a file relative to its directory."""
    return visit.name if visit.name == "/" else f"./{visit.name}"


def _run(search: Search, words: list[str], cwd: str | None, *, quiet: bool = False) -> int | None:
    """Run a command and return its status, or None after a message if it does not exist."""
    search.flush()
    problem = search.problem_of(words[0], cwd)
    if problem:
        search.ctx.stderr.write(
            encode(f"{search.ctx.name}: {quote(words[0])}: {os.strerror(problem)}\n")
        )
        return None
    return search.ctx.run(words, cwd=cwd, stdin=Null() if quiet else None)


def _place(visit: Visit) -> str:
    """Return the directory of a file as `getcwd` names it: without links, "." and ".."."""
    try:
        return visit.fs.realpath(visit.directory.rstrip("/") or "/")
    except OSError:
        return visit.directory  # it is gone or closed: the command reports it


def execute(search: Search, words: list[str], *, in_directory: bool, ask: bool) -> Test:
    """Make `-exec … ;` and the like: true if the command succeeds. Each `{}` becomes the path."""

    def test(visit: Visit) -> bool:
        name = _local(visit) if in_directory else visit.path
        if ask:
            search.flush()
            search.ctx.stderr.write(encode(f"< {words[0]} ... {visit.path} > ? "))
            if search.ctx.stdin.readline()[:1] not in (b"y", b"Y"):
                return False
        cwd = _place(visit) if in_directory else None
        search.ctx.budget.charge(sum([len(word) + len(name) * word.count("{}") for word in words]))
        return _run(search, [word.replace("{}", name) for word in words], cwd, quiet=ask) == 0

    return test


def execute_many(search: Search, words: list[str], *, in_directory: bool) -> Test:
    """Make `-exec … {} +` or `-execdir … {} +`, which collect paths and are always true."""
    names: list[str] = []
    fixed = size = sum([len(word) + 1 for word in words])
    directory = ""

    def flush() -> None:
        nonlocal size
        if not names:
            return
        given = [*words, *names]
        names.clear()
        size = fixed
        if _run(search, given, directory or None) != 0:
            search.ctx.status = 1

    def test(visit: Visit) -> bool:
        nonlocal directory, size
        name = visit.path
        if in_directory:
            name = _local(visit)
            here = _place(visit)
            if directory != here:
                flush()
                directory = here
        if size + len(name) + 1 > _LONGEST:
            flush()
        size += len(name) + 1
        names.append(name)
        return True

    search.at_end.append(flush)
    return test
