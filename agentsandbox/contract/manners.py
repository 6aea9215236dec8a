"""Manners: what a command declares about itself where tools differ.

A command gives its manners in its own file; the defaults are what most tools do:

    @command("cut", usage="…", manners=Manners(COREUTILS, pure=True, bytewise=True))

The code that runs a command, the option parser and the shell read these values. None of them knows
a command by its name, so a command is added, changed or removed in one file.

Most fields say what a tool writes when standard input or output is unusable: closed, a directory to
read from, a full disk to write to. A tool writes through a buffer, so it finds out late: when the
buffer is full, or when the tool ends. Until then it goes on, and its other messages come first; an
`unbuffered` tool finds out at its first write. The texts are whole lines: NAME stands for the name
that the command was called by, REASON for the system's words ("Bad file descriptor").
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    Complaint: TypeAlias = tuple[str, int]
    """A line of standard error, without the newline, and the exit status that goes with it."""

SILENT = ("", 0)
"""The complaint of a tool that does not look whether its output arrives."""


class _Frozen:
    """A value whose attributes are set once."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> None:
        if hasattr(self, name):
            raise AttributeError(f"{type(self).__name__} is immutable")
        object.__setattr__(self, name, value)


class Release(_Frozen):
    """The release of the real tool that a command follows: what `--version` says.

    text    the first line; NAME stands for the command's name
    option  the spellings of the option, as a line of the usage text has them
    """

    __slots__ = ("option", "text")

    def __init__(self, text: str, option: str = "--version") -> None:
        self.text = text
        self.option = option

    def lines(self, name: str) -> str:
        """Return what the option prints."""
        first = self.text.replace("NAME", name)
        return f"{first}\nA command of agentsandbox, written to behave like this release.\n"

    def declare_in(self, usage: str) -> str:
        """Return the usage text with a line for the option, unless it has one."""
        if any(f"--version{end}" in usage for end in " \n,"):
            return usage
        option = "--version" if self.option.startswith("-V") and "-V," in usage else self.option
        indent = "  " if option[1] != "-" else "      "
        help_at = usage.rfind("--help")
        end, column = len(usage), 0
        if help_at >= 0:
            start = usage.rfind("\n", 0, help_at) + 1
            end = usage.find("\n", start) + 1
            line = usage[start:end]
            column = line.find("  ", line.find("--help")) + 2
            while line[column : column + 1] == " ":
                column += 1
        declared = (
            f"{indent}{option}  ".ljust(column) + "show the release that this command follows\n"
        )
        return f"{usage[:end]}{declared}{usage[end:]}"


class Manners(_Frozen):
    """How a command behaves; immutable.

    release              the release it follows; None for a command without `--version`
    pure                 it leaves no trace in the shell, which may then run it without a copy of
                         itself
    bytewise             in the locale C its words are bytes: a message shows each byte of "é"
    long_options         the tool's long options in the order of its own table, in which it lists
                         what an ambiguous abbreviation may mean; "" for a tool without such an
                         order. With one, POSIXLY_CORRECT ends the options at the first operand
    fatal_options        None: the first wrong option ends it. Otherwise all wrong options are
                         reported together, but a wrong value of one of these ends it at once

    macos                by the letter of an option that macOS's tool has and this one has not: what
                         to write instead, said after the error

    unbuffered           it writes without a buffer, or leaves its output to commands that it runs
    checks_output        it looks itself whether it adds to a file that it reads; the output of
                         others is held back then
    read_error           standard input cannot be read
    closed_read_error    the same for a closed one, where it differs
    unreadable_is_empty  (closed, directory): None if such an input is an error. Otherwise it counts
                         as empty, and this line follows at the end ("" for none)
    closing_error        the line that follows at the end if standard input was closed and read from
    write_error          nothing of what it wrote arrives; SILENT if it does not look
    closed_write_error   the same for a closed standard output, where it differs
    full_write_error     the same for a full disk, where it differs
    """

    __slots__ = (
        "bytewise", "checks_output", "closed_read_error", "closed_write_error", "closing_error",
        "fatal_options", "full_write_error", "long_options", "macos", "pure", "read_error",
        "release", "unbuffered", "unreadable_is_empty", "write_error",
    )  # fmt: skip

    def __init__(
        self,
        release: Release | None = None,
        *,
        pure: bool = False,
        bytewise: bool = False,
        long_options: str = "",
        fatal_options: tuple[str, ...] | None = None,
        macos: Mapping[str, str] | None = None,
        unbuffered: bool = False,
        checks_output: bool = False,
        read_error: Complaint = ("NAME: -: REASON", 1),
        closed_read_error: Complaint | None = None,
        unreadable_is_empty: tuple[str | None, str | None] = (None, None),
        closing_error: str = "",
        write_error: Complaint = ("NAME: write error: REASON", 1),
        closed_write_error: Complaint | None = None,
        full_write_error: Complaint | None = None,
    ) -> None:
        self.release = release
        self.pure = pure
        self.bytewise = bytewise
        self.long_options = long_options
        self.fatal_options = fatal_options
        self.macos = macos
        self.unbuffered = unbuffered
        self.checks_output = checks_output
        self.read_error = read_error
        self.closed_read_error = closed_read_error
        self.unreadable_is_empty = unreadable_is_empty
        self.closing_error = closing_error
        self.write_error = write_error
        self.closed_write_error = closed_write_error
        self.full_write_error = full_write_error


DEFAULT_MANNERS = Manners()
