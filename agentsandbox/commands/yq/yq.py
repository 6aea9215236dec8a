"""`yq` (the v4 command line of mikefarah/yq): expressions over YAML and JSON."""

from __future__ import annotations

import re

from agentsandbox.commands.yq import operators
from agentsandbox.commands.yq.evaluation import Context, Machine
from agentsandbox.commands.yq.json_format import json_text, read_json
from agentsandbox.commands.yq.language import parse_expression
from agentsandbox.commands.yq.nodes import MAPPING, SCALAR, Node, YamlError, YqError
from agentsandbox.commands.yq.paths import descendants, explode
from agentsandbox.commands.yq.reader import SEPARATOR, read_yaml
from agentsandbox.commands.yq.writer import write_yaml
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.errors import LimitReached, UsageError
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_UNKNOWN_OPTION = re.compile(r"unrecognized option '(--[^=']*)|invalid option -- '(.)'")
_FORMATS = {
    **dict.fromkeys(("yaml", "y", "yml"), "yaml"),
    **dict.fromkeys(("json", "j"), "json"),
    **dict.fromkeys(("auto", "a", ""), "auto"),
}
_ELSEWHERE = frozenset(
    "props p properties csv c tsv t xml x base64 uri toml sh shell s lua l ini i hcl h tf kyaml ky "
    "json5".split()
)
"""Formats of the real yq."""
_AMBIGUOUS = re.compile(r"(?:y|yes|n|no|on|off)\Z", re.IGNORECASE)
_NODE_BYTES = 32
"""What a node is charged; it takes some 400 bytes."""


class _Run:
    """One call of yq."""

    def __init__(self, ctx: CommandContext, args: Arguments) -> None:
        self.ctx = ctx
        self.args = args
        operands = list(args.operands)
        self.joined = bool(operands) and operands[0] in ("ea", "eval-all")
        if operands and operands[0] in ("e", "eval", "ea", "eval-all"):
            operands.pop(0)
        self.in_place = args.flag("inplace")
        self.null_input = args.flag("null-input")
        text, self.files = self._split(operands)
        self._check()
        self.input_format, output_format = self._formats()
        self.machine = Machine(ctx.budget, ctx.env)
        self.parts: list[str] = []
        self.printer = _Printer(self.machine, output_format, args, self._write)
        self.expression = parse_expression(text)

    def _write(self, text: str) -> None:
        if self.in_place:
            self.parts.append(text)
        else:
            self.ctx.stdout.write(encode(text))

    # operands

    def _split(self, operands: list[str]) -> tuple[str, list[str]]:
        """Return the expression and the files: the first operand is a file if it exists."""
        given = self.args.value("expression") or ""
        alone = len(operands) == 1 and operands[0] != "-" and not self._is_file(operands[0])
        if not self.null_input and (not operands or alone):
            operands.append("-")
        if not given and operands and operands[0] != "-" and not self._is_file(operands[0]):
            given = operands.pop(0)
        return given, operands

    def _is_file(self, name: str) -> bool:
        path = self.ctx.path(name or ".")
        return bool(name) and self.ctx.fs.exists(path) and not self.ctx.fs.is_dir(path)

    def _check(self) -> None:
        if self.in_place and (not self.files or self.files[0] == "-"):
            needed = "an expression and at least one file"
            raise YqError(f"write in place flag only applicable when giving {needed}")
        if self.null_input and self.files:
            raise YqError("cannot pass files in when using null-input flag")

    def _formats(self) -> tuple[str, str]:
        read = _format(self.args.value("input-format") or "auto")
        write = _format(self.args.value("output-format") or "auto")
        if self.args.flag("tojson"):
            write = "json"
        if read == "auto":
            name = self.files[0].rpartition("/")[2] if self.files else ""
            extension = name.rpartition(".")[2].lower() if "." in name else ""
            known = len(extension) > 1 and extension in _ELSEWHERE | _FORMATS.keys()
            read = _format(extension) if known else "yaml"
            write = read if write == "auto" else write
        return read, "yaml" if write == "auto" else write

    # files

    def _read(self, name: str) -> str:
        if name == "-":
            data = self.ctx.stdin.read()
        else:
            path = self.ctx.path(name)
            try:
                data = self.ctx.fs.read_bytes(path)
            except OSError as error:
                verb = "read" if self.ctx.fs.is_dir(path) else "open"
                reason = describe_os_error(error, "")
                raise YqError(f"{verb} {name}: {reason[:1].lower()}{reason[1:]}") from None
        self.ctx.budget.charge(len(data))
        nodes = max(data.count(b","), data.count(b"\n")) + data.count(b":")  # about
        self.ctx.budget.charge(_NODE_BYTES * nodes)
        return decode(data)

    def _documents(self, name: str, index: int) -> Iterator[Node]:
        text = self._read(name)
        budget = self.ctx.budget
        keep_leading = not self.joined or index == 0
        try:
            for node in (
                read_json(text, budget)
                if self.input_format == "json"
                else read_yaml(text, budget, keep_leading=keep_leading)
            ):
                node.filename, node.file_index, node.joined = name, index, self.joined
                yield node
        except YamlError as error:
            raise YqError(f"bad file '{name}': yaml: {error}") from None
        except YqError as error:
            raise YqError(f"bad file '{name}': {error}") from None

    def _all_documents(self) -> Iterator[Node]:
        for index, name in enumerate(() if self.null_input else self.files):
            yield from self._documents(name, index)

    # the run

    def run(self) -> int:
        """Return the exit status. Raises `YqError`."""
        if self.joined:
            self._evaluate(list(self._all_documents()) or [Node(SCALAR, "!!null")])
        else:
            count = 0
            for node in self._all_documents():
                count += 1
                self._evaluate([node])
            if not count:
                self._evaluate([Node(SCALAR, "!!null")])
        if self.in_place:
            path = self.ctx.path(self.files[0])
            self.ctx.fs.write_bytes(path, encode("".join(self.parts)))
        if self.args.flag("exit-status") and not self.printer.matched:
            raise YqError("no matches found")
        return 0

    def _evaluate(self, nodes: list[Node]) -> None:
        try:
            results = self.machine.evaluate(Context(nodes, {}), self.expression).nodes
            for node in results:
                self.printer.print(node)
        except YamlError as error:
            raise YqError(f"yaml: {error}") from None


