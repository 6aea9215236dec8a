"""Which atoms a format of references may have, and which arguments: git-for-each-ref(1).

A format is checked before any reference is read, so that a misspelt atom is an error in an empty
repository, too.
"""

from __future__ import annotations

import re

from agentsandbox.git.errors import Fatal
from agentsandbox.git.trailers import TrailerForm

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def check_atom(atom: str) -> None:
    """Raise Fatal, in git's words, for an atom that is unknown or has a wrong argument."""
    name, _, argument = atom.partition(":")
    check = _CHECKS.get(name.removeprefix("*"))
    if check is None:
        raise Fatal(f"unknown field name: {atom}")
    if argument or name == "align":
        check(atom, argument)


def _any(name: str, argument: str) -> None:
    """Arguments are not checked, or are checked where they are used."""


def _none(name: str, argument: str) -> None:
    shown = name.removeprefix("*").partition(":")[0]
    raise Fatal(f"%({shown}) does not take arguments")


def _refname(name: str, argument: str) -> None:
    kind, equals, count = argument.partition("=")
    if argument == "short":
        return
    if not equals or kind not in ("lstrip", "strip", "rstrip"):
        raise Fatal(f"unrecognized %({name}) argument: {argument}")
    if not re.fullmatch(r"[+-]?[0-9]{1,9}", count):
        shown = "rstrip" if kind == "rstrip" else "lstrip"
        raise Fatal(f"Integer value expected refname:{shown}={count}")


def _remote(name: str, argument: str) -> None:
    for part in argument.split(","):
        if part not in ("track", "trackshort", "nobracket", "remotename", "remoteref"):
            _refname(name, argument)


def _object(name: str, argument: str) -> None:
    if argument == "short":
        return
    if not argument.startswith("short="):
        raise Fatal(f"unrecognized %({name}) argument: {argument}")
    count = argument[6:]
    if not re.fullmatch(r"[0-9]{1,9}", count) or int(count) == 0:
        raise Fatal(f"positive value expected '{count}' in %({name})")


def _trailers(name: str, argument: str) -> None:
    del name
    form = TrailerForm(argument)
    if form.wrong is not None:
        if form.wrong == "":
            raise Fatal("expected %(trailers:key=<value>)")
        raise Fatal(f"unknown %(trailers) argument: {form.wrong}")


def _contents(name: str, argument: str) -> None:
    if argument.startswith("trailers:"):
        _trailers(name, argument[9:])
    elif argument.startswith("lines="):
        if not re.fullmatch(r"[0-9]{1,9}", argument[6:]):
            raise Fatal(f"positive value expected contents:lines={argument[6:]}")
    else:
        _one_of("body", "size", "signature", "subject", "trailers")("contents", argument)


def _align(name: str, argument: str) -> None:
    del name
    if not argument:
        raise Fatal("expected format: %(align:<width>,<position>)")
    width = ""
    for part in argument.split(","):
        key, equals, value = part.partition("=")
        if equals and key == "position":
            if value not in ("left", "right", "middle"):
                raise Fatal(f"unrecognized position:{value}")
        elif equals and key == "width":
            if not re.fullmatch(r"[0-9]{1,9}", value):
                raise Fatal(f"unrecognized width:{value}")
            width = value
        elif re.fullmatch(r"[0-9]{1,9}", part):
            width = part
        elif part not in ("left", "right", "middle"):
            raise Fatal(f"unrecognized %(align) argument: {part}")
    if not width:
        raise Fatal("positive width expected with the %(align) atom")


def _if(name: str, argument: str) -> None:
    del name
    if not argument.startswith(("equals=", "notequals=")):
        raise Fatal(f"unrecognized %(if) argument: {argument}")


def _raw(name: str, argument: str) -> None:
    del name
    _one_of("size")("raw", argument)


def _subject(name: str, argument: str) -> None:
    del name
    _one_of("sanitize")("subject", argument)


def _mail(name: str, argument: str) -> None:
    del name
    if argument not in ("trim", "localpart"):
        raise Fatal(f"unrecognized email option: {argument}")


def _one_of(*words: str) -> Callable[[str, str], None]:
    def check(name: str, argument: str) -> None:
        if argument not in words:
            raise Fatal(f"unrecognized %({name}) argument: {argument}")

    return check


_CHECKS: dict[str, Callable[[str, str], None]] = {
    "refname": _refname, "symref": _refname, "upstream": _remote, "push": _remote,
    "objectname": _object, "tree": _object, "parent": _object, "objectsize": _one_of("disk"),
    "objecttype": _none, "deltabase": _none, "body": _none, "HEAD": _any, "rest": _none,
    "subject": _subject, "trailers": _trailers, "contents": _contents,
    "raw": _raw, "align": _align, "if": _if,
}  # fmt: skip
_CHECKS |= dict.fromkeys(
    ("numparent", "object", "type", "tag", "flag", "color", "worktreepath", "then", "else", "end"),
    _any,
)
for _who in ("author", "committer", "tagger", "creator"):
    _CHECKS |= {_who: _any, f"{_who}date": _any}
    if _who != "creator":
        _CHECKS |= {f"{_who}name": _any, f"{_who}email": _mail}
