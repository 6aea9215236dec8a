"""`yq` (the v4 command line of mikefarah/yq): expressions over YAML, JSON and TOML."""

from __future__ import annotations

import re

from agentsandbox.commands.yq.evaluation import Machine, YqError
from agentsandbox.commands.yq.formats import Layout, canonical, decode_text, format_of_file
from agentsandbox.commands.yq.nodes import SCALAR, Node
from agentsandbox.commands.yq.printer import Printer
from agentsandbox.commands.yq.program import PRETTY, compile_expression, run_expression
from agentsandbox.commands.yq.reader import YamlError
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.errors import LimitReached, UsageError
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentsandbox.commands.yq.parser import Expression

_OPTION_ERROR = re.compile(
    r"unrecognized option '(--[^=']*)|option '(--[^']*)' requires|invalid option -- '(.)'|option requires an argument -- '(.)'"
)
_SWITCH = re.compile(
    r"(--(?:exit-status|inplace|no-colors|no-doc|nul-output|null-input|prettyPrint)|-[eiMN0nP]+)"
    r"=(?:([Tt]rue|TRUE|[Tt1])|[Ff]alse|FALSE|[Ff0])"
)
_COMMANDS = ("e", "eval", "ea", "eval-all")
_NODE = 32
"""What a node counts for; it takes some 400 bytes."""


