"""The text of a program in files: `-f`, AWKPATH, `-i` and `@include`."""

from __future__ import annotations

import os
import re

from agentsandbox.commands.awk.tokens import Source
from agentsandbox.errors import CommandError
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.streams import ByteReader

MAX_SOURCE = 1 << 20
_AWKPATH = ".:/usr/local/share/awk"
_INCLUDE = lazily(r'^[ \t]*+@include[ \t]++"([^"\n]*+)"[ \t]*+(?:#[^\n]*+)?$', re.MULTILINE)
_NAMESPACE = lazily(r'^[ \t]*+@namespace[ \t]*+"[^"\n]*+"', re.MULTILINE)
_MOST_INCLUDES = 50


def with_includes(
    ctx: CommandContext, sources: list[tuple[bool, str]], read: list[Source]
) -> list[Source]:
    """Return the pieces of a program with the files that they include, each once.

    sources  pairs of (whether it is a file's name, text or name)
    read     the text of each of them
    """
    done = {_found(ctx, text) for is_file, text in sources if is_file}
    return [piece for source in read for piece in _with_includes(ctx, source, done)]


def _with_includes(
    ctx: CommandContext, source: Source, done: set[str], depth: int = 0
) -> list[Source]:
    """Return a piece of a program with the files that it includes, each once, in their places."""
    if "@include" not in source.text:
        return [source]
    if depth > _MOST_INCLUDES:
        raise CommandError("fatal: @include: nested too deeply", 2)
    found: list[Source] = []
    start = 0
    namespace = ""
    for include in _INCLUDE.finditer(source.text):
        ctx.budget.step()
        lines = source.text.count("\n", 0, start)
        before = source.text[start : include.start()]
        if before.strip():
            found.append(Source(source.name, _below(namespace, lines) + before))
        for change in _NAMESPACE.finditer(before):
            ctx.budget.step()
            namespace = change[0].strip()
        start = include.end()
        path = _found(ctx, include[1])
        if path in done:
            continue
        done.add(path)
        found += _with_includes(ctx, read_source(ctx, include[1]), done, depth + 1)
    lines = source.text.count("\n", 0, start)
    return [*found, Source(source.name, _below(namespace, lines) + source.text[start:])]


def _below(namespace: str, lines: int) -> str:
    """Return empty lines, in a namespace that began above them."""
    return f"{namespace}\n" + "\n" * (lines - 1) if namespace and lines else "\n" * lines


def read_source(ctx: CommandContext, name: str) -> Source:
    """Return the text of a program file."""
    name = _found(ctx, name)
    try:
        is_stdin = name in ("-", "/dev/stdin")
        source = ctx.stdin if is_stdin else ctx.fs.open(ctx.path(name), "r")
        data = _read_start(ctx, source)
    except OSError as error:
        reason = os.strerror(error.errno or 2)
        if isinstance(error, IsADirectoryError):
            message = f"{name}:1: error: cannot read source file `{name}': {reason}"
            raise CommandError(message, 1) from None
        message = f"fatal: cannot open source file `{name}' for reading: {reason}"
        raise CommandError(message, 2) from None
    if len(data) > MAX_SOURCE:
        raise CommandError(f"fatal: source file `{name}' is too large", 2)
    return Source(name, decode(data))


def _found(ctx: CommandContext, name: str) -> str:
    """Return where AWKPATH has a program file, or the name itself."""
    if "/" in name or name in ("", "-"):
        return name
    for directory in ctx.env.get("AWKPATH", _AWKPATH).split(":"):
        for candidate in (name, f"{name}.awk"):
            path = f"{directory or '.'}/{candidate}"
            if ctx.fs.is_file(ctx.path(path)):
                return candidate if directory in ("", ".") else path
    return name


def _read_start(ctx: CommandContext, source: ByteReader) -> bytes:
    """Return all of a program file, or more than a program may have."""
    parts = []
    size = 0
    for block in source.blocks():
        ctx.budget.step()
        parts.append(block)
        size += len(block)
        if size > MAX_SOURCE:
            break
    ctx.budget.charge(size)
    return b"".join(parts)
