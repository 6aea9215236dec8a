"""`yq` (the v4 command line of mikefarah/yq) on the jq language: YAML, JSON, XML, CSV, TSV, properties, TOML."""

from __future__ import annotations

import posixpath
import re

from agentsandbox.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.commands._yq_formats import canonical, read_values, write_value
from agentsandbox.commands._yq_patch import patched
from agentsandbox.errors import CommandError, LimitReached
from agentsandbox.languages.jq.machine import Break, Halt, Machine
from agentsandbox.languages.jq.program import CompileError, compile_program
from agentsandbox.languages.jq.values import JqError
from agentsandbox.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agentsandbox.languages.jq.values import Value

_PYTHON_DEPTH = 5000
_PRELUDE = """
def keys: keys_unsorted;
def sort_keys(f): f |= (def s: if type == "object" then to_entries | sort_by(.key) | from_entries else . end; s);
def explode(f): .;
def with(p; f): p |= f;
def upcase: ascii_upcase;
def downcase: ascii_downcase;
def to_json: tojson;
def from_json: fromjson;
def to_number: tonumber;
def to_string: tostring;
def omit(names): reduce names[] as $n (.; del(.[$n]));
def pick(names): . as $top | (names | type) as $t | reduce names[] as $n ({}; if $top | has($n) then .[$n] = $top[$n] else . end);
def tag: type | {object: "!!map", array: "!!seq", string: "!!str", boolean: "!!bool", null: "!!null"}[.] // "!!num";
"""
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_ENV = re.compile(r"\b(str)?env\(\s*([A-Za-z_]\w*)\s*\)")
_FILE_INDEX = re.compile(r"select\(\s*(?:fileIndex|file_index|fi)\s*==\s*([0-9]{1,4})\s*\)")
_IREDUCE = re.compile(r"\.\s+as\s+(\$\w+)\s+ireduce\s*\(")


def _rewritten(expression: str, together: bool) -> str:
    """The expression in jq's words, outside its strings."""

    def outside(text: str) -> str:
        text = _ENV.sub(lambda found: f'(env["{found[2]}"]' + (")" if found[1] else " | . as $e | try fromjson catch $e)"), text)
        if together:
            text = _FILE_INDEX.sub(lambda found: f"$__files[{found[1]}][]", text)
            text = _IREDUCE.sub(lambda found: f"reduce $__files[][] as {found[1]} (", text)
        return text

    parts: list[str] = []
    at = 0
    for found in _STRING.finditer(expression):
        parts.append(outside(expression[at : found.start()]))
        parts.append(found[0])
        at = found.end()
    parts.append(outside(expression[at:]))
    return "".join(parts)


