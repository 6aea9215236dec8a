"""What the command line of `patch` asks for."""

from __future__ import annotations

import re

from agentsandbox.command import Arguments
from agentsandbox.commands._patch_backups import Originals
from agentsandbox.commands._quoting import STYLES
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["PatchOptions"]

_FUZZ = 2
_TROUBLE = 2


class PatchOptions:
    """What the command line asks for."""

    def __init__(self, args: Arguments, env: Mapping[str, str]) -> None:
        self.originals = Originals(args, env)
        self.quoting = _quoting_style(args, env)
        self.posix = args.flag("posix") or "POSIXLY_CORRECT" in env
        self.read_only = args.value("read-only", "warn")
        if self.read_only not in ("ignore", "warn", "fail"):
            raise CommandError("Try 'patch --help' for more information.", _TROUBLE)
        _number_of_get(args, env)
        self.strip = _number(args, "strip", -1, "strip count")
        self.merge = _merge_style(args)
        self.fuzz = _number(args, "fuzz", 0 if self.merge else _FUZZ, "fuzz factor")
        self.reverse = args.flag("reverse")
        self.forward = args.flag("forward")
        self.force = args.flag("force")
        self.batch = args.flag("batch")
        self.silent = args.flag("quiet")
        self.verbose = args.flag("verbose")
        self.dry_run = args.flag("dry-run")
        self.backup = args.flag("backup")
        choice = args.last("backup-if-mismatch", "no-backup-if-mismatch")
        self.backup_if_mismatch = choice == "backup-if-mismatch" or (choice is None and "POSIXLY_CORRECT" not in env)
        self.output = args.value("output")
        self.reject = args.value("reject-file")
        self.reject_format = args.value("reject-format")
        self.remove_empty = args.flag("remove-empty-files")
        self.ignore_blanks = args.flag("ignore-whitespace")
        self.symbol = encode(args.value("ifdef") or "") if args.flag("ifdef") else None
        self.sets_time = args.flag("set-utc") or args.flag("set-time")
        self.utc = args.flag("set-utc")
        self.kind = args.last("context", "ed", "normal", "unified")


def _merge_style(args: Arguments) -> str:
    """ "merge", "diff3", or "" for no merging."""
    if not args.flag("merge"):
        return ""
    style = args.value("merge") or "merge"
    if style not in ("merge", "diff3"):
        raise CommandError("Try 'patch --help' for more information.", _TROUBLE)
    return style


_STYLES = frozenset({*STYLES, "c-maybe"})


def _quoting_style(args: Arguments, env: Mapping[str, str]) -> str:
    style = args.value("quoting-style")
    if style is not None and style not in _STYLES:
        raise UsageError(f"invalid argument '{style}' for 'quoting style'", _TROUBLE)
    return style or (env["QUOTING_STYLE"] if env.get("QUOTING_STYLE") in _STYLES else "shell")


_GET = re.compile(r"[+-]?[0-9]+")


def _number_of_get(args: Arguments, env: Mapping[str, str]) -> None:
    """Check what -g says: there is no revision control to get files from, so nothing is got."""
    for what, text in (("get option", args.value("get")), ("PATCH_GET", env.get("PATCH_GET"))):
        if text is not None and _GET.fullmatch(text) is None:
            raise CommandError(f"**** {what} value {text} is not a number", _TROUBLE)


def _number(args: Arguments, key: str, default: int, what: str) -> int:
    text = args.value(key)
    if text is None:
        return default
    if not (text.isascii() and text.isdecimal()):
        raise CommandError(f"**** {what} {text} is not a number", _TROUBLE)
    return int(text[:9])
