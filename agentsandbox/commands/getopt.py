"""`getopt` (util-linux): parse options for scripts."""

from __future__ import annotations

from agentsandbox.commands._suites import UTIL_LINUX
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import SILENT, Manners
from agentsandbox.errors import UsageError
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_NONE, _REQUIRED, _OPTIONAL = range(3)


class _Parser:
    """Parses parameters by option strings, as getopt_long(3)."""

    def __init__(
        self, ctx: CommandContext, short: str, long: Sequence[str], name: str, *, quiet: bool
    ) -> None:
        self.ctx = ctx
        self.mode = (
            short[:1] if short[:1] in ("+", "-") else "+" if "POSIXLY_CORRECT" in ctx.env else ""
        )
        short = short.lstrip("+-")
        self.short: dict[str, int] = {}
        at = 0
        while at < len(short):
            colons = len(short[at + 1 :]) - len(short[at + 1 :].lstrip(":"))
            self.short[short[at]] = min(colons, 2)
            at += 1 + colons
        self.long = {word.rstrip(":"): min(len(word) - len(word.rstrip(":")), 2) for word in long}
        self.name = name
        self.quiet = quiet
        self.failed = False
        self.options: list[tuple[str, str | None]] = []
        self.operands: list[str] = []

    def complain(self, message: str) -> None:
        self.failed = True
        if not self.quiet:
            self.ctx.stderr.write(encode(f"{self.name}: {message}\n"))

    def parse(self, words: Sequence[str]) -> None:
        at = 0
        while at < len(words):
            self.ctx.budget.step()
            word = words[at]
            at += 1
            if word == "--":
                self.operands.extend(words[at:])
                return
            if len(word) < 2 or word[0] != "-":
                if self.mode == "+":
                    self.operands.extend(words[at - 1 :])
                    return
                if self.mode == "-":
                    self.options.append(("", word))
                else:
                    self.operands.append(word)
            elif word[1] == "-":
                at = self._long(word[2:], words, at)
            else:
                at = self._cluster(word[1:], words, at)

    def _cluster(self, letters: str, words: Sequence[str], at: int) -> int:
        for index, letter in enumerate(letters):
            takes = self.short.get(letter)
            if takes is None or letter == ":":
                self.complain(f"invalid option -- '{letter}'")
                continue
            rest = letters[index + 1 :]
            if takes == _NONE:
                self.options.append((f"-{letter}", None))
            elif rest or takes == _OPTIONAL:
                self.options.append((f"-{letter}", rest))
                return at
            elif at < len(words):
                self.options.append((f"-{letter}", words[at]))
                return at + 1
            else:
                self.complain(f"option requires an argument -- '{letter}'")
        return at

    def _long(self, text: str, words: Sequence[str], at: int) -> int:
        name, equals, value = text.partition("=")
        matches = [known for known in self.long if known.startswith(name)]
        if name in self.long:
            matches = [name]
        if not matches:
            self.complain(f"unrecognized option '--{text if equals else name}'")
        elif len(matches) > 1:
            possible = " ".join([f"'--{known}'" for known in matches])
            self.complain(f"option '--{text}' is ambiguous; possibilities: {possible}")
        else:
            full, takes = matches[0], self.long[matches[0]]
            if equals and takes == _NONE:
                self.complain(f"option '--{full}' doesn't allow an argument")
            elif equals or takes != _REQUIRED:
                self.options.append((f"--{full}", value if takes else None))
            elif at < len(words):
                self.options.append((f"--{full}", words[at]))
                return at + 1
            else:
                self.complain(f"option '--{full}' requires an argument")
        return at


def _write(ctx: CommandContext, parser: _Parser, *, quoted: bool) -> None:
    def show(text: str) -> str:
        return "'" + text.replace("'", "'\\''") + "'" if quoted else text

    parts: list[str] = []
    for option, value in parser.options:
        parts += ([option] if option else []) + ([] if value is None else [show(value)])
    parts += ["--", *map(show, parser.operands)]
    ctx.print("".join([f" {part}" for part in parts]))


def _known_shell(text: str) -> None:
    if text not in ("sh", "bash"):
        raise UsageError("unknown shell after -s or --shell argument", 2)


@command(
    "getopt",
    manners=Manners(
        UTIL_LINUX,
        long_options="""
            options longoptions quiet quiet-output shell test unquoted help alternative
            name version
        """,
        write_error=("NAME: write error: REASON", 3),
        closed_write_error=SILENT,
    ),
    usage="""
    Usage: getopt <optstring> <parameters>
      or:  getopt [options] [--] <optstring> <parameters>
      or:  getopt [options] -o|--options <optstring> [options] [--] <parameters>
    Parse command options.

     -l, --longoptions=LONGOPTS  the long options to be recognized
     -n, --name=PROGNAME       the name under which errors are reported
     -o, --options=OPTSTRING   the short options to be recognized
     -q, --quiet               disable error reporting by getopt(3)
     -s, --shell=SHELL         quote as SHELL does: sh or bash
     -T, --test                test for getopt(1) version
     -u, --unquoted            do not quote the output
     -h, --help                display this help
    """,
    permute=False,
    usage_status=2,
    values={"shell": _known_shell},
)
def getopt(ctx: CommandContext, args: Arguments) -> int:
    if args.flag("help"):
        ctx.print(getopt.usage, end="")
        return 0
    if args.flag("test"):
        return 4
    traditional = not (ctx.words and ctx.words[0].startswith("-"))
    words = args.operands
    short = args.value("options")
    if short is None:
        if not words:
            raise UsageError("missing optstring argument", 2)
        short, words = words[0], words[1:]
    long = [
        name
        for text in args.values("longoptions")
        for name in text.replace("\n", ",").replace(" ", ",").split(",")
        if name
    ]
    name = args.value("name", "getopt") or ""
    parser = _Parser(ctx, short, long, name, quiet=args.flag("quiet"))
    parser.parse(words)
    _write(ctx, parser, quoted=not args.flag("unquoted") and not traditional)
    return int(parser.failed)
