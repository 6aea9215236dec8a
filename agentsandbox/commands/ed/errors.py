"""How a command of `ed` ends other than well."""

from __future__ import annotations


class EdError(Exception):
    """An error; its text is what `h` prints."""


class ModifiedError(EdError):
    """The buffer was changed: the same command right after it is obeyed."""

    def __init__(self) -> None:
        super().__init__("Warning: buffer modified")


class Quit(BaseException):
    """`q`."""
