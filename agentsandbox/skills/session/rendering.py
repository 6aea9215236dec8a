"""Placeholders in a skill's instructions: arguments, directories, and the output of commands.

Commands are run only where the host allows it, and before anything else is filled in, so that no
argument is ever executed. Their output is kept aside until the end, so that nothing in it is taken
for a placeholder. A backslash before a placeholder keeps it as it is written; before any other `$`
it belongs to the text, which is often a shell's or a regular expression. `$1` is a placeholder only
where there are arguments: `awk "{print \\$1}"` stays as it is in a skill that takes none.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_PLACE = re.compile(
    r"""
    (?P<escape>\\)?
    (?: \$ARGUMENTS\[(?P<index>\d{1,4})\]
    | \$\{(?P<braced>[A-Za-z_]\w*)\}
    | \{(?P<directory>baseDir)\}
    | \$(?P<number>\d{1,4})(?!\w)
    | \$(?P<name>[A-Za-z_]\w*) )
    """,
    re.VERBOSE,
)
_ARGUMENTS = re.compile(r"(?<!\\)\$ARGUMENTS(?!\w)")
_BLOCK = re.compile(
    r"^```!\n(?P<block>(?:(?!```!\n|```[ \t]*$)[^\n]*+\n)*+)```[ \t]*+$", re.MULTILINE
)
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
    """Return the body with its placeholders filled in.

    arguments   the text after the skill's name, for `$ARGUMENTS`, and its words, for
                `$ARGUMENTS[N]` and `$N`, N from 0; appended if the body has none of these
    names       of the arguments, for `$name`
    directory   for `${CLAUDE_SKILL_DIR}`, `${SKILL_DIR}`, `${SKILL_ROOT}` and `{baseDir}`
    session_id  for `${CLAUDE_SESSION_ID}`
    run         runs a command and returns its output, for !`command` and ```! blocks; without it
                they are left as they are
    variables   name → value, for `${name}`
    """
    places = dict.fromkeys(("CLAUDE_SKILL_DIR", "SKILL_DIR", "SKILL_ROOT"), directory)
    values = {**places, "CLAUDE_SESSION_ID": session_id, **(variables or {})}
    outputs: list[str] = []
    if run is not None:
        body = _run_commands(body, run, outputs)
    filling = _Filling(arguments, names, directory, values)
    filling.takes_arguments |= _ARGUMENTS.search(body) is not None
    filled = _PLACE.sub(filling, body)
    if arguments and not filling.asked:
        filled = f"{filled}\n\nARGUMENTS: {arguments}"
    if not outputs:
        return filled
    return re.sub("\ue000(\\d+)\ue001", lambda match: outputs[int(match.group(1))], filled)


def split_words(text: str) -> list[str]:
    """Split a text into words as a shell does; at blanks if its quotes are not closed."""
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


class _Filling:
    """Returns the text for each placeholder."""

    def __init__(
        self, arguments: str, names: tuple[str, ...], directory: str, values: Mapping[str, str]
    ) -> None:
        self.arguments = arguments
        self.names = names
        self.directory = directory
        self.values = values
        self.asked = False
        """Whether any placeholder was one for the arguments."""
        self.takes_arguments = bool(arguments or names)
        self.words = split_words(arguments)

    def __call__(self, match: re.Match[str]) -> str:
        if match["escape"] and not match["directory"]:
            return match[0][1:] if self._is_place(match) else match[0]
        if match["directory"]:
            return f"{match['escape'] or ''}{self.directory}"
        if match["braced"]:
            return self.values.get(match["braced"], match.group())
        argument = self._argument(match)
        self.asked |= argument is not None
        return match.group() if argument is None else argument

    def _is_place(self, match: re.Match[str]) -> bool:
        """Whether something could be filled in here: only there a backslash is an escape."""
        if match["braced"]:
            return match["braced"] in self.values
        if match["number"]:
            return self.takes_arguments
        return match["index"] is not None or match["name"] in ("ARGUMENTS", *self.names)

    def _argument(self, match: re.Match[str]) -> str | None:
        """Return the text for an argument; None if the placeholder is not one for an argument."""
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
    """Replace every command in the body by a mark and append its output to `outputs`."""

    def mark(command: str) -> str:
        outputs.append(run(command).rstrip("\n"))
        return f"\ue000{len(outputs) - 1}\ue001"

    body = body.replace("\ue000", "").replace("\ue001", "")
    body = _BLOCK.sub(lambda match: mark(match["block"]), body)
    return _INLINE.sub(lambda match: mark(match["command"]), body)
