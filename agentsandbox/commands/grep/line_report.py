"""Write the lines that grep selects: prefixes, context, colors, counts.

`Report` holds the options, `FileSearch` the state of one file. A file arrives in blocks of whole
lines (`ByteReader.line_blocks`), and each block takes the cheapest way that the options allow:

* `_first_only`: only whether there is a selected line counts (-q, -l, -L, binary files);
* `LineSearch.count`: only the number of lines counts (-c);
* `_only_matches`: -o without prefixes that depend on the line;
* `_by_lines`: numbers or context, where the search can tell for all lines at once;
* `_simple`: whole lines with a file name or a number;
* `_detailed`: everything else, from one selected line to the next.

Context reaches over the border of two blocks: `tail` keeps the last lines of the block before for
leading context, `pending` counts the lines of trailing context that are still to be written.
"""

from __future__ import annotations

from agentsandbox.commands._text.lines import growing_blocks, short_blocks
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.fs.base import File
from agentsandbox.kernel.streams import decode, decode_bytewise, encode, position_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.regexps.lines import LineSearch
    from agentsandbox.kernel.streams import ByteReader

_COLORS = {"path": "35", "line": "32", "mark": "36", "match": "01;31"}
_INVALID = lazily("[\udc80-\udcff]")


class Report:
    """The options of one grep: what to write about each file."""

    def __init__(self) -> None:
        self.invert = False
        self.count = False
        self.list_files: bool | None = None
        """True: names of files with matches; False: of those without."""
        self.quiet = False
        self.only_matching = False
        self.with_filename = False
        self.line_numbers = False
        self.byte_offsets = False
        self.initial_tab = False
        self.digits = 1
        """The minimal width of a number."""
        self.null_names = False
        self.null_lines = False
        self.before = 0
        self.after = 0
        self.context = False
        """Whether separators are written between groups of lines."""
        self.separator: str | None = "--"
        self.max_count: int | None = None
        self.painted = False
        """Whether names, numbers and matches are in color."""
        self.binary = "binary"
        self.bytewise = False
        """Whether a byte is a character: the locale C."""
        self.something_written = False
        """Whether a group of lines has been written for any file."""

    @property
    def simple(self) -> bool:
        """Whether whole lines are printed, with at most a name and a number before them."""
        return not (self._marked or self.only_matching)

    @property
    def plain_matches(self) -> bool:
        """Whether only the matches are printed."""
        special = self._marked or self.count or self.invert or self.line_numbers
        return self.only_matching and not special and self.max_count is None

    @property
    def _marked(self) -> bool:
        return self.context or self.byte_offsets or self.painted or self.initial_tab

    @property
    def lines_only(self) -> bool:
        """Whether only selected lines are printed, with at most names and numbers."""
        special = self.invert or self.count or self.null_lines or self.max_count is not None
        return self.simple and not (special or self.only_first)

    @property
    def whole_lines(self) -> bool:
        """Whether all selected lines are printed unchanged, perhaps with context."""
        special = (
            self.byte_offsets
            or self.painted
            or self.initial_tab
            or self.only_matching
            or self.null_lines
        )
        return not (special or self.count or self.only_first) and self.max_count is None

    @property
    def only_first(self) -> bool:
        """Whether the first selected line of a file answers all that is asked."""
        return self.quiet or self.list_files is not None

    def paint(self, kind: str, text: str) -> str:
        """Return a text in the color of its kind, if there are colors."""
        return f"\33[{_COLORS[kind]}m\33[K{text}\33[m\33[K" if self.painted and text else text

    def name_line(self, name: str) -> str:
        """Return a file's name as a line."""
        return self.paint("path", name) + ("\0" if self.null_names else "\n")

    def count_line(self, name: str, number: int) -> str:
        """Return the number of a file's selected lines as a line."""
        if not self.with_filename:
            return f"{number}\n"
        mark = "\0" if self.null_names else self.paint("mark", ":")
        return f"{self.paint('path', name)}{mark}{number}\n"

    def align(self, source: ByteReader | bytes) -> None:
        """With -T, make numbers as wide as the largest number that the file may need."""
        if not self.initial_tab:
            return
        most = 2**63 - 1
        if isinstance(source, bytes):
            most = len(source) + self.line_numbers
        elif isinstance(source, File) and (info := source.stat()).is_file:
            most = info.size + self.line_numbers
        self.digits = len(str(most))

    def prefix(
        self, name: str, number: int, offset: int, separator: str, *, is_empty: bool = False
    ) -> str:
        """Return what is printed before a line."""
        mark = self.paint("mark", separator)
        pieces: list[str] = []
        if self.with_filename:
            pieces += [self.paint("path", name), "\0" if self.null_names else mark]
        if self.line_numbers:
            pieces += [self.paint("line", f"{number:{self.digits}d}"), mark]
        if self.byte_offsets:
            pieces += [self.paint("line", f"{offset:{self.digits}d}"), mark]
        if self.initial_tab and pieces and not is_empty:
            pieces.append("\t")
        return "".join(pieces)