class _Printer:
    """Prints results and what separates them. `matched`: one was neither null nor false."""

    def __init__(
        self, machine: Machine, format: str, args: Arguments, write: Callable[[str], None]
    ) -> None:
        self.machine = machine
        self.format = format
        self.write = write
        self.indent = _indent(args)
        self.unwrap = _unwraps(args, format)
        self.pretty = args.flag("prettyPrint")
        self.separators = not args.flag("no-doc")
        self.matched = False
        self._first: Node | None = None
        self._previous = 0

    def print(self, node: Node) -> None:
        """Write a result. Raises `YqError` and `YamlError`."""
        if self.pretty:
            _make_pretty(self.machine, node)
        text = self._separator(node) + self._text(node)
        self.matched = self.matched or not (
            node.tag == "!!null" or (node.tag == "!!bool" and node.value == "false")
        )
        self.write(text)

    def _separator(self, node: Node) -> str:
        root = node.root()
        if self._first is None:
            self._first = root
            self._previous = root.document
        apart = self._previous != root.document or self._first.file_index != root.file_index
        self._previous = root.document
        wanted = apart and self.separators and self.format == "yaml"
        return "---\n" if wanted and not node.leading.startswith(SEPARATOR) else ""

    def _text(self, node: Node) -> str:
        if node.kind == SCALAR and self.unwrap:
            value = node.value + "\n" if node.value or not node.leading else ""
            return (self._outside(node.leading) if self.format == "yaml" else "") + value
        budget = self.machine.budget
        if self.format == "json":
            node = node.copy(self.machine.meter)
            explode(self.machine, node)
            return json_text(node, self.indent, budget) + "\n"
        text = write_yaml(node, self.indent, budget)
        return self._outside(node.leading) + text + self._outside(node.foot)

    def _outside(self, text: str) -> str:
        """Return comments and separators around a document as they are printed."""
        parts: list[str] = []
        for line in text.splitlines():
            if line == SEPARATOR:
                parts.append("---\n" if self.separators else "")
            else:
                bare = line.lstrip()
                parts.append(line + "\n" if not bare or bare[0] in "#%" else f"# {line}\n")
        return "".join(parts)


