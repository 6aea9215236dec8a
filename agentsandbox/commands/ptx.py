"""`ptx` (GNU coreutils): an index of the words of a text, each with what stands around it."""

from __future__ import annotations

import re

from agentsandbox.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.commands._choices import choose
from agentsandbox.commands._lines import read_all, shown_name
from agentsandbox.commands._ptx_words import (
    WHITE,
    Keyword,
    Pattern,
    Search,
    Sought,
    compile_pattern,
    run_of,
    skip_solid,
    skip_white,
    skip_white_back,
)
from agentsandbox.commands._quoting import quote
from agentsandbox.commands._suites import COREUTILS
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.manners import Manners
from agentsandbox.streams import BLOCK, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.streams import ByteWriter, Stream

_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{1,3})|0([0-7]{0,3})|(c).*|([abfnrtv]))", re.DOTALL)
_NAMED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_NUMBER = re.compile(r"[ \t-\r]*\+?(0[xX][0-9A-Fa-f]+|0[0-7]*|[1-9][0-9]*)")
_BLANK = bytes.maketrans(WHITE, b" " * len(WHITE))
_TEX = {
    **{mark: f"\\{mark}" for mark in "$%&#_"},
    "{": "$\\{$",
    "}": "$\\}$",
    "\\": "\\backslash{}",
}
_TEX_SPECIAL = re.compile(rb"[$%&#_{}\\]")


def _unescape(text: str) -> str:
    """The text with its escapes replaced, those of regular expressions as they were; `\\c` ends it."""

    def replace(found: re.Match[str]) -> str:
        if found[1] is not None:
            return chr(int(found[1], 16) & 255)
        if found[2] is not None:
            return chr(int(found[2] or "0", 8) & 255)
        return "" if found[3] else _NAMED[found[4]]

    return _ESCAPE.sub(replace, text).split("\0")[0]


def _read_width(text: str, what: str) -> int:
    found = _NUMBER.fullmatch(text)
    digits = found[1].lower() if found is not None else "0"
    value = 0
    if len(digits) <= 24:
        value = int(digits, 16) if digits.startswith("0x") else int(digits, 8) if digits.startswith("0") else int(digits)
    if not 0 < value < 2**63:
        raise CommandError(f"invalid {what}: {quote(text)}")
    return value


def _read(ctx: CommandContext, name: str) -> bytes:
    """All of an operand."""
    try:
        return read_all(ctx.budget, ctx.open_input(name or "-"))
    except OSError as error:
        raise CommandError(describe_os_error(error, shown_name(name))) from None


def _create(ctx: CommandContext, name: str) -> Stream:
    """The file that the output goes to."""
    try:
        return ctx.fs.open(ctx.path(name), "w", permissions=0o666 & ~ctx.umask)
    except OSError as error:
        raise CommandError(describe_os_error(error, shown_name(name))) from None


