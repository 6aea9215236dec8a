"""Filling in a skill's instructions before a model reads them: arguments, places, and, where
allowed, commands' output.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["render_body"]

_PLACE = re.compile(
    r"""
    \\(?P<escaped>\$)
    | \$ARGUMENTS\[(?P<index>\d{1,4})\]
    | \$\{(?P<braced>[A-Za-z_]\w*)\}
    | \{(?P<directory>baseDir)\}
    | \$(?P<number>\d{1,4})(?!\w)
    | \$(?P<name>[A-Za-z_]\w*)
    """,
    re.VERBOSE,
)
_BLOCK = re.compile(r"^```!\n(?P<block>.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"(?:(?<=\s)|^)!`(?P<command>[^`\n]+)`", re.MULTILINE)


def render_body(
    body: str,
    *,
    arguments: str = "",
    names: tuple[str, ...] = (),
    directory: str = "",
    session_id: str = "",
    run: Callable[[str], str] | None = None,
    variables: Mapping[str, str] | None = None,
) -> str:
    """The body with its places filled in.

    arguments   what stood after the skill's name: `$ARGUMENTS`, `$ARGUMENTS[N]`, `$N` from 0;
                appended if nothing asks for them
    names       of the arguments, for `$name`
    directory   for `${CLAUDE_SKILL_DIR}`, `${SKILL_DIR}`, `${SKILL_ROOT}` and `{baseDir}`
    session_id  for `${CLAUDE_SESSION_ID}`
    run         runs a command in the sandbox and returns its output, for !`command` and ```!
                blocks; without it they stay

    Commands are run before anything is filled in: what an argument says is never executed.
    """
    places = dict.fromkeys(("CLAUDE_SKILL_DIR", "SKILL_DIR", "SKILL_ROOT"), directory)
    values = {**places, "CLAUDE_SESSION_ID": session_id, **(variables or {})}
    outputs: list[str] = []
    if run is not None:
        body = _run_commands(body, run, outputs)
    filling = _Filling(arguments, names, directory, values)
    filled = _PLACE.sub(filling, body)
    if arguments and not filling.asked:
        filled = f"{filled}\n\nARGUMENTS: {arguments}"
    return (
        re.sub("\ue000(\\d+)\ue001", lambda match: outputs[int(match.group(1))], filled)
        if outputs
        else filled
    )


class _Filling:
    """What stands in each place."""

    def __init__(
        self, arguments: str, names: tuple[str, ...], directory: str, values: Mapping[str, str]
    ) -> None:
        self.arguments = arguments
        self.names = names
        self.directory = directory
        self.values = values
        self.asked = False
        """Whether any place was one for the arguments."""
        try:
            self.words = shlex.split(arguments)
        except ValueError:
            self.words = arguments.split()

    def __call__(self, match: re.Match[str]) -> str:
        if match["escaped"]:
            return "$"
        if match["directory"]:
            return self.directory
        if match["braced"]:
            return self.values.get(match["braced"], match.group())
        argument = self._argument(match)
        self.asked |= argument is not None
        return match.group() if argument is None else argument

    def _argument(self, match: re.Match[str]) -> str | None:
        """What stands for an argument; None where none is meant."""
        number = match["index"] or match["number"]
        if number is not None:
            return self.words[int(number)] if int(number) < len(self.words) else match.group()
        if match["name"] == "ARGUMENTS":
            return self.arguments
        if match["name"] not in self.names:
            return None
        at = self.names.index(match["name"])
        return self.words[at] if at < len(self.words) else ""


def _run_commands(body: str, run: Callable[[str], str], outputs: list[str]) -> str:
    """The body with a mark in place of every command; what they print goes to `outputs`, where
    nothing is filled in.
    """

    def mark(command: str) -> str:
        outputs.append(run(command).rstrip("\n"))
        return f"\ue000{len(outputs) - 1}\ue001"

    body = body.replace("\ue000", "").replace("\ue001", "")
    body = _BLOCK.sub(lambda match: mark(match["block"]), body)
    return _INLINE.sub(lambda match: mark(match["command"]), body)