class FileSearch:
    """The search of one file. `run` writes what the report asks for."""

    def __init__(self, ctx: CommandContext, search: LineSearch, report: Report, name: str) -> None:
        self.ctx = ctx
        self.search = search
        self.report = report
        self.name = name
        self.end = "\0" if report.null_lines else "\n"
        self.selected = 0
        self.binary = False
        self.stopped = False
        self.invalid = False
        """Whether a selected line was not printed because it is not UTF-8."""
        self.unclean = False
        """Whether a block was not UTF-8, and -a was not given."""
        self.lines_before = 0
        self.bytes_before = 0
        self.pending = 0
        """Lines of trailing context still to write."""
        self.last_shown = 0
        """The number of the last line written."""
        self.tail: list[tuple[int, int, str]] = []
        """(number, offset, line) of the last lines of the blocks before, for leading context."""
        self.simple = report.simple
        self.plain_matches = report.plain_matches
        self.needs_numbers = report.line_numbers or report.context
        self.by_lines = self.needs_numbers and report.whole_lines
        self.counted = False
        """Whether `lines_before` already includes the lines of this block."""
        self.ended_at: int | None = None
        """The offset behind the line that reached --max-count."""

    def run(self, source: ByteReader) -> int:
        """Search a file; return the number of selected lines, counted only as far as needed."""
        report = self.report
        if report.max_count == 0:
            return 0
        report.align(source)
        first, stopped = True, False
        begin = position_of(source) if report.max_count is not None else None
        for block in self._blocks(source):
            if stopped:
                if not self._context_after(block):
                    break
                continue
            if first or not self.binary:
                first = False
                if self._looks_binary(block):
                    if report.binary == "without-match":
                        return 0
                    self.binary = True
            self._block(block)
            stopped = self.stopped
            if stopped and not self.pending:
                break
        if begin is not None and self.ended_at is not None:
            # the next reader continues after the last selected line
            source.seek(begin + min(self.ended_at, self.bytes_before))  # type: ignore[attr-defined]
        if self.invalid and report.binary == "binary":
            self._say_binary()
        return self.selected

    def run_data(self, data: bytes) -> int:
        """Do the same as `run` for a small file that has been read."""
        if not data or self.report.max_count == 0:
            return 0
        if self._looks_binary(data):
            if self.report.binary == "without-match":
                return 0
            self.binary = True
        self.report.align(data)
        self._block(data)
        if self.invalid and self.report.binary == "binary":
            self._say_binary()
        return self.selected

    def _blocks(self, source: ByteReader) -> Iterable[bytes]:
        if self.report.null_lines:
            return source.lines(b"\0")
        blocks = short_blocks(self.ctx.budget, source)
        return blocks if self.report.max_count is None else growing_blocks(blocks)

    def _context_after(self, block: bytes) -> bool:
        """Write trailing context behind the last line of -m; return whether more is due."""
        text, _ = self._decode(memoryview(block.removesuffix(encode(self.end))))
        out: list[str] = []
        self._trailing(text, 0, len(text) + 1, self.lines_before + 1, out)
        self._write(out)
        self.lines_before += text.count(self.end) + 1
        self.bytes_before += len(block)
        return self.pending > 0

    def _looks_binary(self, block: bytes) -> bool:
        return self.report.binary != "text" and not self.report.null_lines and b"\0" in block

    def _block(self, block: bytes) -> None:
        report, end = self.report, self.end
        if self.binary and not report.null_lines:
            block = block.replace(b"\0", b"\n")
        self.counted = False
        whole = memoryview(block)
        text, clean = self._decode(whole[:-1] if block.endswith(encode(end)) else whole)
        if report.only_first or (self.binary and not report.count):
            self._first_only(text)
        elif report.count and report.max_count is None:
            self.ctx.budget.step()
            found = self.search.count(text)
            self.selected += text.count(end) + 1 - found if report.invert else found
        elif self.plain_matches and clean and self._only_matches(text):
            pass
        elif (
            self.by_lines
            and clean
            and not self.unclean
            and (flags := self.search.of(text).flags(text)) is not None
        ):
            self._by_lines(*flags)
        elif self.simple and clean and report.max_count is None and not report.count:
            self._simple(text)
        else:
            self._detailed(text, clean)
        if self.needs_numbers and not self.counted:
            self.lines_before += text.count(end) + 1
        self.bytes_before += len(block)

    def _decode(self, block: memoryview) -> tuple[str, bool]:
        """Return a block as text, and whether all of it is valid."""
        if self.report.bytewise:
            return decode_bytewise(block), True
        try:
            return str(block, "utf-8"), True
        except UnicodeDecodeError:
            return decode(block), self.report.binary == "text"

    def _first_only(self, text: str) -> None:
        """Stop at the first selected line; for a binary file, report that it has one."""
        report = self.report
        places = self.search.places(text)
        found = len(places) < text.count(self.end) + 1 if report.invert else bool(places)
        if found:
            self.selected += 1
            self.stopped = True
            if self.binary and not report.only_first:
                report.something_written = True  # a separator precedes the next group of lines
                self._say_binary()

    def _say_binary(self) -> None:
        self.ctx.stderr.write(encode(f"{self.ctx.name}: {self.name}: binary file matches\n"))

    def _simple(self, text: str) -> None:
        """Write whole lines with at most a name and a number before them."""
        report, end = self.report, self.end
        if not report.line_numbers:
            if report.invert:
                lines = self.search.reject(text)
            else:
                lines = self.search.filter(text)
            if not lines:
                return
            self.selected += len(lines)
            if report.with_filename:
                prefix = self.report.prefix(self.name, 0, 0, ":")
                if report.invert:
                    lines = end.join(lines).split(end)
                self.ctx.stdout.write(encode(prefix + (end + prefix).join(lines) + end))
            else:
                lines.append("")
                self.ctx.stdout.write(encode(end.join(lines)))
            return
        places = self.search.places(text)
        if report.invert:
            places = _gaps(text, places, end)
        if not places:
            return
        self.selected += len(places)
        prefix = self._plain_prefix(":")
        number = self.lines_before + 1
        position = 0
        count = text.count
        pieces: list[str] = []
        for start, stop in places:
            number += count(end, position, start)
            position = start
            pieces.append(f"{prefix}{number}:{text[start:stop]}{end}")
        self.lines_before = number + count(end, position)
        self.counted = True
        self.ctx.stdout.write(encode("".join(pieces)))

    def _by_lines(self, lines: list[str], flags: list[object]) -> None:
        """Write lines with numbers or context, given a flag for every line of the block."""
        report = self.report
        chosen = (
            [at for at, flag in enumerate(flags) if not flag]
            if report.invert
            else [at for at, flag in enumerate(flags) if flag]
        )
        self.selected += len(chosen)
        number = self.lines_before + 1
        self.lines_before += len(lines)
        self.counted = True
        if not report.context:
            name = self._plain_prefix(":")
            self._write([f"{name}{number + at}:{lines[at]}\n" for at in chosen])
            return
        earlier = [line for at, _, line in self.tail if at > self.last_shown]
        number -= len(earlier)
        lines = earlier + lines
        chosen = [len(earlier) + at for at in chosen]
        groups, self.pending = _groups(
            chosen, len(lines), report.before, report.after, self.pending
        )
        rows = (
            self._prefixed(lines, number, chosen)
            if report.with_filename or report.line_numbers
            else lines
        )
        out: list[str] = []
        for start, stop in groups:
            parted = not self.last_shown or number + start > self.last_shown + 1
            if report.something_written and parted and report.separator is not None:
                out.append(report.separator + "\n")
            report.something_written = True
            self.last_shown = number + stop - 1
            out.append("\n".join(rows[start:stop]) + "\n")
        if report.before:
            self.tail = [
                (number + at, 0, lines[at])
                for at in range(max(0, len(lines) - report.before), len(lines))
            ]
        self._write(out)

    def _prefixed(self, lines: list[str], number: int, chosen: list[int]) -> list[str]:
        """Return the lines after their names and numbers; `number` is that of the first."""
        near, hit = self._plain_prefix("-"), self._plain_prefix(":")
        if not self.report.line_numbers:
            rows = [near + line for line in lines]
            for at in chosen:
                rows[at] = hit + lines[at]
            return rows
        rows = [f"{near}{at}-{line}" for at, line in enumerate(lines, number)]
        for at in chosen:
            rows[at] = f"{hit}{number + at}:{lines[at]}"
        return rows

    def _plain_prefix(self, mark: str) -> str:
        """Return the file's name and a mark, if names are printed."""
        return (
            f"{self.name}{chr(0) if self.report.null_names else mark}"
            if self.report.with_filename
            else ""
        )

    def _only_matches(self, text: str) -> bool:
        """Write all matches of the block; return False if that must be done line by line."""
        matches = self.search.matches(text)
        if matches is None:
            return False
        if matches:
            self.selected += len(matches)
            end = self.end
            prefix = self.report.prefix(self.name, 0, 0, ":")
            self.ctx.stdout.write(encode(prefix + (end + prefix).join(matches) + end))
        return True

    # everything else

    def _detailed(self, text: str, clean: bool) -> None:
        """Go from one selected line to the next: context, colors, offsets, --max-count."""
        report, end = self.report, self.end
        self.unclean = self.unclean or not clean
        places = self.search.places(text)
        if report.invert:
            places = _gaps(text, places, end)
        out: list[str] = []
        number = self.lines_before + 1
        position = 0
        for start, stop in places:
            self.ctx.budget.step()
            at = number + text.count(end, position, start)
            if self.pending:
                self._trailing(text, position, start, number, out)
            self.selected += 1
            if not report.count:
                if at != self.last_shown + 1 or at == 1:  # a new file begins a new group
                    self._leading(text, start, at, out)
                self._line(out, at, self._offset(text, start), text[start:stop], ":")
            self.pending = report.after
            position, number = min(stop + 1, len(text) + 1), at + 1
            if report.max_count is not None and self.selected >= report.max_count:
                self.stopped = True
                self.ended_at = (
                    self.bytes_before + len(encode(text[:position])) + (position > len(text))
                )
                break
        if position <= len(text) and self.pending:
            self._trailing(text, position, len(text) + 1, number, out)
        if report.before and not self.stopped:
            self._keep_tail(text)
        self._write(out)

    def _write(self, out: list[str]) -> None:
        if out:
            self.ctx.stdout.write(encode("".join(out)))
            out.clear()

    def _offset(self, text: str, start: int) -> int:
        """Return the byte offset in the file of a place in the block."""
        if not self.report.byte_offsets:
            return 0
        return self.bytes_before + (start if text.isascii() else len(encode(text[:start])))

    def _trailing(self, text: str, position: int, limit: int, number: int, out: list[str]) -> None:
        """Write trailing context from `position` to the next selected line at `limit`."""
        while self.pending and position < limit:
            stop = text.find(self.end, position)
            stop = len(text) if stop < 0 else stop
            line = text[position:stop]
            self._line(out, number, self._offset(text, position), line, self._mark(line))
            self.pending -= 1
            position, number = stop + 1, number + 1

    def _mark(self, line: str) -> str:
        """Return the mark behind the number of a line of trailing context."""
        return "-"

    def _leading(self, text: str, start: int, at: int, out: list[str]) -> None:
        """Write the separator and the leading context of the line at `start`, number `at`."""
        report = self.report
        lines: list[tuple[int, int, str]] = []
        wanted = min(report.before, at - 1 - self.last_shown)
        position = start
        while len(lines) < wanted and position > 0:
            before = text.rfind(self.end, 0, position - 1) + 1
            lines.append(
                (at - 1 - len(lines), self._offset(text, before), text[before : position - 1])
            )
            position = before
        if len(lines) < wanted and self.tail:
            lines.extend(self.tail[: -(wanted - len(lines)) - 1 : -1])
        first = lines[-1][0] if lines else at
        separated = report.context and report.something_written and report.separator is not None
        if separated and (not self.last_shown or first > self.last_shown + 1):
            out.append(report.paint("mark", report.separator or "") + "\n")
        for number, offset, line in reversed(lines):
            self._line(out, number, offset, line, "-")

    def _keep_tail(self, text: str) -> None:
        wanted = self.report.before
        lines = text.split(self.end)
        first = max(0, len(lines) - wanted)
        number = self.lines_before + first + 1
        offset = self._offset(text, 0) + (
            len(encode(self.end.join(lines[:first]))) + 1
            if first and self.report.byte_offsets
            else 0
        )
        for line in lines[first:]:
            self.tail.append((number, offset, line))
            number += 1
            offset += len(encode(line)) + 1
        del self.tail[:-wanted]

    def _line(self, out: list[str], number: int, offset: int, line: str, separator: str) -> None:
        """Write one line, or the parts of it that match. A line that is not UTF-8 is left out."""
        report = self.report
        report.something_written = True
        if self.unclean and not report.only_matching and _INVALID.search(line):
            self.invalid = True
            return
        self.last_shown = number
        if report.only_matching:
            if separator == ":" and not report.invert:
                self._matches(out, number, offset, line)
            return
        out.append(report.prefix(self.name, number, offset, separator, is_empty=not line))
        if report.painted and (separator == ":") != report.invert:
            line = self._colored(line)
        out.append(line + self.end)

    def _matches(self, out: list[str], number: int, offset: int, line: str) -> None:
        report = self.report
        ascii_line = line.isascii()
        for start, stop in self.search.spans(line):
            before = offset
            if report.byte_offsets:
                before += start if ascii_line else len(encode(line[:start]))
            part = line[start:stop]
            if self.unclean and _INVALID.search(part):
                self.invalid = True
                break
            out.append(report.prefix(self.name, number, before, ":"))
            out.append(report.paint("match", part) + self.end)
            if len(out) > 10_000:
                self._write(out)

    def _colored(self, line: str) -> str:
        """Return a line with its matches in color."""
        pieces: list[str] = []
        position = 0
        for start, stop in self.search.spans(line):
            pieces += [line[position:start], self.report.paint("match", line[start:stop])]
            position = stop
        return "".join([*pieces, line[position:]])


