"""The options that uuencode and uudecode keep in files: `~/.sharrc`, those of `-r`, and what `-R` writes."""

from __future__ import annotations

import errno
import os
import posixpath
import re

from agentsandbox.commands._times import LocalTime, nanoseconds
from agentsandbox.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentsandbox.command import CommandContext
    from agentsandbox.usage import Arguments

__all__ = ["PresetError", "load_presets", "save_presets"]

_FILE = ".sharrc"
_MOST = 1 << 16
_OPTIONS = {
    "uuencode": {"base64": False, "encode-file-name": False},
    "uudecode": {"output-file": True, "ignore-chmod": False},
}
"""The options that files may set, by command, and whether they take a value."""
_SHORT = {"m": "base64", "e": "encode-file-name", "o": "output-file", "c": "ignore-chmod"}
_LINE = re.compile(r"[ \t]*([A-Za-z][A-Za-z0-9_-]*)(?:[ \t]*[ \t=:][ \t]*(.*?))?[ \t\r]*")
_SECTION = re.compile(r"<\?program[ \t]+([A-Za-z]+)[ \t]*>")


class PresetError(Exception):
    """A file of options cannot be read; the message."""


def load_presets(ctx: CommandContext, args: Arguments) -> None:
    """Put what the files say before what was given."""
    presets: list[tuple[str, str | None]] = []
    home = _home(ctx)
    if home is not None and not args.flag("no-load-opts"):
        presets += _read(ctx, home)
    for name in args.values("load-opts"):
        path = ctx.path(name)
        if not ctx.fs.is_file(path):
            number = errno.EINVAL if ctx.fs.exists(path) else errno.ENOENT
            raise PresetError(f"{ctx.name} error {number} ({os.strerror(number)}) calling stat for '{name}'\n")
        presets += _read(ctx, path)
    args.given[:0] = presets


def _home(ctx: CommandContext) -> str | None:
    home = ctx.env.get("HOME")
    return None if not home else f"{ctx.path(home)}/{_FILE}"


def _read(ctx: CommandContext, path: str) -> list[tuple[str, str | None]]:
    """The options that a file sets for this command; none if there is no such file."""
    try:
        text = decode(ctx.fs.read_bytes(path)) if ctx.fs.stat(path).size <= _MOST else ""
    except OSError:
        return []
    parts = _SECTION.split(text)
    chosen = parts[0] + "".join([part for name, part in zip(parts[1::2], parts[2::2], strict=True) if name == ctx.name])
    known = _OPTIONS[ctx.name]
    found: list[tuple[str, str | None]] = []
    for line in chosen.split("\n"):
        ctx.budget.step()
        match = None if line.lstrip().startswith("#") else _LINE.fullmatch(line)
        if match is None:
            continue
        name = _full_name(match[1], known)
        if name is not None and known[name] == bool(match[2]):
            found.append((name, _unquoted(match[2]) if match[2] else None))
    return found


def _full_name(name: str, known: Iterable[str]) -> str | None:
    name = name.lower().replace("_", "-")
    if name in _SHORT and _SHORT[name] in known:
        return _SHORT[name]
    fitting = [each for each in known if each.startswith(name)]
    return fitting[0] if len(fitting) == 1 else None


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def save_presets(ctx: CommandContext, args: Arguments, title: str) -> None:
    """Write the options to the file of `-R`."""
    name = args.value("save-opts") or ""
    path = ctx.path(name) if name else _home(ctx)
    if path is None:
        ctx.stderr.write(b"'HOME' not defined\n")
        return
    if ctx.fs.is_dir(path):
        path = f"{path}/{_FILE}"
    if not ctx.fs.is_dir(posixpath.dirname(path)):
        reason = os.strerror(errno.ENOENT)
        text = f"{ctx.name} warning:  cannot save options -  not regular file\nerror 2 ({reason}) stat-ing {name}\n"
        ctx.stderr.write(encode(text))
        return
    when = LocalTime(ctx).show("%a %b %e %H:%M:%S %Y", nanoseconds(ctx.host.clock()))
    lines = [f"#  {title}", "#  preset/initialization file", f"#  {when}", "#"]
    for option, takes in _OPTIONS[ctx.name].items():
        if args.flag(option):
            lines.append(f"{option} =".ljust(20) + (args.value(option) or "") if takes else option)
    file = ctx.fs.open(path, "w", permissions=0o666 & ~ctx.umask)
    try:
        file.write(encode("\n".join(lines) + "\n"))
    finally:
        file.release()
