"""`sed` (POSIX 1003.1-2017, GNU sed 4.9): edit text line by line."""

from __future__ import annotations

from agentsandbox.commands._text.lines import short_blocks
from agentsandbox.commands.sed.blocks import compile_blocks
from agentsandbox.commands.sed.files import Files
from agentsandbox.commands.sed.nodes import Script, SedError
from agentsandbox.commands.sed.output import Settings
from agentsandbox.commands.sed.parser import Parser
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.contract.usage import OptionParser
from agentsandbox.errors import UsageError
from agentsandbox.kernel.caching import lru_cache
from agentsandbox.kernel.streams import bytewise, decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.commands.sed.blocks import Kernel

_USAGE = """
Usage: sed [OPTION]... {script-only-if-no-other-script} [input-file]...
Edit the lines of each FILE, or of standard input, by a script.

  -b, --binary                 do not translate line ends, which changes nothing here
  -n, --quiet, --silent        print lines only when the script says so
  -e, --expression=SCRIPT      add SCRIPT to the commands to run
  -f, --file=SCRIPT-FILE       add the commands in SCRIPT-FILE
  -i[SUFFIX], --in-place[=SUFFIX]  edit files in place; with SUFFIX, keep a backup
  -l, --line-length=N          columns at which the command l folds lines
  -E, -r, --regexp-extended    use extended regular expressions
  -s, --separate               take each file for a stream of its own
  -u, --unbuffered             read and write line by line
  -z, --null-data              lines end in a 0 byte, not in a newline
      --help                   display this help and exit
      --version                print the version and exit
"""

_MANNERS = Manners(
    pure=True,
    long_options="""
        binary regexp-extended debug expression file in-place line-length null-data
        zero-terminated quiet posix silent sandbox separate unbuffered version help
        follow-symlinks
    """,
    read_error=("NAME: read error on stdin: REASON", 4),
    write_error=("NAME: couldn't flush stdout: REASON", 4),
    closed_write_error=("NAME: couldn't close stdout: REASON", 4),
)
_PARSER = OptionParser(_USAGE, name="sed", long_options=_MANNERS.long_options)
_SHORT = 2048
"""Characters of a script up to which it is kept parsed."""


@command("sed", usage=_USAGE, raw=True, manners=_MANNERS)
def sed(ctx: CommandContext, args: Arguments) -> int:
    words = args.operands
    try:
        args = _PARSER.parse(words, posix="POSIXLY_CORRECT" in ctx.env)
        if args.flag("help"):
            ctx.stdout.write(encode(_USAGE.lstrip("\n")))
            return 0
        if args.flag("version"):
            ctx.print("sed (GNU sed) 4.9")
            return 0
        if not args.operands and not args.flag("expression") and not args.flag("file"):
            raise UsageError("")
    except UsageError as error:
        message = f"{ctx.name}: {error.message}\n" if error.message else ""
        ctx.stderr.write(encode(message + _USAGE.lstrip("\n")))
        return error.status
    has_empty_word = args.flag("in-place") and args.operands[:1] == [""]
    status = _run(ctx, args)
    if status and has_empty_word and not args.value("in-place"):
        ctx.advise_macos(
            "-i '' is macOS's; GNU sed takes a suffix in the same word only: sed -i 's/a/b/' FILE"
        )
    return status


def _run(ctx: CommandContext, args: Arguments) -> int:
    files: Files | None = None
    try:
        script = _parse(ctx, args)
        settings = _settings(args, quiet=script.quiet, bytewise=ctx.is_bytewise())
        files = Files(ctx, settings, late=bool(args.operands) and not settings.unbuffered)
        files.open_outputs(script)
        if args.flag("in-place"):
            from agentsandbox.commands.sed.in_place import edit_in_place

            kernel = _kernel(ctx, script, settings)
            return edit_in_place(ctx, args, script, settings, files, kernel)
        return _edit(ctx, args, script, settings, files)
    except SedError as error:
        if files is not None:
            files.flush()
        ctx.stderr.write(encode(f"{ctx.name}: {error.message}\n"))
        return error.status
    finally:
        if files is not None:
            files.close()


def _settings(args: Arguments, *, quiet: bool, bytewise: bool) -> Settings:
    length = args.value("line-length", "70") or ""
    width = int(length[:9]) if length.isascii() and length.isdigit() else 0
    return Settings(
        quiet=quiet or args.flag("quiet"),
        null_lines=args.flag("null-data"),
        unbuffered=args.flag("unbuffered"),
        line_length=0 if width == 1 else width,
        bytewise=bytewise,
    )


def _parse(ctx: CommandContext, args: Arguments) -> Script:
    as_bytes = ctx.is_bytewise()
    as_is: Callable[[str], str] = bytewise if as_bytes else str
    dialect = (args.flag("regexp-extended"), as_bytes)
    if not args.flag("file"):
        texts = args.values("expression") or [args.operands.pop(0)]
        parse = _parse_cached if sum(map(len, texts)) < _SHORT else _parse_texts
        return parse(tuple(map(as_is, texts)), dialect)
    parser = _parser(dialect)
    for key, value in args.given:
        if key == "expression":
            parser.feed(as_is(value or ""))
        elif key == "file":
            text = as_is(_read_script(ctx, value or ""))
            parser.feed(text, value)
    return parser.finish()


def _parser(dialect: tuple[bool, ...]) -> Parser:
    extended, as_bytes = dialect
    return Parser(extended=extended, bytewise=as_bytes)


def _parse_texts(texts: tuple[str, ...], dialect: tuple[bool, ...]) -> Script:
    parser = _parser(dialect)
    for text in texts:
        parser.feed(text)
    return parser.finish()


_parse_cached = lru_cache(maxsize=128)(_parse_texts)


def _read_script(ctx: CommandContext, name: str) -> str:
    try:
        source = ctx.open_input(name)
        pieces: list[bytes] = []
        while block := source.read(65536):
            pieces.append(block)
            ctx.budget.charge(len(pieces) * 65536)
    except IsADirectoryError:
        return ""
    except OSError as error:
        raise SedError(f"couldn't open file {describe_os_error(error, name)}", 4) from None
    return decode(b"".join(pieces))


def _kernel(ctx: CommandContext, script: Script, settings: Settings) -> Kernel | None:
    """Return the function that edits whole blocks of lines; None if the script needs an editor."""
    return None if settings.bytewise else compile_blocks(script, settings, ctx.budget)


def _edit(
    ctx: CommandContext, args: Arguments, script: Script, settings: Settings, files: Files
) -> int:
    """Edit one stream of all operands, or with -s one for each; return the exit status."""
    operands = args.operands or ["-"]
    output = files.standard_output
    kernel = _kernel(ctx, script, settings)
    if kernel is not None and not args.flag("separate") and not settings.unbuffered:
        for _, source in files.sources(operands):
            for block in short_blocks(ctx.budget, source):
                text, complete = kernel(block)
                if text is not None:
                    output.line(text, complete=complete)
                    output.flush()
        return files.status
    from agentsandbox.commands.sed.editing import edit_streams

    groups = [[name] for name in operands] if args.flag("separate") else [operands]
    return edit_streams(script, settings, files, groups)