def _make_pretty(machine: Machine, node: Node) -> None:
    """Give a document block style, without quotes but where a reader of YAML 1.1 needs them."""
    for one in descendants(machine, [node]):
        for part in [one, *(one.content[::2] if one.kind == MAPPING else ())]:
            if part.tag != "!!str" or not _AMBIGUOUS.match(part.value):
                part.style = 0


def _format(name: str) -> str:
    name = name.removeprefix("=")
    if name in _ELSEWHERE:
        raise YqError(f"format '{name}' is not supported by this yq (D-yq)")
    if name not in _FORMATS:
        raise YqError(f"unknown format '{name}' please use [yaml|json]")
    return _FORMATS[name]


def _arguments(ctx: CommandContext) -> Arguments:
    """Return the options and operands. Raises `YqError` in the words of yq's own library."""
    try:
        return yq.parser().parse(ctx.words)
    except UsageError as error:
        found = _UNKNOWN_OPTION.match(error.message)
        if found is None:
            raise YqError(error.message) from None
        if found[1]:
            raise YqError(f"unknown flag: {found[1]}") from None
        raise YqError(f"unknown shorthand flag: '{found[2]}' in -{found[2]}") from None


def _unwraps(args: Arguments, format: str) -> bool:
    """Whether strings are printed without quotes."""
    text = (args.value("unwrapScalar") or "true").removeprefix("=")
    if text not in ("true", "false"):
        raise _invalid(text, "-r, --unwrapScalar", "ParseBool")
    return text == "true" and (format == "yaml" or args.flag("unwrapScalar"))


def _indent(args: Arguments) -> int:
    text = (args.value("indent") or "2").removeprefix("=")
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise _invalid(text, "-I, --indent", "ParseInt")
    return min(int(text), 100)


def _invalid(text: str, option: str, function: str) -> YqError:
    return YqError(
        f'invalid argument "{text}" for "{option}" flag: '
        f'strconv.{function}: parsing "{text}": invalid syntax'
    )


@command(
    "yq",
    usage="""
    Usage: yq [COMMAND] [OPTION]... [EXPRESSION] [FILE]...
    Apply an expression to YAML or JSON. COMMAND is eval (e, the default: each document by
    itself) or eval-all (ea: all documents together). Without a FILE, or with "-", standard
    input is read. The first word is the expression unless it is the name of a file.

    What an expression does not touch stays as it was: comments, anchors, quotes, the order
    of keys.

      -e, --exit-status            1 if there is no result, or only null and false
          --expression=EXPRESSION  the expression
      -I, --indent=NUM             blanks for a level (default 2; 0 for JSON on one line)
      -i, --inplace                write the results to the first file
      -p, --input-format=FORMAT    yaml, json (default: by the first file's name, else yaml)
      -M, --no-colors              no colors (always so here)
      -N, --no-doc                 no --- between documents
      -n, --null-input             no input: the expression makes the document
      -o, --output-format=FORMAT   yaml, json (default: as the input)
      -P, --prettyPrint            block style without quotes where they are not needed
      -j, --tojson                 the same as -o json
      -r, --unwrapScalar[=BOOL]    strings without quotes (the default but for JSON)
      -V, --version                display the version and exit
      -h, --help                   display this help and exit
    """,
    raw=True,
)
def yq(ctx: CommandContext, _args: Arguments) -> int:
    assert operators  # importing it fills the table of operators
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
