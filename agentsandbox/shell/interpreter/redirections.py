"""Redirections: what a command's descriptors refer to while it runs.

A table maps descriptors to streams (`Shell.fds`). A table is never changed, only replaced, so a
subshell shares its parent's at no cost, and undoing the redirections of a command is assigning the
old table.

Each redirection compiles to a closure `apply(shell, table, opened)`, which changes a *copy* of the
table and appends to `opened` each stream that it opened or duplicated. They are applied from left
to right, so `2>&1 >file` and `>file 2>&1` differ as they must. If one fails, the streams opened so
far are released, and the message goes where the redirections before it have sent standard error.

Streams count their references. Who opens or duplicates one must release it: the command at its end
(`release_all`), or the shell, if the redirection outlives the command. That is so for `exec`
(`Descriptors.keep`) and for {name}>file, whose streams become `Descriptors.owned`; `restored`
leaves them in the table.

Here-documents and here-strings are expanded when they are applied; a large one is held on the
budget for as long as a descriptor refers to it.
"""

from __future__ import annotations

import errno
import os

from agentsandbox.errors import Unwind
from agentsandbox.kernel.accounts import LARGE
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.streams import BytesReader, Null, Pipe, Stream, encode_pieces
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.interpreter.failures import (
    RedirectionError,
    command_failed,
    expansion_failed,
)
from agentsandbox.shell.interpreter.words import WORDS
from agentsandbox.shell.syntax.nodes import (
    CommandSubstitution,
    HereDocument,
    Redirection,
    Unreadable,
    Word,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agentsandbox.kernel.accounts import Scale
    from agentsandbox.kernel.fs.base import FileSystem, Mode
    from agentsandbox.shell.interpreter.shell import Run, Shell

    Table = dict[int, Stream]
    Apply = Callable[[Shell, Table, list[Stream]], None]

_MODES: dict[str, tuple[Mode, int]] = {
    "<": ("r", 0), ">": ("w", 1), ">|": ("w", 1), ">>": ("a", 1),
    "<>": ("r+", 0), "&>": ("w", 1), "&>>": ("a", 1), ">&": ("w", 1),
}  # fmt: skip


class Directory(Stream):
    """A directory opened for reading: opening it succeeds, reading from it fails."""

    __slots__ = ()

    unreadable = errno.EISDIR


class _TargetError(RedirectionError):
    """A fault of the word behind the operator. With {variable}> it names the variable."""

    def __init__(self, target: str, problem: str) -> None:
        self.problem = problem
        super().__init__(f"{target}: {problem}")


def release_all(streams: list[Stream]) -> None:
    """Give back what redirections opened, last first."""
    for stream in reversed(streams):
        stream.release()


def open_file(shell: Shell, name: str, operator: str) -> Stream:
    """Open a file for a redirection; /dev/fd/N and standard streams are our descriptors."""
    if name.startswith(("/dev/", "/proc/self/fd/")):
        special = _open_device(shell, name, operator)
        if special is not None:
            return special
    mode, _ = _MODES[operator]
    path = shell.path(name)
    fs = shell.fs
    if operator == "<>":
        if not fs.exists(path):
            fs.open(path, "a", permissions=0o666 & ~shell.process.umask).release()
    elif (
        mode == "w"
        and shell.options.noclobber
        and operator != ">|"
        and (fs.is_file(path) or _dangles(fs, path))
    ):
        raise _TargetError(name, "cannot overwrite existing file")
    try:
        return fs.open(path, mode, permissions=0o666 & ~shell.process.umask)
    except IsADirectoryError:
        if operator != "<":
            raise
        return Directory()


def _dangles(fs: FileSystem, path: str) -> bool:
    """Whether a symbolic link leads to nothing."""
    return not fs.exists(path) and fs.exists(path, follow=False)


def _open_device(shell: Shell, name: str, operator: str) -> Stream | None:
    rest = name[5:] if name.startswith("/dev/") else name[11:]
    if rest == "null":
        return Null()
    if rest in ("stdin", "stdout", "stderr"):
        number = ("stdin", "stdout", "stderr").index(rest)
    elif rest.startswith("fd/") and rest[3:].isdigit() and rest.isascii() and len(rest) < 12:
        number = int(rest[3:])
    elif rest.startswith(("tcp/", "udp/")):
        raise RedirectionError(f"{name}: network redirections are not available in the sandbox")
    else:
        return None
    stream = shell.fds.get(number)
    if stream is None:
        raise OSError(2, os.strerror(2), name)
    return stream.reopened(_MODES[operator][0])


def compile_redirections(
    nodes: tuple[Redirection, ...],
) -> Callable[[Shell], tuple[Table, list[Stream]]]:
    """Compile redirections to a closure that returns the new table and streams to release."""
    steps = [_compile(node) for node in nodes]

    def apply(shell: Shell) -> tuple[Table, list[Stream]]:
        table = shell.fds.copy()
        opened: list[Stream] = []
        budget = shell.budget
        saved = shell.fds
        try:
            for step in steps:
                budget.step(8)
                step(shell, table, opened)
        except (ExpansionError, Unwind):
            release_all(opened)
            raise
        except RedirectionError as error:
            _tell(shell, error.message, table)
            release_all(opened)
            raise
        except OSError as error:
            shown = f"{error.filename}: " if error.filename else ""
            message = f"{shown}{os.strerror(error.errno or 5)}"
            _tell(shell, message, table)
            release_all(opened)
            raise RedirectionError(message) from None
        finally:
            shell.fds = saved
        return table, opened

    return apply


def _tell(shell: Shell, message: str, table: Table) -> None:
    """Report a failed redirection on the standard error of the table so far."""
    saved, shell.fds = shell.fds, table
    shell.complain(message)
    shell.fds = saved


def restored(shell: Shell, table: Table, saved: Table) -> Table:
    """Return the descriptors after a command: those before it, and what `exec` opened in it."""
    if shell.descriptors.owned:
        owned = shell.descriptors.owned.items()
        saved = saved | {
            number: stream
            for number, stream in owned
            if number not in saved and table.get(number) is stream
        }
    if shell.fds is table:
        return saved
    merged = dict(shell.fds)
    for number in table.keys() | saved.keys():
        if table.get(number) is not saved.get(number):
            if number in saved:
                merged[number] = saved[number]
            else:
                merged.pop(number, None)
    return merged


def _compile(node: Redirection) -> Apply:
    operator = node.operator
    if isinstance(node.target, HereDocument):
        return _here_document(node, node.target)
    if operator == "<<<":
        return _here_string(node)
    if operator in ("&>", "&>>"):
        return _both(node)
    apply = _duplicate(node) if operator in (">&", "<&") else _file(node)
    return apply if node.variable is None else _named(node.variable, apply)


def _named(variable: str, apply: Apply) -> Apply:
    def named(shell: Shell, table: Table, opened: list[Stream]) -> None:
        try:
            apply(shell, table, opened)
        except _TargetError as error:
            raise RedirectionError(f"{variable}: {error.problem}") from None

    return named


_PLAIN = lazily(r"[A-Za-z0-9_/.,:%^=@+-]+")


def _target(node: Redirection) -> Callable[[Shell], str]:
    """The one word that a file name must expand to."""
    assert not isinstance(node.target, HereDocument)
    source = node.target.source
    if _PLAIN.fullmatch(source):
        return lambda shell: source
    fields, text = WORDS.fields(node.target), WORDS.string(node.target)

    def name(shell: Shell) -> str:
        if shell.options.posix:
            return text(shell)
        found: list[str] = []
        fields(shell, found)
        if len(found) != 1:
            raise _TargetError(source, "ambiguous redirect")
        return found[0]

    return name


def _place(node: Redirection, default: int) -> Callable[[Shell, Table, Stream], None]:
    """Compile where a redirection puts its stream: [n], {variable} or the default."""
    if node.variable is not None:
        variable = node.variable

        def place_free(shell: Shell, table: Table, stream: Stream) -> None:
            number = 10
            while number in table or number in shell.fds:
                number += 1
            _hold(shell, variable, str(number))
            table[number] = stream
            # such a descriptor outlives the command: the shell itself owns it
            if not shell.options.shopt["varredir_close"]:
                stream.acquire()
                shell.descriptors.owned = {**shell.descriptors.owned, number: stream}

        return place_free
    number = default if node.descriptor is None else node.descriptor

    def place(shell: Shell, table: Table, stream: Stream) -> None:
        table[number] = stream

    return place


def _hold(shell: Shell, variable: str, number: str) -> None:
    """Assign the number of the descriptor to the variable of {name}> or {name[subscript]}>."""
    name, bracket, subscript = variable.partition("[")
    try:
        if bracket:
            shell.variables.assign_element(name, shell.key(name, subscript[:-1]), number)
        else:
            shell.variables.assign(name, number)
    except ExpansionError as error:
        shell.report(error)
        raise RedirectionError(f"{variable}: cannot assign fd to variable") from None


def _held(shell: Shell, variable: str) -> str | None:
    name, bracket, subscript = variable.partition("[")
    return (
        shell.variables.element(name, shell.key(name, subscript[:-1]))
        if bracket
        else shell.variables.get(name)
    )


def _opened(shell: Shell, name: str, operator: str, opened: list[Stream]) -> Stream:
    """Open a file, to be released later; errors name it as the script did."""
    try:
        stream = open_file(shell, name, operator)
    except OSError as error:
        raise RedirectionError(f"{name}: {os.strerror(error.errno or 5)}") from None
    opened.append(stream)
    return stream


def _file(node: Redirection) -> Apply:
    operator = node.operator
    name = _target(node)
    place = _place(node, _MODES[operator][1])

    def apply(shell: Shell, table: Table, opened: list[Stream]) -> None:
        stream = _opened(shell, name(shell), operator, opened)
        place(shell, table, stream)

    return apply


def _both(node: Redirection) -> Apply:
    operator = node.operator
    name = _target(node)

    def apply(shell: Shell, table: Table, opened: list[Stream]) -> None:
        stream = _opened(shell, name(shell), operator, opened)
        table[1] = table[2] = stream

    return apply


def _duplicate(node: Redirection) -> Apply:
    """Compile n>&m, n>&-, n>&m-, and >&file for both streams."""
    operator = node.operator
    word = node.target
    assert not isinstance(word, HereDocument)
    name = _target(node)
    default = 1 if operator == ">&" else 0
    place = _place(node, default)
    number = default if node.descriptor is None else node.descriptor
    source = word.source

    def apply(shell: Shell, table: Table, opened: list[Stream]) -> None:
        text = name(shell)
        if text == "-":
            target = number
            if node.variable is not None:
                held = _held(shell, node.variable)
                if not held or not held.isdigit() or not held.isascii() or len(held) > 9:
                    raise RedirectionError(f"{node.variable}: ambiguous redirect")
                target = int(held)
            table.pop(target, None)
            return
        moves = text.endswith("-") and text[:-1].isdigit() and text.isascii()
        digits = text[:-1] if moves else text
        if digits.isdigit() and digits.isascii():
            stream = table.get(int(digits)) if len(digits) < 10 else None
            if stream is None and digits == str(number) and node.variable is None:
                return
            if stream is None:
                shown = (
                    digits if source.removesuffix("-").isdigit() and source.isascii() else source
                )
                if node.variable is not None:
                    problem = "redirection error: cannot duplicate fd: Bad file descriptor"
                    shell.write(f"{shell.error_name}: {problem}\n", 2)
                raise RedirectionError(f"{shown}: Bad file descriptor")
            stream.acquire()
            opened.append(stream)
            place(shell, table, stream)
            if moves and int(digits) != number:
                table.pop(int(digits), None)
            return
        if operator == ">&" and node.descriptor in (None, 1) and node.variable is None:
            stream = _opened(shell, text, ">&", opened)
            table[1] = table[2] = stream
            return
        raise _TargetError(source, "ambiguous redirect")

    return apply


class _LargeDocument(BytesReader):
    """A here-document that is held on the budget for as long as a descriptor refers to it."""

    __slots__ = ("_held",)

    def __init__(self, shell: Shell, data: bytes) -> None:
        super().__init__(data)
        self._held = shell.budget.hold(len(data))

    def weigh(self, scale: Scale) -> None:
        """Add nothing to the scale: the document is held already."""


def _document(shell: Shell, data: bytes) -> BytesReader:
    return BytesReader(data) if len(data) <= LARGE else _LargeDocument(shell, data)


def _here_document(node: Redirection, document: HereDocument) -> Apply:
    text = WORDS.string(document.body)
    place = _place(node, 0)
    is_unreadable = any(
        isinstance(part, CommandSubstitution)
        and isinstance(part.body, Unreadable)
        and not part.source.startswith("$((")
        for part in document.body.parts
    )

    def apply(shell: Shell, table: Table, opened: list[Stream]) -> None:
        stream = _document(shell, encode_pieces(shell.budget.pieces(text(shell))))
        if is_unreadable:  # the error has been reported
            raise ExpansionError("", fatal=False)
        opened.append(stream)
        place(shell, table, stream)

    return apply


def _here_string(node: Redirection) -> Apply:
    assert not isinstance(node.target, HereDocument)
    text = WORDS.string(node.target)
    place = _place(node, 0)

    def apply(shell: Shell, table: Table, opened: list[Stream]) -> None:
        stream = _document(shell, encode_pieces(shell.budget.pieces(text(shell) + "\n")))
        opened.append(stream)
        place(shell, table, stream)

    return apply


def redirected(nodes: tuple[Redirection, ...], run: Run, *, in_child: bool = False) -> Run:
    """Compile a compound command with its redirections around it. `in_child` is for a subshell,
    which ends where one of them fails: that is a failure of its parent's command only.
    """
    if not nodes:
        return run
    apply = compile_redirections(nodes)
    line = nodes[0].line
    gives_input = any(map(_is_input, nodes))

    def run_redirected(shell: Shell) -> int:
        before, shell.line = shell.line, line
        shell.control.input_given = gives_input  # as in bash, until the next such command
        processes = len(shell.descriptors.process_files)
        try:
            table, opened = apply(shell)
        except RedirectionError:
            shell.status = 1
            if shell.check and not in_child:
                command_failed(shell, 1, before)  # the ERR trap is where the last command was
            return 1
        except ExpansionError as error:
            shell.status = expansion_failed(shell, error)
            return shell.status
        saved, shell.fds = shell.fds, table
        try:
            return run(shell)
        except ExpansionError as error:  # it goes where standard error goes here
            shell.report(error)
            error.message = ""
            raise
        finally:
            shell.fds = restored(shell, table, saved)
            release_all(opened)
            if len(shell.descriptors.process_files) > processes:
                finish_process_substitutions(shell, processes)

    return run_redirected


def _is_input(node: Redirection) -> bool:
    """Whether bash takes a redirection for one of standard input."""
    if node.variable is not None or node.operator[0] != "<":
        return False
    return node.operator != "<&" or not node.descriptor


def take_back(
    shell: Shell,
    table: dict[int, Stream] | None,
    saved: dict[int, Stream],
    opened: list[Stream],
    mark: int,
) -> None:
    """Take the redirections of a command back, and end the process substitutions in it.

    mark  the number of process substitutions before it
    """
    if shell.descriptors.keep:  # `exec` made its redirections permanent
        shell.descriptors.keep = False
    elif table is not None:
        shell.fds = restored(shell, table, saved)
    if opened:
        release_all(opened)
    if len(shell.descriptors.process_files) > mark:
        finish_process_substitutions(shell, mark)


def finish_process_substitutions(shell: Shell, mark: int) -> None:
    """Close our ends of the pipes of an ended command, and wait for those it wrote to."""
    opened = shell.descriptors.process_files
    shell.descriptors.process_files, finished = opened[:mark], opened[mark:]
    numbers = {number for number, _, _ in finished}
    shell.fds = {number: stream for number, stream in shell.fds.items() if number not in numbers}
    for _, stream, process in finished:
        stream.release()
        if isinstance(stream, Pipe) and stream.references <= 0:
            shell.machine.scheduler.wait(process)


def finishing(run: Run, words: Iterable[Word]) -> Run:
    """Compile a command so that it closes the process substitutions of its words."""
    for word in words:
        if "<(" in word.source or ">(" in word.source:
            break
    else:
        return run

    def run_finishing(shell: Shell) -> int:
        mark = len(shell.descriptors.process_files)
        try:
            return run(shell)
        finally:
            if len(shell.descriptors.process_files) > mark:
                finish_process_substitutions(shell, mark)

    return run_finishing
