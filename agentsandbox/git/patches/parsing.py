"""Reading patches: unified diffs with or without git's headers, binary ones included.

Text between patches is skipped. A header `diff --git` says itself what is new, deleted, renamed;
for other diffs it is guessed from names (/dev/null), dates (the epoch) and hunks. Names lose their
first components (`-p`), and may get a folder in front (`--directory`).
"""

from __future__ import annotations

import re

from agentsandbox.git.errors import GitError
from agentsandbox.git.patches.whitespace import Rules, describe
from agentsandbox.git.paths import unquote_path
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.git.surroundings import Surroundings

_HUNK = re.compile(rb"@@ -([0-9]{1,9})(?:,([0-9]{1,9}))? \+([0-9]{1,9})(?:,([0-9]{1,9}))? @@")
_STAMP = re.compile(
    rb"[\t ](?:[0-9]{2})?[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]++)?"
    rb"(?: [-+][0-9]{4}| [-+][0-9]{2}:[0-9]{2})?\Z"
)
_EPOCH = re.compile(
    rb"\t(1969-12-31|1970-01-01) ([0-2][0-9]):([0-5][0-9]):00(?:\.0++)? "
    rb"([-+])([0-2][0-9]):?([0-5][0-9])\n?\Z"
)
_NAME_END = re.compile(rb"[\n\r\v\f\t]")
_LINE_END = re.compile(rb"[\n\r\v\f]")
_QUOTED = re.compile(rb'"(?:[^"\\]|\\.)*+"')


class Hunk:
    """One hunk of a patch."""

    __slots__ = (
        "leading", "line", "lines", "new", "new_count", "old", "old_count", "rejected", "trailing",
    )  # fmt: skip

    def __init__(self, line: int, old: int, old_count: int, new: int, new_count: int) -> None:
        self.line = line
        """The number of its first line in the patch."""
        self.old, self.old_count = old, old_count
        self.new, self.new_count = new, new_count
        self.lines: list[bytes] = []
        """All its lines, the first one with "@@" included."""
        self.leading = self.trailing = 0
        self.rejected = False


class Patch:
    """The changes of one file."""

    # long: one attribute for each fact
    def __init__(self) -> None:
        self.old_name: bytes | None = None
        self.new_name: bytes | None = None
        self.old_mode = self.new_mode = 0
        self.is_new: bool | None = None
        """None if it is not known."""
        self.is_delete: bool | None = None
        self.is_rename = self.is_copy = False
        self.is_binary = False
        self.from_top = False
        """Whether names are those from the top of the worktree."""
        self.old_oid = self.new_oid = ""
        """Names of blobs, maybe abbreviated."""
        self.score = 0
        self.hunks: list[Hunk] = []
        self.parts: list[tuple[str, bytes]] = []
        """The binary contents: ("literal" or "delta", data), forwards and backwards."""
        self.added = self.deleted = 0
        self.rules = Rules()
        self.has_crlf = False
        """Whether lines of the old file end in CR LF."""
        # what is found out when it is applied
        self.rejected = False
        self.result = b""
        self.merges = False
        """Whether it is merged at once, because the file exists."""
        self.stages: list[str] | None = None
        """The versions (base, ours, theirs) of a merge with conflicts."""

    @property
    def name(self) -> bytes:
        found = self.new_name if self.new_name is not None else self.old_name
        return found or b""

    @property
    def changes_metadata(self) -> bool:
        return bool(
            self.is_rename or self.is_copy or self.is_new or self.is_delete is not False
            or (self.old_mode and self.new_mode and self.old_mode != self.new_mode)
        )  # fmt: skip

    def reverse(self) -> None:
        """Swap the sides."""
        self.old_name, self.new_name = self.new_name, self.old_name
        if self.new_mode:
            self.old_mode, self.new_mode = self.new_mode, self.old_mode
        self.is_new, self.is_delete = self.is_delete, self.is_new
        self.added, self.deleted = self.deleted, self.added
        self.old_oid, self.new_oid = self.new_oid, self.old_oid
        for hunk in self.hunks:
            hunk.old, hunk.new = hunk.new, hunk.old
            hunk.old_count, hunk.new_count = hunk.new_count, hunk.old_count


class HowToRead:
    """What decides how patches are read."""

    def __init__(self) -> None:
        self.strip = 1
        """The components that names lose."""
        self.strip_is_known = False
        self.root = b""
        """What is put in front of names."""
        self.prefix = b""
        """The working directory, for names that do not begin at the top."""
        self.reverse = False
        self.recounts = False
        self.needs_changes = True
        """Whether a patch without any change is an error."""
        self.whitespace = "nowarn"
        """"nowarn", "warn", "error" or "fix"."""
        self.rules_for: Callable[[bytes], Rules] = lambda path: Rules()
        self.uses: Callable[[Patch], bool] = lambda patch: True


