"""`shasum` (of Perl): print or check SHA digests of any size."""

from __future__ import annotations

import re

from agentsandbox.commands.checksums.checking import Check, digest_file
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import SILENT, Manners
from agentsandbox.contract.usage import OptionParser
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.streams import encode

_ALGORITHMS = {
    "1": "sha1",
    "224": "sha224",
    "256": "sha256",
    "384": "sha384",
    "512": "sha512",
    "512224": "sha512_224",
    "512256": "sha512_256",
}
_TRUNCATED = {"sha512_224": 56, "sha512_256": 64}
_BY_LENGTH = {40: "1", 56: "224", 64: "256", 96: "384", 128: "512"}
_TAGGED = re.compile(r"[ \t]*(\\?)SHA(\S+) \((.+)\) = ([0-9a-fA-F]+)")
_PLAIN = re.compile(r"[ \t]*(\\?)([0-9a-fA-F]+)[ \t][ *](.+)")
_CHECK_ONLY = ("warn", "status", "quiet", "ignore-missing", "strict")
_HINT = "Type shasum -h for help"


class _ShaCheck(Check):
    """`--check`: the length of each digest says its algorithm."""

    label = "SHA"

    def parse(self, line: str) -> tuple[str, int, str, str] | None:
        if re.match(r"[ \t]*\\?SHA", line):
            found = _TAGGED.match(line)
            if found is None:
                return None
            escaped, label, name, digest = found.groups()
            algorithm = _ALGORITHMS.get(label.replace("/", ""))
        else:
            found = _PLAIN.match(line)
            if found is None:
                return None
            escaped, digest, name = found.groups()
            algorithm = _ALGORITHMS.get(_BY_LENGTH.get(len(digest), ""))
            if len(digest) == _TRUNCATED.get(self.algorithm or ""):
                algorithm = self.algorithm
        if algorithm is None:
            return None
        if escaped:
            name = re.sub(r"\\([\\n])", lambda each: "\n" if each[1] == "n" else "\\", name)
        return algorithm, 0, digest, name


def _print(ctx: CommandContext, args: Arguments, name: str, size: str) -> bool:
    """Print the digest of a file; whether it could be read."""
    try:
        digest = digest_file(ctx, ctx.open_input(name), _ALGORITHMS[size], 0)
    except OSError as error:
        ctx.warn(f"{name}: {describe_os_error(error, '')}")
        return False
    escaped = "\\" if re.search(r"[\n\\]", name) else ""
    shown = name.replace("\\", "\\\\").replace("\n", "\\n")
    if args.flag("tag"):
        label = size.replace("5122", "512/2")
        ctx.print(f"{escaped}SHA{label} ({shown}) = {digest}")
    else:
        ctx.print(f"{escaped}{digest} {'*' if args.flag('binary') else ' '}{shown}")
    return True


def _verify(ctx: CommandContext, args: Arguments, name: str, size: str) -> bool:
    """Verify all lines of a list; whether all are good."""
    try:
        source = ctx.open_input(name)
    except OSError as error:
        raise CommandError(f"{name}: {describe_os_error(error, '')}", error.errno or 2) from None
    good = _ShaCheck(ctx, args, _ALGORITHMS[size], 0, name).run(source)
    ctx.status = 0  # a wrong list is no error of its own
    return good


@command(
    "shasum",
    manners=Manners(unreadable_is_empty=("", ""), write_error=SILENT),
    usage="""
    Usage: shasum [OPTION]... [FILE]...
    Print or check SHA digests.

    With no FILE, or when FILE is -, read standard input.

      -a, --algorithm=SIZE  1 (default), 224, 256, 384, 512, 512224, 512256
      -b, --binary          mark the files as binary (*)
      -c, --check           read digests from the FILEs and check them
          --tag             print lines as BSD does
      -t, --text            mark the files as text (the default)

    Options for --check:

          --ignore-missing  do not fail for missing files
      -q, --quiet           do not print OK for each good file
      -s, --status          print nothing, only set the status
          --strict          fail for lines that are not well formed
      -w, --warn            warn about lines that are not well formed

      -h, --help            display this help and exit
      -v, --version         show the release that this command follows
    """,
    raw=True,
)
def shasum(ctx: CommandContext, args: Arguments) -> int:
    try:
        found = OptionParser(shasum.usage).parse(args.operands)
    except UsageError as error:
        return _complain(ctx, _in_words_of_perl(error.message))
    if found.flag("help"):
        ctx.print(shasum.usage, end="")
        return 0
    algorithm = found.value("algorithm", "1") or ""
    if not re.fullmatch(r"[-+]?[0-9]{1,18}", algorithm):
        return _complain(ctx, f'Value "{algorithm}" invalid for option a (number expected)')
    problem = _find_problem(found)
    if problem:
        return _complain(ctx, f"shasum: {problem}")
    if str(int(algorithm)) not in _ALGORITHMS:
        return _complain(ctx, "shasum: Unrecognized algorithm")
    if found.flag("version"):
        ctx.print("6.02")
        return 0
    act = _verify if found.flag("check") else _print
    results = [act(ctx, found, name, str(int(algorithm))) for name in found.operands or ["-"]]
    return 0 if all(results) else 1


def _find_problem(args: Arguments) -> str:
    if args.flag("binary") and args.flag("text"):
        return "Ambiguous file mode"
    if not args.flag("check"):
        for key in _CHECK_ONLY:
            if args.flag(key):
                return f"--{key} option used only when verifying checksums"
    if args.flag("tag") and args.flag("text"):
        return "--tag does not support --text mode"
    return ""


def _in_words_of_perl(message: str) -> str:
    name = message.rpartition("'")[0].rpartition("'")[2].lstrip("-").partition("=")[0]
    if "requires an argument" in message:
        return f"Option {name} requires an argument"
    if "ambiguous" in message:
        given = message.partition("'")[2].partition("'")[0].lstrip("-")
        return f"Option {given} is ambiguous"
    return f"Unknown option: {name}"


def _complain(ctx: CommandContext, message: str) -> int:
    ctx.stderr.write(encode(f"{message}\n{_HINT}\n"))
    return 1