class _Run:
    """One call of yq."""

    def __init__(self, ctx: CommandContext, args: Arguments) -> None:
        self.ctx = ctx
        self.args = args
        operands = list(args.operands)
        self.together = bool(operands) and operands[0] in ("ea", "eval-all")
        if operands and operands[0] in ("e", "eval", "ea", "eval-all"):
            operands.pop(0)
        self.expression, self.files = self._split(operands)
        self.in_place = args.flag("inplace")
        self.null_input = args.flag("null-input")
        self.input_format = canonical(args.value("input-format") or "auto")
        self.output_format = "json" if args.flag("tojson") else canonical(args.value("output-format") or "auto")
        self.indent = _indent(args)
        unwrap = args.value("unwrapScalar")
        self.unwrap = unwrap is None or unwrap in ("", "true")
        self.found = False
        self.truth = False

    def _split(self, operands: list[str]) -> tuple[str, list[str]]:
        """The expression and the files: without an expression, the first operand is a file that exists."""
        given = self.args.value("expression")
        from_file = self.args.value("from-file")
        if from_file is not None:
            given = self._read(from_file)
        if given is not None:
            return given, operands
        if not operands:
            return ".", []
        first = operands[0]
        if first != "-" and (not self.ctx.fs.exists(self.ctx.path(first or ".")) or first == "."):
            return first, operands[1:]
        return ".", operands

    def _read(self, name: str) -> str:
        if name == "-":
            data = self.ctx.stdin.read()
        else:
            try:
                data = self.ctx.fs.read_bytes(self.ctx.path(name))
            except OSError as error:
                reason = describe_os_error(error, "")
                raise CommandError(f"Error: open {name}: {reason[:1].lower()}{reason[1:]}", 1) from None
        self.ctx.budget.charge(len(data))
        return str(data, "utf-8", "replace")

    def _format_of(self, name: str) -> str:
        if self.input_format != "auto":
            return self.input_format
        extension = posixpath.splitext(name)[1][1:].lower()
        known = {"json": "json", "csv": "csv", "tsv": "tsv", "xml": "xml", "toml": "toml", "properties": "props"}
        return known.get(extension, "yaml")

    def _compile(self, files: list[Value], name: str) -> Callable[[Value], Iterable[Value]]:
        ctx = self.ctx
        machine = Machine(
            ctx.budget,
            environment=ctx.env,
            clock=ctx.host.clock,
            warn=lambda text: ctx.stderr.write(encode(text)),
            named={"__files": files},
        )
        machine.filename = lambda: name
        source = _PRELUDE + "def filename: input_filename;\n" + _rewritten(self.expression or ".", self.together)
        try:
            return compile_program(source, machine)
        except CompileError as error:
            message = str(error).split(" at <top-level>")[0].removeprefix("jq: error: ")
            raise CommandError(f"Error: {message.splitlines()[0]}", 1) from None

    def run(self) -> int:
        """The exit status."""
        if self.in_place and not self.files:
            raise CommandError("Error: write in place flag only applicable when giving an expression and at least one file", 1)
        if self.null_input:
            self.ctx.stdout.write(encode(self._results([None], "yaml", "-")))
        elif self.together:
            self._run_together()
        else:
            first = True
            for name in self.files or ["-"]:
                format = self._format_of(name)
                source = self._read(name)
                text = self._results(list(read_values(source, format, name, self.ctx.budget)), format, name, source=source)
                if self.in_place:
                    self.ctx.fs.write_bytes(self.ctx.path(name), encode(text))
                else:
                    separator = "---\n" if not first and self._output(format) == "yaml" and not self.args.flag("no-doc") else ""
                    self.ctx.stdout.write(encode(separator + text))
                first = False
        if self.args.flag("exit-status") and not (self.found and self.truth):
            raise CommandError("Error: no matches found", 1)
        return 0

    def _run_together(self) -> None:
        names = self.files or ["-"]
        budget = self.ctx.budget
        documents = [list(read_values(self._read(name), self._format_of(name), name, budget)) for name in names]
        single = "$__files" in _rewritten(self.expression, together=True)
        values: list[Value] = [None] if single else [value for part in documents for value in part]
        text = self._results(values, self._format_of(names[0]), names[0], documents)
        if self.in_place:
            self.ctx.fs.write_bytes(self.ctx.path(names[0]), encode(text))
        else:
            self.ctx.stdout.write(encode(text))

    def _output(self, input_format: str) -> str:
        if self.output_format != "auto":
            return self.output_format
        return "yaml" if self.args.flag("prettyPrint") and input_format == "yaml" else input_format

    def _results(
        self, values: list[Value], input_format: str, name: str, files: list[Value] | None = None, *, source: str | None = None
    ) -> str:
        outputs = self._compile(files or [], name)
        format = self._output(input_format)
        parts: list[str] = []
        last: Value = None
        for at, value in enumerate(values):
            before = len(parts)
            for result in self._guarded(outputs, value):
                self.found = True
                self.truth = self.truth or (result is not None and result is not False)
                parts.append(write_value(result, format, self.indent, self.unwrap, self.ctx.budget))
                last = result
                self.ctx.budget.charge(sum(map(len, parts[-1:])))
            if at and before and len(parts) > before and format == "yaml" and not self.args.flag("no-doc"):
                parts.insert(before, "---\n")
        if source is not None and len(parts) == len(values) == 1 and format == input_format == "yaml" and self._keeps_style():
            kept = patched(source, values[0], last, self.indent, self.ctx.budget)
            if kept is not None:
                return kept
        return "".join(parts)

    def _keeps_style(self) -> bool:
        return not self.args.flag("prettyPrint") and "explode" not in self.expression

    def _guarded(self, outputs: Callable[[Value], Iterable[Value]], value: Value) -> Iterable[Value]:
        try:
            yield from outputs(value)
        except JqError as error:
            message = error.value if isinstance(error.value, str) else str(error.value)
            raise CommandError(f"Error: {message}", 1) from None
        except Break:
            raise CommandError("Error: break", 1) from None
        except Halt as halt:
            raise CommandError("", halt.status) from None


def _indent(args: Arguments) -> int:
    text = args.value("indent")
    if text is None:
        return 2
    text = text.removeprefix("=")
    if not (text.isascii() and text.isdigit()) or int(text[:4]) > 20:
        raise CommandError(f'Error: invalid argument "{text}" for "-I, --indent" flag', 1)
    return int(text)


@command(
    "yq",
    usage="""
    Usage: yq [COMMAND] [OPTION]... [EXPRESSION] [FILE]...
    Apply an expression to YAML, JSON, XML, CSV, TSV, properties or TOML. COMMAND is eval (e,
    the default: each document by itself) or eval-all (ea: all files together).

    The expression is jq's language with yq's names for what differs: env(NAME), strenv(NAME),
    sort_keys, with, pick, omit, select(fileIndex == N), ". as $item ireduce". Where the
    result is the document itself, changed here and there, its comments, anchors and styles
    stay; in other results only values do. Operators for comments, styles, tags, anchors and
    lines of the source are not known.

      -e, --exit-status            1 if there is no result, or only null and false
      -i, --inplace                write the result to the file
      -I, --indent=NUM             blanks for a level (default 2; 0 for JSON on one line)
      -j, --tojson                 the same as -o=json
      -n, --null-input             no input: the expression makes the document
      -N, --no-doc                 no --- between documents
      -o, --output-format=FORMAT   yaml, json, props, csv, tsv, xml, toml (default: as the input)
      -p, --input-format=FORMAT    the same for the input (default: by the file's name, else yaml)
      -P, --prettyPrint            block style (always so here)
      -r, --unwrapScalar[=BOOL]    strings without quotes (the default)
          --expression=EXPRESSION  the expression
          --from-file=FILE         take the expression from FILE
      -M, --no-colors              no colors (always so here)
      -V, --version                display the version and exit
          --help                   display this help and exit
    """,
)
def yq(ctx: CommandContext, args: Arguments) -> int:
    if args.flag("version"):
        ctx.print("yq (https://github.com/mikefarah/yq/) version v4.44.1")
        return 0
    try:
        return _Run(ctx, args).run()
    except CommandError as error:
        # yq's own messages do not begin with its name
        if error.message:
            ctx.stderr.write(encode(error.message + "\n"))
        return error.status
    except RecursionError:
        raise LimitReached("depth") from None