class _Run:
    """One call of yq."""

    def __init__(self, ctx: CommandContext, args: Arguments) -> None:
        self.ctx = ctx
        self.args = args
        operands = list(args.operands)
        self.together = bool(operands) and operands[0] in ("ea", "eval-all")
        if operands and operands[0] in _COMMANDS:
            operands.pop(0)
        self.in_place = args.flag("inplace")
        self.null_input = args.flag("null-input")
        self.front_matter = args.value("front-matter")
        self.appendix = ""
        text, self.files = self._split(operands)
        self._check()
        self.input_format, self.output_format = self._formats()
        self.layout = Layout(
            _indent(args),
            unwrap=_boolean(args, "unwrapScalar", default=self.output_format == "yaml"),
            separators=not args.flag("no-doc"),
        )
        self.machine = Machine(ctx.budget, environment=ctx.env, read_file=self._read)
        if args.flag("prettyPrint"):
            text = f"{text} | {PRETTY}" if text else PRETTY
        self.expression: Expression | None = compile_expression(text)

    # what the words say

    def _split(self, operands: list[str]) -> tuple[str, list[str]]:
        """The expression and the files: the first operand is an expression, unless it is a file."""
        given = self.args.value("expression") or ""
        source = self.args.value("from-file")
        if not self.null_input and (
            not operands
            or (len(operands) == 1 and operands[0] != "-" and not self._is_file(operands[0]))
        ):
            operands.append("-")
        if (
            source is None
            and operands
            and operands[0].endswith(".yq")
            and self._is_file(operands[0])
        ):
            source = operands.pop(0)
        if source is not None:
            given = self._read(source).replace("\r\n", "\n")
        if not given and operands and operands[0] != "-" and not self._is_file(operands[0]):
            given = operands.pop(0)
        return given, operands

    def _is_file(self, name: str) -> bool:
        path = self.ctx.path(name or ".")
        return bool(name) and self.ctx.fs.exists(path) and not self.ctx.fs.is_dir(path)

    def _check(self) -> None:
        if self.in_place and (not self.files or self.files[0] == "-"):
            raise YqError(
                "write in place flag only applicable when giving an expression and at least one file"
            )
        if self.front_matter is not None:
            if self.front_matter.removeprefix("=") not in ("extract", "process"):
                raise YqError("invalid value for front-matter: " + self.front_matter)
            if not self.files:
                raise YqError(
                    "front matter flag only applicable when giving an expression and at least one file"
                )
        if self.in_place and self.args.value("split-exp"):
            raise YqError("write in place cannot be used with split file")
        if self.null_input and self.files:
            raise YqError("cannot pass files in when using null-input flag")

    def _formats(self) -> tuple[str, str]:
        read = canonical(self.args.value("input-format") or "auto")
        write = canonical(self.args.value("output-format") or "auto")
        if read == "auto":
            read = format_of_file(self.files[0]) if self.files else "yaml"
            if write == "auto" and read != "toml":
                write = read
        return read, "yaml" if write == "auto" else write

    # files

    def _read(self, name: str) -> str:
        if name == "-":
            data = self.ctx.stdin.read()
        else:
            try:
                data = self.ctx.fs.read_bytes(self.ctx.path(name))
            except OSError as error:
                raise _file_error(
                    error, "read" if self.ctx.fs.is_dir(self.ctx.path(name)) else "open", name
                ) from None
        self.ctx.budget.charge(len(data))
        nodes = max(data.count(b","), data.count(b"\n")) + data.count(
            b":"
        )  # about as many, in every format
        self.ctx.budget.charge(_NODE * nodes)
        return decode(data)

    def _text_of(self, name: str) -> str:
        text = self._read(name)
        if self.front_matter is None or name != self.files[0]:
            return text
        at = text.find("\n") + 1
        while at and not text.startswith("---", at):
            at = text.find("\n", at) + 1
        if not at:
            return text
        if self.front_matter.endswith("process"):
            self.appendix = text[at:]
        return text[:at]

    def _documents(self, name: str, index: int) -> Iterator[Node]:
        keep = not self.together or index == 0
        try:
            for node in decode_text(
                self._text_of(name), self.input_format, self.ctx.budget, keep_leading=keep
            ):
                node.filename = name
                node.file_index = index
                node.together = self.together
                yield node
        except YamlError as error:
            raise YqError(f"bad file '{name}': yaml: {error}") from None
        except YqError as error:
            if str(error).startswith(("open ", "read ")):
                raise
            raise YqError(f"bad file '{name}': {error}") from None

    # the run

    def run(self) -> int:
        """The exit status. Raises `YqError`."""
        parts: list[str] = []
        printer = Printer(
            self.machine,
            self.output_format,
            self.layout,
            parts.append if self.in_place else self._write,
        )
        printer.ends_with_nul = self.args.flag("nul-output")
        self._set_split(printer)
        if self.together:
            nodes = [
                node
                for index, name in enumerate(self.files)
                for node in self._documents(name, index)
            ]
            self._evaluate(nodes or [Node(SCALAR, "!!null")], printer)
        else:
            self._evaluate_each(printer)
        if self.appendix and self.output_format == "yaml":
            printer.write(self.appendix)
        if self.in_place:
            self.ctx.fs.write_bytes(self.ctx.path(self.files[0]), encode("".join(parts)))
        if self.args.flag("exit-status") and not printer.matched:
            raise YqError("no matches found")
        return 0

    def _evaluate_each(self, printer: Printer) -> None:
        count = 0
        for index, name in enumerate([] if self.null_input else self.files):
            for node in self._documents(name, index):
                count += 1
                self._evaluate([node], printer)
        if not count:
            self._evaluate([Node(SCALAR, "!!null")], printer)

    def _evaluate(self, nodes: list[Node], printer: Printer) -> None:
        printer.print_all(run_expression(self.machine, self.expression, nodes))

    def _write(self, text: str) -> None:
        self.ctx.stdout.write(encode(text))

    def _set_split(self, printer: Printer) -> None:
        text = self.args.value("split-exp")
        if text is None:
            return
        try:
            printer.split = compile_expression(text)
        except YqError as error:
            raise YqError(f"bad split document expression: {error}") from None

        def create(name: str, content: str) -> None:
            path = self.ctx.path(name)
            try:
                self.ctx.fs.makedirs(path.rpartition("/")[0] or "/")
                self.ctx.fs.write_bytes(path, encode(content))
            except OSError as error:
                raise _file_error(error, "open", name) from None

        printer.create = create


def _file_error(error: OSError, verb: str, name: str) -> YqError:
    reason = describe_os_error(error, "")
    return YqError(f"{verb} {name}: {reason[:1].lower()}{reason[1:]}")


