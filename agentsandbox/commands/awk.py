"""`awk` (POSIX 1003.1-2017, gawk 5.2): scan and transform text by patterns and actions."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.errors import UsageError
from agentsandbox.streams import encode

_USAGE = """
Usage: awk [OPTION]... 'PROGRAM' [FILE | VAR=VALUE]...
  or:  awk [OPTION]... -f PROGFILE [FILE | VAR=VALUE]...
Run an awk program over each FILE, or over standard input.

  -f, --file=PROGFILE         read the program from PROGFILE; may be repeated
  -F, --field-separator=FS    the field separator
  -v, --assign=VAR=VALUE      assign VAR before BEGIN
  -e, --source=TEXT           program text, also beside -f
  -E, --exec=FILE             as -f, and no options after it
  -i, --include=FILE          program text to include first; "inplace" edits each FILE in place
  -O, --optimize              (the default)
  -s, --no-optimize           (nothing changes)
  -r, --re-interval           allow {n,m} in regular expressions (the default)
  -V, --version               print the version and exit
  -h, --help                  display this help and exit
"""


def _run(ctx: CommandContext, args: Arguments) -> int:
    from agentsandbox.languages.awk.program import run_program

    if args.flag("version"):
        ctx.print("GNU Awk 5.2.1, as agentsandbox understands it")
        return 0
    if args.flag("help"):
        ctx.stdout.write(encode(awk.usage))
        return 0
    sources: list[tuple[bool, str]] = []
    variables: list[str] = []
    inplace = False
    for key, value in args.given:
        text = value or ""
        if key in ("file", "exec"):
            sources.append((True, text))
        elif key == "source":
            sources.append((False, text))
        elif key == "include" and text in ("inplace", "inplace.awk"):
            inplace = True
        elif key == "include":
            sources.insert(0, (True, text))
        elif key == "assign":
            variables.append(text)
        elif key == "field-separator":
            variables.append(f"FS={text}")
    operands = list(args.operands)
    if not any(key in ("file", "exec", "source") for key, _ in args.given):
        if not operands:
            raise UsageError("no program text at all!")
        sources.append((False, operands.pop(0)))
    return run_program(ctx, sources, variables, operands, inplace)


awk = command("awk", _USAGE, permute=False, usage_status=1)(_run)