def _groups(
    chosen: list[int], size: int, before: int, after: int, pending: int
) -> tuple[list[tuple[int, int]], int]:
    """Return the ranges of lines to show around the chosen ones, and how many are still due.

    There are `size` lines. The first `pending` of them belong to the group before. Groups that
    touch are one.
    """
    groups: list[tuple[int, int]] = []
    start, stop = 0, pending
    for at in chosen:
        if at - before > stop:
            if stop > start:
                groups.append((start, stop))
            start = at - before
        stop = at + after + 1
    if stop > start:
        groups.append((start, min(stop, size)))
    return groups, max(0, stop - size)


def copy_lines(data: bytes, needle: bytes, prefix: bytes, *, numbered: bool) -> bytes:
    """Return the lines of ASCII text with `needle`, each after `prefix` and perhaps its number."""
    out: list[bytes] = []
    find = data.find
    position = counted = 0
    number = 1
    while (found := find(needle, position)) >= 0:
        start = data.rfind(b"\n", position, found) + 1 or position
        end = find(b"\n", found) + 1
        line = data[start:end] if end else data[start:] + b"\n"
        if numbered:
            number += data.count(b"\n", counted, start)
            counted = start
            out.append(b"%b%d:%b" % (prefix, number, line))
        else:
            out.append(prefix + line)
        if not end:
            break
        position = end
    return b"".join(out)


def _gaps(text: str, places: list[tuple[int, int]], end: str) -> list[tuple[int, int]]:
    """Return the places of the lines that are not among `places`."""
    gaps: list[tuple[int, int]] = []
    position = 0
    find = text.find
    for start, stop in [*places, (len(text) + 1, 0)]:
        while position < start:
            here = find(end, position)
            if here < 0:
                here = len(text)
            gaps.append((position, here))
            position = here + 1
        position = stop + 1
    return gaps