def _arguments(ctx: CommandContext) -> Arguments:
    """What the words say. Raises `YqError`, in the words of the library that yq reads its options
    with.
    """
    try:
        return yq.parser().parse(list(_plain_switches(ctx.words)))
    except UsageError as error:
        found = _OPTION_ERROR.match(error.message)
        if found is None:
            raise YqError(error.message) from None
        if found[1]:
            raise YqError(f"unknown flag: {found[1]}") from None
        if found[2]:
            raise YqError(f"flag needs an argument: {found[2]}") from None
        letter = found[3] or found[4]
        cluster = next(
            (word for word in ctx.words if word[:1] == "-" and word[:2] != "--" and letter in word),
            "-" + letter,
        )
        kind = "flag needs an argument" if found[4] else "unknown shorthand flag"
        raise YqError(f"{kind}: '{letter}' in -{cluster[cluster.index(letter) :]}") from None


def _plain_switches(words: Sequence[str]) -> Iterator[str]:
    """The words with `--switch=true` as `--switch`, and without `--switch=false`."""
    for word in words:
        found = _SWITCH.fullmatch(word)
        if found is None:
            yield word
        elif found[2]:
            yield found[1]


def _boolean(args: Arguments, name: str, *, default: bool) -> bool:
    text = args.value(name)
    if text is None:
        return default
    text = text.removeprefix("=")
    word = text.lower()
    if word not in ("", "true", "false", "t", "f", "1", "0"):
        shown = "-r, --unwrapScalar" if name == "unwrapScalar" else "--" + name
        raise YqError(
            f'invalid argument "{text}" for "{shown}" flag: strconv.ParseBool: parsing "{text}": invalid syntax'
        )
    return word in ("", "true", "t", "1")


def _indent(args: Arguments) -> int:
    text = args.value("indent")
    if text is None:
        return 2
    text = text.removeprefix("=")
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise YqError(
            f'invalid argument "{text}" for "-I, --indent" flag: strconv.ParseInt: parsing "{text}": invalid syntax'
        )
    return min(int(text), 100)


@command(
    "yq",
    usage="""
    Usage: yq [COMMAND] [OPTION]... [EXPRESSION] [FILE]...
    Apply an expression to YAML or JSON (TOML is read only). COMMAND is eval (e, the default:
    each document by itself) or eval-all (ea: all documents together). Without a FILE, or with
    "-", standard input is read. The first word is the expression unless it is the name of a
    file.

    What an expression does not touch stays as it was: comments, anchors, quotes, the order
    of keys.

      -e, --exit-status            1 if there is no result, or only null and false
          --expression=EXPRESSION  the expression
          --from-file=FILE         take the expression from FILE
      -f, --front-matter=ACTION    the first file begins with YAML between lines "---": extract it
                                   alone, or process it and keep the rest
      -I, --indent=NUM             blanks for a level (default 2; 0 for JSON on one line)
      -i, --inplace                write the results to the first file
      -p, --input-format=FORMAT    yaml, json, toml, base64 (default: by the first file's name,
                                   else yaml)
      -M, --no-colors              no colors (always so here)
      -N, --no-doc                 no --- between documents
      -0, --nul-output             a NUL after each result, not a newline
      -n, --null-input             no input: the expression makes the document
      -o, --output-format=FORMAT   yaml, json, base64 (default: as the input, YAML for TOML)
      -P, --prettyPrint            block style without quotes where they are not needed
      -s, --split-exp=EXPRESSION   write each result to a file that EXPRESSION names ($index counts)
      -r, --unwrapScalar[=BOOL]    strings without quotes (the default but for JSON)
      -V, --version                display the version and exit
      -h, --help                   display this help and exit
    """,
    raw=True,
)
def yq(ctx: CommandContext, _args: Arguments) -> int:
    try:
        args = _arguments(ctx)
        if args.flag("help"):
            ctx.stdout.write(encode(yq.usage))
            return 0
        if args.flag("version"):
            ctx.print("yq (https://github.com/mikefarah/yq/) version v4.44.1")
            return 0
        return _Run(ctx, args).run()
    except YqError as error:
        # yq's own messages do not begin with its name
        ctx.stderr.write(encode(f"Error: {error}\n"))
        return 1
    except RecursionError:
        raise LimitReached("depth") from None