def _read_words(ctx: CommandContext, name: str, *, fold: bool) -> frozenset[bytes]:
    """The words of a list, one on a line."""
    data = _read(ctx, name)
    ctx.budget.step(len(data) // 1024 + 1)
    return frozenset((data.upper() if fold else data).split(b"\n")) - {b""}


def _word_run(ctx: CommandContext, args: Arguments, *, traditional: bool) -> re.Pattern[bytes]:
    """What words are made of where no pattern says it: letters, or all but what separates."""
    name = args.value("break-file")
    if name is not None:
        breaks = set(_read(ctx, name))
        if traditional:
            breaks.update(b" \t\n")
        return run_of(bytes(byte for byte in range(256) if byte not in breaks))
    return run_of(bytes(byte for byte in range(256) if byte not in b" \t\n") if traditional else _LETTERS)


class _Layout:
    """How wide each part of a line may be.

    `half`    columns on each side of the middle.
    `before`  the most for what stands before the keyword.
    `after`   the most for the keyword and what follows it.
    """

    __slots__ = ("after", "before", "gap", "half", "macro", "mark", "reference_right", "reference_width", "referred")

    def __init__(self, args: Arguments, search: Search, names: list[str], *, traditional: bool) -> None:
        self.gap = _read_width(args.value("gap-size", "3") or "", "gap width")
        width = _read_width(args.value("width", "72") or "", "line width")
        self.mark = encode(_unescape(args.value("flag-truncation", "/") or ""))
        self.macro = encode(args.value("macro-name", "xx") or "")
        self.referred = search.auto or search.given
        self.reference_right = args.flag("right-side-refs")
        self.reference_width = search.width
        if search.auto:
            self.reference_width = 1 + max((_reference_width(search, names, file) for file in range(len(names))), default=0)
        if self.referred and not self.reference_right:
            width = max(0, width - self.reference_width - self.gap)
        self.half = width // 2
        self.before = self.half - self.gap
        self.after = self.half - 2 * len(self.mark)
        if traditional:
            self.after -= 1
        else:
            self.before = max(0, self.before - 2 * len(self.mark))


def _reference_width(search: Search, names: list[str], file: int) -> int:
    lines = search.ends[file] + 1 - (search.ends[file - 1] if file else 0)
    return len(str(lines)) + len(encode(names[file]))


class _Index:
    """Makes a line of output for each keyword, of up to four parts: tail, before, keyword and what follows, head."""

    def __init__(self, ctx: CommandContext, search: Search, layout: _Layout, names: list[str], texts: list[bytes]) -> None:
        self.budget = ctx.budget
        self.search = search
        self.layout = layout
        self.names = names
        self.texts = texts
        self.sought = [None if search.words is None else Sought(data, search.words) for data in texts]
        in_words = bytes([search.run.match(bytes([byte])) is not None for byte in range(256)])
        self.masks = [data.translate(in_words) if search.words is None else None for data in texts]
        """Of each text, whether its bytes are parts of words."""

    def _skip(self, file: int, at: int, end: int) -> int:
        """Past the word at this place, or past one byte that begins none."""
        budget = self.budget
        budget.left -= 1
        if budget.left < 0:
            budget.tick()
        sought = self.sought[file]
        if sought is None:
            match = self.search.run.match(self.texts[file], at, end)
            return match.end() if match is not None else at + 1
        found = sought.search(at, end, here=True)
        return at + 1 if found is None or found[1] == at else found[1]

    def _last_place(self, file: int, start: int, limit: int, end: int) -> int:
        """The last place up to `limit` that steps over words lead to from `start`; words end at `end`."""
        mask = self.masks[file]
        if mask is not None:
            if start >= min(limit, end):
                return start
            place = min(limit, end)
            cuts_word = place < end and mask[place] and mask[place - 1]
            return max(start, mask.rfind(0, start, place) + 1) if cuts_word else place
        at = last = start
        while at < end and at <= limit:
            last = at
            at = self._skip(file, at, end)
        return at if at <= limit else last

    def _first_place(self, file: int, start: int, wanted: int, end: int) -> int:
        """The first place from `wanted` on that steps over words lead to from `start`; words end at `end`."""
        mask = self.masks[file]
        if mask is not None:
            if start >= wanted or wanted >= end or not (mask[wanted] and mask[wanted - 1]):
                return max(start, wanted)
            found = mask.find(0, wanted, end)
            return found if found >= 0 else end
        while start < wanted:
            start = self._skip(file, start, end)
        return start

    def _after(self, key: Keyword) -> tuple[int, bool]:
        """Where the part with the keyword ends, and whether the sentence is cut there."""
        end = self._last_place(key.file, key.end, key.start + self.layout.after, key.right)
        return skip_white_back(self.texts[key.file], end, key.start), bool(self.layout.mark) and end < key.right

    def _before(self, key: Keyword) -> tuple[int, int, int, bool]:
        """Where the left field may begin, where the part before the keyword begins and ends, and whether it is cut."""
        layout, data = self.layout, self.texts[key.file]
        field = key.left
        if key.start - key.left > layout.half + self.search.longest:
            field = self._skip(key.file, key.start - (layout.half + self.search.longest), key.start)
        end = skip_white_back(data, key.start, field)
        start = self._first_place(key.file, field, end - layout.before, end)
        cut = bool(layout.mark) and skip_white_back(data, start, 0) > key.left
        return field, skip_white(data, start, len(data)), end, cut

    def fields(self, key: Keyword) -> tuple[bytes, bytes, int, bytes]:
        """Tail, before, where the part with the keyword ends, head; `marks` tells which are cut, `before` how wide the second is."""
        layout, data, file = self.layout, self.texts[key.file], key.file
        end, end_cut = self._after(key)
        field, start, before_end, start_cut = self._before(key)
        tail = head = b""
        tail_cut = head_cut = False
        room = layout.before - (before_end - start) - layout.gap
        if room > 0:
            first = skip_white(data, end, len(data))
            last = self._last_place(file, first, first + room - 1, key.right)
            if last > first:
                end_cut = False
                tail_cut = bool(layout.mark) and last < key.right
            tail = data[first : skip_white_back(data, last, first)]
        room = layout.after - (end - key.start) - layout.gap
        if room > 0:
            last = skip_white_back(data, start, 0)
            first = self._first_place(file, field, last - room, last)
            if last > first:
                start_cut = False
                head_cut = bool(layout.mark) and first > key.left
            head = data[skip_white(data, first, last) : last] if first < last else b""
        self.before = before_end - start  # less than 0 where not even the white space before the keyword fits
        self.marks = (tail_cut, start_cut, end_cut, head_cut)
        return tail, data[start:before_end], end, head

    def reference(self, key: Keyword) -> bytes:
        """The reference of a keyword: file and line, or the first field of its line."""
        if self.search.auto:
            line = key.reference + 1 - (self.search.ends[key.file - 1] if key.file else 0)
            return encode(f"{self.names[key.file]}:{line}")
        if self.search.given:
            return self.texts[key.file][key.reference : skip_solid(self.texts[key.file], key.reference, key.right)]
        return b""

    def plain_line(self, key: Keyword) -> bytes:
        """A line for people."""
        layout = self.layout
        half, mark = layout.half, layout.mark
        tail, before, end, head = self.fields(key)
        tail, before, head = tail.translate(_BLANK), before.translate(_BLANK), head.translate(_BLANK)
        after = self.texts[key.file][key.start : end].translate(_BLANK)
        tail_cut, before_cut, after_cut, head_cut = self.marks
        reference = self.reference(key)
        line = []
        if not layout.reference_right:
            colon = b":" if self.search.auto else b""
            line += [reference, colon, b" " * (layout.reference_width + layout.gap - len(reference) - len(colon))]
        left = (mark if before_cut else b"") + before
        left_width = self.before + len(left) - len(before)
        if tail:
            tail += mark if tail_cut else b""
        line += [tail, b" " * (half - layout.gap - left_width - len(tail)), left, b" " * layout.gap]
        after += mark if after_cut else b""
        line.append(after)
        if head:
            head = (mark if head_cut else b"") + head
            line += [b" " * (half - len(after) - len(head)), head]
        elif layout.referred and layout.reference_right:
            line.append(b" " * (half - len(after)))
        if layout.referred and layout.reference_right:
            line += [b" " * layout.gap, reference]
        return b"".join(line)

    def roff_line(self, key: Keyword) -> bytes:
        """A call of a roff macro."""
        mark = self.layout.mark
        tail, before, end, head = self.fields(key)
        tail_cut, before_cut, after_cut, head_cut = self.marks
        parts = [
            (b"", tail, mark if tail_cut else b""),
            (mark if before_cut else b"", before, b""),
            (b"", self.texts[key.file][key.start : end], mark if after_cut else b""),
            (mark if head_cut else b"", head, b""),
        ]
        if self.layout.referred:
            parts.append((b"", self.reference(key), b""))
        quoted = [b'"' + first + field.translate(_BLANK).replace(b'"', b'""') + last + b'"' for first, field, last in parts]
        return b"." + self.layout.macro + b" " + b" ".join(quoted)

    def tex_line(self, key: Keyword) -> bytes:
        """A call of a TeX macro: the keyword and what follows it stand apart."""
        data = self.texts[key.file]
        tail, before, end, head = self.fields(key)
        cut = self._skip(key.file, key.start, end) if key.start < end else end
        parts = [tail, before, data[key.start : cut], data[cut:end], head]
        if self.layout.referred:
            parts.append(self.reference(key))
        return b"\\" + self.layout.macro + b" " + b"".join([b"{" + _for_tex(part) + b"}" for part in parts])


def _for_tex(field: bytes) -> bytes:
    return _TEX_SPECIAL.sub(lambda found: encode(_TEX[chr(found[0][0])]), field.translate(_BLANK))


def _search_for(ctx: CommandContext, args: Arguments, *, traditional: bool) -> Search:
    """What to look for, as the options say it."""
    fold = args.flag("ignore-case")
    given = args.flag("references")
    text = args.value("sentence-regexp")
    sentence: Pattern | str
    if text is None:
        sentence = "line" if traditional or given else "text"
    else:
        text = _unescape(text)
        sentence = compile_pattern(ctx.budget, text, ignore_case=fold) if text else ""
    text = _unescape(args.value("word-regexp", "") or "")
    words = compile_pattern(ctx.budget, text, ignore_case=fold) if text else None
    search = Search(ctx.budget, _word_run(ctx, args, traditional=traditional), words, sentence)
    search.fold = fold
    search.given = given
    search.auto = args.flag("auto-reference")
    ignored, only = args.value("ignore-file"), args.value("only-file")
    search.ignored = None if ignored is None else _read_words(ctx, ignored, fold=fold)
    search.only = (None if only is None else _read_words(ctx, only, fold=fold)) or None  # an empty list is no list
    return search


def _write(ctx: CommandContext, out: ByteWriter, search: Search, texts: list[bytes], line: Callable[[Keyword], bytes]) -> None:
    """The lines in the order of their keywords, those of one word in the order of the text."""
    fold = search.fold

    def order(key: Keyword) -> tuple[bytes, int, int]:
        word = texts[key.file][key.start : key.end]
        return (word.upper() if fold else word), key.file, key.start

    block: list[bytes] = []
    size = 0
    for key in sorted(search.keywords, key=order):
        ctx.budget.step()
        text = line(key)
        block.append(text)
        size += len(text) + 1
        if size > BLOCK:
            out.write(b"\n".join([*block, b""]))
            block, size = [], 0
    out.write(b"\n".join([*block, b""]))


def _format(text: str) -> str:
    return choose(text, "--format", [["roff"], ["tex"]])


@command(
    "ptx",
    manners=Manners(
        COREUTILS,
        long_options="""
            auto-reference break-file flag-truncation ignore-case gap-size ignore-file
            macro-name only-file references right-side-refs format sentence-regexp
            traditional typeset-mode width word-regexp help version
        """,
    ),
    values={
        "gap-size": lambda text: _read_width(text, "gap width"),
        "width": lambda text: _read_width(text, "line width"),
        "format": _format,
    },
    usage="""
    Usage: ptx [OPTION]... [INPUT]...   (without -G)
      or:  ptx -G [OPTION]... [INPUT [OUTPUT]]
    Output a permuted index of the words in the INPUT files, each word with its context.

    With no INPUT, or when INPUT is -, read standard input.

      -A, --auto-reference           output file and line of each word
      -G, --traditional              behave more like System V's 'ptx'
      -F, --flag-truncation=STRING   use STRING to show where a line is cut; '/' if not given
      -M, --macro-name=STRING        macro name to use instead of 'xx'
      -O                             output calls of a roff macro
          --format=WORD              roff or tex
      -R, --right-side-refs          put references at the right, not counted in -w
      -S, --sentence-regexp=REGEXP   what ends a line or a sentence
      -T                             output calls of a TeX macro
      -W, --word-regexp=REGEXP       what a word is
      -b, --break-file=FILE          words end at the characters in this FILE
      -f, --ignore-case              sort small letters with capitals
      -g, --gap-size=NUMBER          columns between the parts of a line
      -i, --ignore-file=FILE         leave out the words that are in FILE
      -o, --only-file=FILE           index only the words that are in FILE
      -r, --references               the first field of each line is its reference
      -t, --typeset-mode             accepted: it means nothing in GNU's 'ptx' either
      -w, --width=NUMBER             columns of a line, without its reference
          --help                     display this help and exit
    """,
)
def ptx(ctx: CommandContext, args: Arguments) -> int:
    traditional = args.flag("traditional")
    form = ""
    for key, value in args.given:
        if key == "format":
            form = _format(value or "")
        elif key in ("O", "T"):
            form = {"O": "roff", "T": "tex"}[key]
    names = args.operands or ["-"]
    if traditional and len(names) > 2:
        raise UsageError(f"extra operand {quote(names[2])}")
    output = names.pop() if traditional and len(names) == 2 else None
    search = _search_for(ctx, args, traditional=traditional)
    texts = []
    for name in names:
        data = _read(ctx, name)
        texts.append(data)
        search.read(data, None if search.words is None else Sought(data, search.words))
        ctx.budget.charge(64 * len(search.keywords))
    names = ["" if name == "-" else name for name in names]
    opened = None if output is None else _create(ctx, output)
    layout = _Layout(args, search, names, traditional=traditional)
    index = _Index(ctx, search, layout, names, texts)
    form = form or ("roff" if traditional else "")
    line = {"": index.plain_line, "roff": index.roff_line, "tex": index.tex_line}[form]
    if not form:
        ctx.budget.charge(2 * (layout.half + layout.gap + layout.reference_width))
    try:
        _write(ctx, opened or ctx.stdout, search, texts, line)
    finally:
        if opened is not None:
            opened.release()
    return 0
