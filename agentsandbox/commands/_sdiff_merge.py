"""`sdiff -o`: merging two files by commands from standard input."""

from __future__ import annotations

import errno
import re

from agentsandbox.command import describe_os_error
from agentsandbox.commands._programs import find_problem, problem_status
from agentsandbox.errors import CommandError
from agentsandbox.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.command import CommandContext
    from agentsandbox.languages.diff.columns import Columns
    from agentsandbox.languages.diff.comparison import Change
    from agentsandbox.languages.diff.formats import Pair

__all__ = ["Merger", "whole_name"]

_TROUBLE = 2
_COMMAND = re.compile(rb"[ \t\v\f\r]*(?:([12lrsvq])|(e)[ \t\v\f\r]*([12bdlr]?))[ \t\v\f\r]*\n")
_HELP = (
    b"ed:\tEdit then use both versions, each decorated with a header.\n"
    b"eb:\tEdit then use both versions.\n"
    b"el or e1:\tEdit then use the left version.\n"
    b"er or e2:\tEdit then use the right version.\n"
    b"e:\tDiscard both versions then edit a new one.\n"
    b"l or 1:\tUse the left version.\n"
    b"r or 2:\tUse the right version.\n"
    b"s:\tSilently include common lines.\n"
    b"v:\tVerbosely include common lines.\n"
    b"q:\tQuit.\n"
)


class Merger:
    """Shows changes one by one and writes to a file what is chosen; `columns` write their lines to `shown`."""

    def __init__(
        self, ctx: CommandContext, names: tuple[str, str], output: str, columns: Columns, shown: list[bytes], *, silent: bool
    ) -> None:
        self.ctx = ctx
        self.names = names
        self.columns = columns
        self.shown = shown
        self.silent = silent
        self.quit = False
        try:
            self.output = ctx.keep(ctx.fs.open(ctx.path(output), "w"))
        except OSError as error:
            raise CommandError(describe_os_error(error, output), _TROUBLE) from None

    def show(self, pair: Pair, changes: list[Change]) -> None:
        """Go through two files, until the end or the command to quit."""
        old = new = 0
        for change in changes:
            if change.ignored:
                continue
            self._common(pair, old, change.old, new, change.new)
            old, new = change.old + change.deleted, change.new + change.inserted
            self.columns.print_change(pair, change)
            self._flush()
            if not self._decide(pair.old[change.old : old], pair.new[change.new : new], change):
                self.quit = True
                return
        self._common(pair, old, len(pair.old), new, len(pair.new))

    def _common(self, pair: Pair, old: int, old_end: int, new: int, new_end: int) -> None:
        if not self.silent:
            self.columns.print_common(pair, old, old_end, new, new_end)
            self._flush()
        self.output.write(b"".join(pair.old[old:old_end]))

    def _flush(self) -> None:
        self.ctx.stdout.write(b"".join(self.shown))
        self.shown.clear()

    def _decide(self, left: list[bytes], right: list[bytes], change: Change) -> bool:
        """Ask what becomes of a change, until something does; false to quit."""
        while True:
            self.ctx.budget.step()
            self.ctx.stdout.write(b"%")
            line = self.ctx.stdin.readline()
            found = _COMMAND.fullmatch(line)
            if found is None:
                if not line.endswith(b"\n") and not line.strip():
                    return False
                self.ctx.stderr.write(_HELP)
                continue
            letter = found[1]
            if letter == b"q":
                return False
            if letter in (b"s", b"v"):
                self.silent = letter == b"s"
                continue
            if letter is None:
                self._edit(found[3], left, right, change)
            else:
                self.output.write(b"".join(left if letter in b"1l" else right))
            return True

    def _edit(self, which: bytes, left: list[bytes], right: list[bytes], change: Change) -> None:
        """Have an editor change the lines that are chosen, then take them."""
        parts: list[bytes] = []
        sides = ((b"---", b"1ldb", left, change.old), (b"+++", b"2rdb", right, change.new))
        for name, (sign, letters, lines, start) in zip(self.names, sides, strict=True):
            if not which or which not in letters:
                continue
            if which == b"d" and lines:
                end = f",{start + len(lines)}" if len(lines) > 1 else ""
                parts.append(sign + encode(f" {name} {start + 1}{end}\n"))
            parts.extend(lines)
        path = self._temporary_path()
        self.ctx.fs.write_bytes(path, b"".join(parts), permissions=0o600)
        try:
            self._run_editor(path)
            data = self.ctx.fs.read_bytes(path)
        finally:
            if self.ctx.fs.exists(path):
                self.ctx.fs.unlink(path)
        self.ctx.budget.charge(len(data))
        self.output.write(data)

    def _temporary_path(self) -> str:
        directory = self.ctx.env.get("TMPDIR") or "/tmp"
        while True:
            letters = self.ctx.host.random.choices("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", k=6)
            path = self.ctx.path(f"{directory}/sdiff{''.join(letters)}")
            if not self.ctx.fs.exists(path, follow=False):
                return path

    def _run_editor(self, path: str) -> None:
        editor = self.ctx.env.get("EDITOR", "ed")
        problem = find_problem(self.ctx, editor)
        status = problem_status(problem)[1] if problem else self.ctx.run([editor, path])
        if status:
            reasons = {126: "could not be invoked", 127: "not found"}
            raise CommandError(f"subsidiary program '{editor}' {reasons.get(status, f'failed (exit status {status})')}", _TROUBLE)


def whole_name(ctx: CommandContext, name: str, other: str) -> str:
    """The file that an operand stands for: in a directory, that with the name of the other operand."""
    if name == "-":
        raise CommandError("cannot interactively merge standard input", _TROUBLE)
    path = ctx.path(name)
    if ctx.fs.is_dir(path):
        name = f"{name}{'' if name.endswith('/') else '/'}{other.rstrip('/').rpartition('/')[2]}"
        path = ctx.path(name)
    if not ctx.fs.exists(path):
        raise CommandError(describe_os_error(FileNotFoundError(errno.ENOENT, "No such file or directory"), name), _TROUBLE)
    return name
