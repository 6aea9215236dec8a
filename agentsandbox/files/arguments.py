"""Arguments of `sandbox.files`: a wrong type or value is an error that names the argument."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    StrPath: TypeAlias = str | os.PathLike[str]

_LONGEST_PATTERN = 4096


def path_text(path: StrPath, argument: str) -> str:
    """Return a path, of the host or of the sandbox, as a text."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"{argument} must be a str or os.PathLike, not {type(path).__name__}")
    text = os.fspath(path)
    if not isinstance(text, str):
        raise TypeError(f"{argument} must be a path of str, not of {type(text).__name__}")
    if not text:
        raise ValueError(f"{argument} must not be empty; the working directory is '.'")
    if "\0" in text:
        raise ValueError(f"{argument} must not hold a NUL: {text[:200]!r}")
    return text


def pattern_text(pattern: str, argument: str) -> str:
    """Return a pattern that is neither empty nor too long."""
    if not isinstance(pattern, str):
        raise TypeError(f"{argument} must be a str, not {type(pattern).__name__}")
    if not pattern:
        raise ValueError(f"{argument} must not be empty")
    if "\0" in pattern:
        raise ValueError(f"{argument} must not hold a NUL: {pattern[:100]!r}")
    if len(pattern) > _LONGEST_PATTERN:
        raise ValueError(f"{argument} must not be longer than {_LONGEST_PATTERN} characters")
    return pattern


def pattern_texts(patterns: str | Sequence[str], argument: str) -> list[str]:
    """Return one pattern or several as a list."""
    if isinstance(patterns, str):
        return [pattern_text(patterns, argument)]
    if not isinstance(patterns, (list, tuple, set, frozenset)):
        kind = type(patterns).__name__
        raise TypeError(
            f"{argument} must be a pattern, a list of patterns or a function, not {kind}"
        )
    return [pattern_text(each, argument) for each in patterns]


def text_bytes(text: str, argument: str) -> bytes:
    """Return a text as UTF-8; what `errors="surrogateescape"` made of other bytes is undone."""
    if not isinstance(text, str):
        raise TypeError(f"{argument} must be a str, not {type(text).__name__}")
    return bytes(text, "utf-8", "surrogateescape")


def content_bytes(content: str | bytes) -> bytes:
    """Return what is to be written as bytes."""
    if isinstance(content, str):
        return text_bytes(content, "content")
    if isinstance(content, (bytes, bytearray, memoryview)):
        return bytes(content)
    raise TypeError(f"content must be a str or bytes, not {type(content).__name__}")


def check_mode(mode: int) -> None:
    """Raise for anything but permission bits."""
    if isinstance(mode, bool) or not isinstance(mode, int):
        raise TypeError(f"mode must be an int such as 0o644, not {type(mode).__name__}")
    if not 0 <= mode <= 0o7777:
        raise ValueError(f"mode must be between 0 and 0o7777, not {mode:#o}")


def check_count(count: int, argument: str, least: int) -> None:
    """Raise for anything but an int of at least `least`."""
    if isinstance(count, bool) or not isinstance(count, int):
        raise TypeError(f"{argument} must be an int, not {type(count).__name__}")
    if count < least:
        raise ValueError(f"{argument} must be at least {least}, not {count}")


def check_codec(encoding: str, errors: str) -> None:
    """Raise for an encoding or an error handler that Python does not know."""
    import codecs

    for name, value, look_up in (
        ("encoding", encoding, codecs.lookup),
        ("errors", errors, codecs.lookup_error),
    ):
        if not isinstance(value, str):
            raise TypeError(f"{name} must be a str, not {type(value).__name__}")
        try:
            found = look_up(value)
        except LookupError:
            found = None
        if found is None or not getattr(found, "_is_text_encoding", True):
            raise ValueError(f"{name} is not known: {value[:100]!r}")


def skips_unsafe(unsafe: str) -> bool:
    """Whether `unsafe` asks to leave out what cannot be exported safely."""
    if unsafe not in ("refuse", "skip"):
        raise ValueError(f"unsafe must be 'refuse' or 'skip', not {unsafe!r}")
    return unsafe == "skip"
