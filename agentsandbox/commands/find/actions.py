"""The actions of `find`: those that print, remove, and run commands."""

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
"""Characters of the words of one command that `+` collects."""


def open_output(search: Search, name: str) -> Output:
    """Where `-fprint NAME` and its like write to; the file is emptied at once."""
    if name == "/dev/stdout":
        return search.stdout
    output = search.outputs.get(name)
    if output is None:
        if name == "/dev/stderr":
            output = Output(search.ctx.stderr)
        else:
            try:
                output = Output(
                    search.ctx.fs.open(
                        search.ctx.path(name), "w", permissions=0o666 & ~search.ctx.umask
                    )
                )
            except OSError as error:
                raise CommandError(f"{quote(name)}: {os.strerror(error.errno or 5)}") from None
        search.outputs[name] = output
    return output


def print_name(output: Output, end: str) -> Test:
    """`-print`, `-print0`: the name and `end`."""
    return EntryPrinter(EntryTest(), output, end)


def print_formatted(search: Search, output: Output, format: str) -> Test:
    """`-printf`."""
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
    """`-ls`."""
    show = long_lister(search)

    def test(visit: Visit) -> bool:
        output.write(show(visit))
        return True

    return test


def prune(visit: Visit) -> bool:
    """`-prune`: do not enter this directory."""
    visit.prune = True
    return True


def quit_search(_visit: Visit) -> bool:
    """`-quit`."""
    raise Quit


def delete(search: Search) -> Test:
    """`-delete`."""

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
    """The name as seen from the directory that the file is in."""
    return visit.name if visit.name == "/" else f"./{visit.name}"


def _run(search: Search, words: list[str], cwd: str | None, *, quiet: bool = False) -> int | None:
    """Run a command; None if there is no such program, which is said."""
    search.flush()
    problem = search.problem_of(words[0], cwd)
    if problem:
        search.ctx.stderr.write(
            encode(f"{search.ctx.name}: {quote(words[0])}: {os.strerror(problem)}\n")
        )
        return None
    return search.ctx.run(words, cwd=cwd, stdin=Null() if quiet else None)


def execute(search: Search, words: list[str], *, in_directory: bool, ask: bool) -> Test:
    """`-exec … ;` and its like: true when the command succeeds. `{}` stands for the name, anywhere
    in a word.
    """

    def test(visit: Visit) -> bool:
        name = _local(visit) if in_directory else visit.path
        if ask:
            search.flush()
            search.ctx.stderr.write(encode(f"< {words[0]} ... {visit.path} > ? "))
            if search.ctx.stdin.readline()[:1] not in (b"y", b"Y"):
                return False
        cwd = (visit.directory.rstrip("/") or "/") if in_directory else None
        search.ctx.budget.charge(sum([len(word) + len(name) * word.count("{}") for word in words]))
        return _run(search, [word.replace("{}", name) for word in words], cwd, quiet=ask) == 0

    return test


def execute_many(search: Search, words: list[str], *, in_directory: bool) -> Test:
    """`-exec … {} +` and `-execdir … {} +`: names are collected; always true."""
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
            here = visit.directory.rstrip("/") or "/"
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