class PatchReader:
    """Reads the patches of one text."""

    def __init__(self, git: Surroundings, data: bytes, name: str, how: HowToRead,
                 report: Callable[[str, int, bytes], None]) -> None:  # fmt: skip
        self.git = git
        self.name = name
        self.how = how
        self.report = report
        """Is called with (error, number of the line, its text)."""
        self.lines = data.split(b"\n")
        self.lines = [line + b"\n" for line in self.lines[:-1]] + (
            [self.lines[-1]] if self.lines[-1] else []
        )
        self.at = 0
        self.header = 0
        """The number that git gives for all lines of a header."""

    @property
    def number(self) -> int:
        return self.at + 1

    def patches(self) -> list[Patch]:
        """Return all patches; GitError with status 128 for one that is not well-formed."""
        found = []
        while self.at < len(self.lines):
            patch = self._next()
            if patch is None:
                break
            found.append(patch)
        return found

    def _error(self, text: str) -> GitError:
        return GitError(text, 128)

    def _line(self, at: int) -> bytes:
        return self.lines[at] if at < len(self.lines) else b""

    # headers

    def _next(self) -> Patch | None:
        while True:
            if self.at >= len(self.lines):
                return None
            self.git.budget.step()
            patch = Patch()
            if self._header(patch):
                break
        if not patch.from_top:
            if patch.old_name is not None:
                patch.old_name = self.how.prefix + patch.old_name
            if patch.new_name is not None:
                patch.new_name = self.how.prefix + patch.new_name
        patch.rules = self.how.rules_for(patch.name) if self.how.uses(patch) else Rules(frozenset())
        self._hunks(patch)
        if not patch.hunks:
            self._binary(patch)
            if self.how.needs_changes and not patch.is_binary and not patch.changes_metadata:
                raise self._error(f"patch with only garbage at line {self.number}")
        return patch

    def _header(self, patch: Patch) -> bool:
        """Read a header, if one begins here; else go on to the next line."""
        line, following = self._line(self.at), self._line(self.at + 1)
        if line.startswith(b"@@ -") and _HUNK.match(line):
            text = decode(line.rstrip(b"\n"))
            raise self._error(f"patch fragment without header at line {self.number}: {text}")
        if line.startswith(b"diff --git ") and following:
            start = self.at
            self.at += 1
            self.header = self.number
            self._git_header(patch, line)
            return self.at > start + 1
        third = self._line(self.at + 2)
        if (
            line.startswith(b"--- ") and following.startswith(b"+++ ") and third.startswith(b"@@ -")
        ):
            self._plain_header(patch, line[4:], following[4:])
            self.at += 2
            return True
        self.at += 1
        return False

    def _git_header(self, patch: Patch, first: bytes) -> None:
        # long: git's checks around the lines
        patch.is_new = patch.is_delete = False
        default = self._header_name(first[11:])
        if default is not None:
            default = self.how.root + default
        seen = 0
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line.endswith(b"\n") or not self._header_line(patch, line, default):
                break
            extensions = sum(
                (bool(patch.is_delete), bool(patch.is_new), patch.is_rename, patch.is_copy)
            )
            if extensions > 1:
                raise self._error(f"inconsistent header lines {seen} and {self.number}")
            if extensions and not seen:
                seen = self.number
            self.at += 1
        strip = self.how.strip
        if patch.old_name is None and patch.new_name is None:
            if default is None:
                plural = "" if strip == 1 else "s"
                raise self._error(
                    "git diff header lacks filename information when removing "
                    f"{strip} leading pathname component{plural} (line {self.number})"
                )
            patch.old_name = patch.new_name = default
        if (patch.new_name is None and not patch.is_delete) or (
            patch.old_name is None and not patch.is_new
        ):
            raise self._error(f"git diff header lacks filename information (line {self.number})")
        patch.from_top = True

    def _header_line(self, patch: Patch, line: bytes, default: bytes | None) -> bool:
        """Take a line of a header; return whether it is one."""
        # long: one kind of line after the other
        strip = self.how.strip
        if line.startswith(b"--- "):
            patch.old_name = self._checked_name(line[4:], bool(patch.is_new), patch.old_name, "old")
        elif line.startswith(b"+++ "):
            patch.new_name = self._checked_name(
                line[4:], bool(patch.is_delete), patch.new_name, "new"
            )
        elif line.startswith(b"old mode "):
            patch.old_mode = self._mode(line[9:])
        elif line.startswith(b"new mode "):
            patch.new_mode = self._mode(line[9:])
        elif line.startswith(b"deleted file mode "):
            patch.is_delete = True
            patch.old_name = default
            patch.old_mode = self._mode(line[18:])
        elif line.startswith(b"new file mode "):
            patch.is_new = True
            patch.new_name = default
            patch.new_mode = self._mode(line[14:])
        elif line.startswith((b"copy from ", b"rename from ", b"rename old ")):
            patch.is_copy, patch.is_rename = _kind(patch, line)
            rest = line.split(b" ", 2)[2]
            patch.old_name = self._name(rest, None, max(strip - 1, 0), tab=False)
        elif line.startswith((b"copy to ", b"rename to ", b"rename new ")):
            patch.is_copy, patch.is_rename = _kind(patch, line)
            rest = line.split(b" ", 2)[2]
            patch.new_name = self._name(rest, None, max(strip - 1, 0), tab=False)
        elif line.startswith((b"similarity index ", b"dissimilarity index ")):
            found = re.match(rb"[0-9]{1,3}", line.split(b"index ")[1])
            if found is not None and int(found[0]) <= 100:
                patch.score = int(found[0])
        elif line.startswith(b"index "):
            found = re.match(rb"([0-9a-f]{0,40})\.\.([0-9a-f]{0,40})( [^\n]*)?\n", line[6:])
            if found is not None:
                patch.old_oid, patch.new_oid = decode(found[1]), decode(found[2])
                if found[3]:
                    patch.old_mode = self._mode(found[3][1:] + b"\n")
        else:
            return False
        return True

    def _mode(self, text: bytes) -> int:
        found = re.match(rb"([0-7]{1,7})\s", text)
        if found is None:
            shown = decode(text)
            raise self._error(f"invalid mode on line {self.header}: {shown}")
        return int(found[1], 8)

    def _checked_name(
        self, text: bytes, is_null: bool, known: bytes | None, side: str
    ) -> bytes | None:
        if known is None and not is_null:
            return self._name(text, None, self.how.strip)
        if known is not None:
            if is_null:
                raise self._error(
                    f"git apply: bad git-diff - expected /dev/null, got {decode(known)} on line "
                    f"{self.header}"
                )
            if self._name(text, None, self.how.strip) != known:
                raise self._error(
                    f"git apply: bad git-diff - inconsistent {side} filename on line {self.header}"
                )
        elif not _is_dev_null(text):
            raise self._error(f"git apply: bad git-diff - expected /dev/null on line {self.header}")
        return known

    def _header_name(self, text: bytes) -> bytes | None:
        """Return the name that both sides of a "diff --git" line have, None if they differ."""
        text = text.rstrip(b"\n")
        strip = self.how.strip
        if text.startswith(b'"'):
            quoted = _QUOTED.match(text)
            if quoted is None:
                return None
            first = _skip_components(unquote_path(quoted[0]), strip)
            rest = text[quoted.end() :].lstrip()
            second = unquote_path(rest) if rest.startswith(b'"') else rest
            return first if first is not None and _skip_components(second, strip) == first else None
        at = text.find(b'"')
        if at > 0:
            second_name = _skip_components(unquote_path(text[at:]), strip)
            first = _skip_components(text[:at].rstrip(), strip)
            return first if first == second_name else None
        for found in re.finditer(rb"[ \t]", text):
            first = _skip_components(text[: found.start()], strip)
            if first is not None and first == _skip_components(text[found.end() :], strip):
                return first
        return None

    # names

    def _name(
        self, text: bytes, default: bytes | None, strip: int, *, end: int | None = None,
        tab: bool = True,
    ) -> bytes | None:  # fmt: skip
        """Return the name at the beginning of a text, without its first components."""
        if text.startswith(b'"'):
            quoted = _QUOTED.match(text)
            if quoted is not None:
                found = unquote_path(quoted[0])
                for _ in range(strip):
                    _, slash, found = found.partition(b"/")
                    if not slash:
                        return None
                return _squashed(self.how.root + found)
        if end is None:
            stop = _NAME_END.search(text) if tab else _LINE_END.search(text)
            end = stop.start() if stop is not None else len(text)
        found = text[:end]
        for _ in range(strip):
            _, slash, found = found.partition(b"/")
            if not slash:
                return default
        if not found:
            return default
        if default is not None and len(default) < len(found) and found.startswith(default):
            return default
        return _squashed(self.how.root + found)

    def _plain_name(self, text: bytes, default: bytes | None, strip: int) -> bytes | None:
        """Return the name of a line "--- NAME DATE"."""
        line = text.rstrip(b"\n")
        stamp = _STAMP.search(line)
        if text.startswith(b'"') or stamp is None:
            return self._name(text, default, strip)
        end = stamp.start()
        if line[end : end + 1] == b" ":
            end = len(line[:end].rstrip(b" "))
        return self._name(text, default, strip, end=end)

    def _guess_strip(self, text: bytes) -> int:
        if _is_dev_null(text):
            return -1
        name = self._plain_name(text, None, 0)
        if name is None:
            return -1
        if b"/" not in name:
            return 0
        prefix = self.how.prefix
        if prefix:
            if name.startswith(prefix):
                return prefix.count(b"/")
            if name.partition(b"/")[2].startswith(prefix):
                return prefix.count(b"/") + 1
        return -1

    def _plain_header(self, patch: Patch, first: bytes, second: bytes) -> None:
        how = self.how
        if not how.strip_is_known:
            one, two = self._guess_strip(first), self._guess_strip(second)
            one = two if one < 0 else one
            if one >= 0 and one == two:
                how.strip, how.strip_is_known = one, True
        if _is_dev_null(first):
            patch.is_new, patch.is_delete = True, False
            name = patch.new_name = self._plain_name(second, None, how.strip)
        elif _is_dev_null(second):
            patch.is_new, patch.is_delete = False, True
            name = patch.old_name = self._plain_name(first, None, how.strip)
        else:
            name = self._plain_name(
                second, self._plain_name(first, None, how.strip), how.strip
            )
            if _is_epoch(first):
                patch.is_new, patch.is_delete = True, False
                patch.new_name = name
            elif _is_epoch(second):
                patch.is_new, patch.is_delete = False, True
                patch.old_name = name
            else:
                patch.old_name = patch.new_name = name
        if name is None:
            raise self._error(f"unable to find filename in patch at line {self.number}")

    # hunks

    def _hunks(self, patch: Patch) -> None:
        old = new = context = 0
        while self._line(self.at).startswith(b"@@ -"):
            hunk = self._hunk(patch)
            patch.hunks.append(hunk)
            old += hunk.old_count
            new += hunk.new_count
            context += hunk.leading + hunk.trailing
        several = len(patch.hunks) > 1
        if patch.is_new is None and (old or several):
            patch.is_new = False
        if patch.is_delete is None and (new or several):
            patch.is_delete = False
        if patch.is_new and old:
            raise self._error(f"new file {decode(patch.new_name or b'')} depends on old contents")
        if patch.is_delete and new:
            raise self._error(f"deleted file {decode(patch.old_name or b'')} still has contents")
        if patch.is_delete is False and not new and context:
            self.git.say(
                f"** warning: file {decode(patch.new_name or b'')} becomes empty but is not deleted"
            )

    def _hunk(self, patch: Patch) -> Hunk:
        # long: one kind of line after the other
        line = self.lines[self.at]
        found = _HUNK.match(line)
        if found is None or not line.endswith(b"\n"):
            raise self._error(f"corrupt patch at line {self.number}")
        counts = [int(found[2] or 1), int(found[4] or 1)]
        hunk = Hunk(self.number, int(found[1]), counts[0], int(found[3]), counts[1])
        if self.how.recounts:
            self._recount(hunk)
        hunk.lines.append(line)
        self.at += 1
        old, new = hunk.old_count, hunk.new_count
        added = deleted = 0
        while old or new:
            line = self._line(self.at)
            self.git.budget.step()
            if not line.endswith(b"\n") or old < 0 or new < 0:
                raise self._error(f"corrupt patch at line {self.number}")
            kind = line[:1]
            if kind in (b" ", b"\n"):
                old, new = old - 1, new - 1
                hunk.leading += not (added or deleted)
                hunk.trailing += 1
                self._note_crlf(patch, line)
                if self.how.whitespace == "fix" and not self.how.reverse:
                    self._check_space(patch, line)
            elif kind in (b"-", b"+"):
                if (kind == b"-") != self.how.reverse:
                    self._note_crlf(patch, line)
                elif self.how.whitespace != "nowarn":
                    self._check_space(patch, line)
                added, deleted = added + (kind == b"+"), deleted + (kind == b"-")
                old, new = old - (kind == b"-"), new - (kind == b"+")
                hunk.trailing = 0
            elif not (kind == b"\\" and len(line) >= 12 and line.startswith(b"\\ ")):
                raise self._error(f"corrupt patch at line {self.number}")
            hunk.lines.append(line)
            self.at += 1
        if not (self.how.recounts or added or deleted):
            raise self._error(f"corrupt patch at line {self.number}")
        line = self._line(self.at)
        if line.startswith(b"\\ ") and len(line) >= 12:
            hunk.lines.append(line)
            self.at += 1
        patch.added += added
        patch.deleted += deleted
        return hunk

    def _note_crlf(self, patch: Patch, line: bytes) -> None:
        if line.endswith(b"\r\n"):
            patch.rules = patch.rules.with_rule("cr-at-eol")
            patch.has_crlf = True

    def _check_space(self, patch: Patch, line: bytes) -> None:
        errors = patch.rules.errors(line[1:])
        if errors:
            self.report(describe(errors), self.number, line[1:].removesuffix(b"\n"))

    def _recount(self, hunk: Hunk) -> None:
        """Count the lines of a hunk, whatever its header says."""
        old = new = 0
        at = self.at + 1
        while at < len(self.lines):
            line = self.lines[at]
            kind = line[:1]
            if kind in (b" ", b"\n"):
                old, new = old + 1, new + 1
            elif kind == b"-":
                old += 1
            elif kind == b"+":
                new += 1
            elif kind != b"\\":
                if not line.startswith((b"@@ ", b"diff ")):
                    self.git.warn(f"recount: unexpected line: {decode(line).rstrip(chr(10))}\n")
                    return
                break
            at += 1
        hunk.old_count, hunk.new_count = old, new

    # binary patches

    def _binary(self, patch: Patch) -> None:
        line = self._line(self.at)
        if line == b"GIT binary patch\n":
            self.at += 1
            first = self._part()
            if first is None:
                raise self._error(f"unrecognized binary patch at line {self.number - 1}")
            patch.parts.append(first)
            second = self._part()
            if second is not None:
                patch.parts.append(second)
            patch.is_binary = True
        elif line.endswith(b" differ\n") and line.startswith((b"Binary files ", b"Files ")):
            self.at += 1
            patch.is_binary = True

    def _part(self) -> tuple[str, bytes] | None:
        """Read one content of a binary patch; None if there is none."""
        import base64

        found = re.match(rb"(delta|literal) ([0-9]{1,10})\n", self._line(self.at))
        if found is None:
            return None
        self.at += 1
        pieces: list[bytes] = []
        while (line := self._line(self.at)) != b"\n":
            self.git.budget.step()
            text = line.rstrip(b"\n")
            first = text[0] if text else 0
            size = first - 64 if 65 <= first <= 90 else first - 70 if 97 <= first <= 122 else 0
            most = (len(text) - 1) // 5 * 4
            if len(text) < 6 or (len(text) - 1) % 5 or not most - 4 < size <= most:
                raise self._corrupt(text)
            try:
                pieces.append(base64.b85decode(text[1:])[:size])
            except ValueError:
                raise self._corrupt(text) from None
            self.at += 1
        self.at += 1
        return decode(found[1]), self._inflated(b"".join(pieces), int(found[2]))

    def _inflated(self, packed: bytes, size: int) -> bytes:
        import zlib

        self.git.budget.hold_input(size)
        unpacker = zlib.decompressobj()
        try:
            data = unpacker.decompress(packed, size + 1)
        except zlib.error:
            raise self._corrupt(b"") from None
        if len(data) != size or not (unpacker.eof or unpacker.decompress(b"") == b""):
            raise self._corrupt(b"")
        return data

    def _corrupt(self, text: bytes) -> GitError:
        return self._error(f"corrupt binary patch at line {self.number}: {decode(text)}")


def _kind(patch: Patch, line: bytes) -> tuple[bool, bool]:
    copies = line.startswith(b"copy ")
    return patch.is_copy or copies, patch.is_rename or not copies


def _is_dev_null(text: bytes) -> bool:
    return re.match(rb"/dev/null\s", text) is not None


def _is_epoch(text: bytes) -> bool:
    """Whether a line has the date that stands for a file that does not exist."""
    found = _EPOCH.search(text)
    if found is None:
        return False
    offset = int(found[5]) * 60 + int(found[6])
    minutes = int(found[2]) * 60 + int(found[3]) - (-offset if found[4] == b"-" else offset)
    return minutes == (24 * 60 if found[1] == b"1969-12-31" else 0)


def _squashed(name: bytes) -> bytes:
    return re.sub(rb"/{2,}+", b"/", name)


def _skip_components(name: bytes, strip: int) -> bytes | None:
    if not strip:
        return None if name.startswith(b"/") else name
    pieces = name.split(b"/", strip)
    if len(pieces) <= strip or name.startswith(b"/"):
        return None
    return pieces[-1]
