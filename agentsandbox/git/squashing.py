"""The messages of commits that a rebase melds into one (squash and fixup).

While a chain of them runs, `message-squash` has all messages, each below a comment with its number;
those that will not be kept are comments as a whole. `message-fixup` is there while only fixups were
seen: the message as it will be.
"""

from __future__ import annotations

import re

from agentsandbox.git.errors import GitError
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.rebase_state import RebaseState
    from agentsandbox.git.todo import Item

_FIRST = "This is the 1st commit message:"
_FIRST_SKIPPED = "The 1st commit message will be skipped:"


def commented(text: str) -> str:
    """Return lines as comments."""
    lines = text.split("\n")
    last = lines.pop()
    made = [f"#{line}" if line[:1] in ("", "\t") else f"# {line}" for line in lines]
    if last:
        made.append(f"#{last}" if last.startswith("\t") else f"# {last}")
    return "".join([f"{line}\n" for line in made])


def _commented_once(text: str) -> str:
    """Return lines as comments; comments at the beginning stay as they are."""
    kept = ""
    while text.startswith("#"):
        line, end, text = text.partition("\n")
        kept += line + end
    return kept + commented(text)


def _nth(number: int) -> str:
    return f"This is the commit message #{number}:"


def _nth_skipped(number: int) -> str:
    return f"The commit message #{number} will be skipped:"


def body_from_subject(message: bytes) -> str:
    """Return a message without blank lines at its beginning."""
    return decode(re.sub(rb"\A(?:[ \t]*+\n)++", b"", message))


def _subject_length(body: str) -> int:
    """Return the length of the first paragraph."""
    at = 0
    while at < len(body):
        end = body.find("\n", at)
        end = len(body) if end < 0 else end
        if not body[at:end].strip():
            break
        at = min(end + 1, len(body))
    return at


class Squash:
    """The messages of a chain of fixups."""

    def __init__(self, state: RebaseState) -> None:
        self.state = state
        self.objects = state.repository.objects

    def has_squash(self) -> bool:
        """Whether the chain has a squash, and the message will be edited."""
        return any(line.startswith("squash ") for line in self.state.fixups)

    def add(self, item: Item, signoff: str = "") -> None:
        """Add the message of a commit."""
        state = self.state
        count = len(state.fixups)
        replaces = item.command == "fixup" and bool(item.flag)
        if count:
            text = state.read("message-squash")
            if not text:
                raise GitError("could not read '.git/rebase-merge/message-squash'")
            if text.startswith("#"):
                text = text[text.find("\n") :] if "\n" in text else ""
            text = f"# This is a combination of {count + 2} commits." + text
            if replaces and not self.has_squash():
                text = _skip_earlier(text)
        else:
            text = self._begin(item, replaces)
        assert item.oid is not None
        body = body_from_subject(self.state.repository.readable(item.oid).message)
        if item.command == "squash" or replaces:
            text = self._append(text, body, item, replaces, signoff)
        else:
            text += f"\n# {_nth_skipped(count + 2)}\n\n{commented(body)}"
        state.write("message-squash", text)
        state.fixups.append(f"{item.command} {item.oid}")
        state.save_fixups()

    def _begin(self, item: Item, replaces: bool) -> str:
        head = self.state.repository.head()
        if head is None:
            raise GitError("need a HEAD to fixup")
        body = body_from_subject(self.state.repository.readable(head).message)
        if item.command == "fixup" and not item.flag:
            self.state.write("message-fixup", body)
        title = _FIRST_SKIPPED if replaces else _FIRST
        return (
            f"# This is a combination of 2 commits.\n# {title}\n\n"
            + (commented(body) if replaces else body)
        )  # fmt: skip

    def _append(self, text: str, body: str, item: Item, replaces: bool, signoff: str) -> str:
        from agentsandbox.git.trailers import with_trailer

        state = self.state
        hidden = 0
        squashes = item.command == "squash" or self.has_squash()
        if body.startswith("amend!") or (squashes and body.startswith(("squash!", "fixup!"))):
            hidden = _subject_length(body)
        number = len(state.fixups) + 2
        text += f"\n# {_nth(number)}\n\n" + commented(body[:hidden])
        start = len(text)
        text += body[hidden:]
        if replaces and not self.has_squash():
            if signoff:
                text = decode(with_trailer(encode(text), encode(signoff)))
            if item.flag == "-C" and (
                state.exists("message-fixup") or not state.exists("message-squash")
            ):
                state.write("message-fixup", body_from_subject(encode(text[start:])))
                return text
        state.remove("message-fixup")
        return text


def _skip_earlier(text: str) -> str:
    """Return the messages with all earlier ones as comments."""
    pieces = re.split(
        r"^(# (?:This is the 1st commit message|The 1st commit message will be skipped"
        r"|This is the commit message #[0-9]++|The commit message #[0-9]++ will be skipped):\n)",
        text,
        flags=re.MULTILINE,
    )
    made = [pieces[0]]
    for number, (title, body) in enumerate(zip(pieces[1::2], pieces[2::2], strict=True), 1):
        made.append(f"# {_FIRST_SKIPPED if number == 1 else _nth_skipped(number)}\n")
        if title.endswith("will be skipped:\n"):
            made.append(body)
            continue
        blank = body.startswith("\n")
        end = len(pieces) // 2 != number and body.endswith("\n\n")
        inner = body[1 if blank else 0 : len(body) - 1 if end else len(body)]
        made.append(("\n" if blank else "") + _commented_once(inner) + ("\n" if end else ""))
    return "".join(made)
