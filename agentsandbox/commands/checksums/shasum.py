"""`shasum` (of Perl): print or check SHA digests of any size."""

from __future__ import annotations

import re

from agentsandbox.commands._text.lines import blocks
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import SILENT, Manners
from agentsandbox.contract.usage import OptionParser
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.streams import BLOCK, decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.streams import ByteReader

_ALGORITHMS = {
    "1": "sha1",
    "224": "sha224",
    "256": "sha256",
    "384": "sha384",
    "512": "sha512",
    "512224": "sha512_224",
    "512256": "sha512_256",
}
_BY_LENGTH = {40: "1", 56: "224", 64: "256", 96: "384", 128: "512"}
_TAGGED = re.compile(r"[ \t]*(\\?)SHA(\S+) \((.+)\) = ([0-9a-fA-F]+)")
_PLAIN = re.compile(r"[ \t]*(\\?)([0-9a-fA-F]+)[ \t][ *](.+)")
_CHECK_ONLY = ("warn", "status", "quiet", "ignore-missing", "strict")
_HINT = "Type shasum -h for help"


class _Digests:
    """Computes digests and compares them."""

    def __init__(self, ctx: CommandContext, args: Arguments, algorithm: str) -> None:
        self.ctx = ctx
        self.args = args
        self.algorithm = algorithm

    def compute(self, name: str, algorithm: str) -> str | None:
        """The digest of a file; None after an error, which is said."""
        import hashlib  # only here: it loads OpenSSL

        try:
            source = self.ctx.open_input(name)
        except OSError as error:
            self.ctx.warn(f"{name}: {describe_os_error(error, '')}")
            return None
        try:
            state = hashlib.new(_ALGORITHMS[algorithm], usedforsecurity=False)
        except ValueError:
            raise CommandError(f"the algorithm {algorithm} is not available here") from None
        for block in blocks(self.ctx.budget, source, 4 * BLOCK):
            state.update(block)
        return str(state.hexdigest())

    def print(self, name: str) -> bool:
        """One line of output; false after an error."""
        digest = self.compute(name, self.algorithm)
        if digest is None:
            return False
        escaped = "\\" if re.search(r"[\n\\]", name) else ""
        shown = name.replace("\\", "\\\\").replace("\n", "\\n")
        if self.args.flag("tag"):
            label = {"512224": "512/224", "512256": "512/256"}.get(self.algorithm, self.algorithm)
            self.ctx.print(f"{escaped}SHA{label} ({shown}) = {digest}")
        else:
            mark = "*" if self.args.flag("binary") else " "
            self.ctx.print(f"{escaped}{digest} {mark}{shown}")
        return True

    def verify(self, name: str) -> bool:
        """All lines of a list; whether all is well."""
        try:
            source = self.ctx.open_input(name)
        except OSError as error:
            raise CommandError(
                f"{name}: {describe_os_error(error, '')}", error.errno or 2
            ) from None
        return _List(self, "standard input" if name == "-" else name).run(source)


class _List:
    """A list of digests: the counts of what was wrong."""

    def __init__(self, digests: _Digests, name: str) -> None:
        self.digests = digests
        self.ctx = digests.ctx
        self.args = digests.args
        self.name = name
        self.improper = self.unreadable = self.wrong = self.proper = self.matched = 0

    def run(self, source: ByteReader) -> bool:
        for number, data in enumerate(source.lines(), 1):
            self.ctx.budget.step()
            line = decode(data).removesuffix("\n")
            if line.startswith("#"):
                continue
            parsed = self._parse(line)
            if parsed is None:
                self.improper += 1
                if self.args.flag("warn"):
                    self._warn(f"{self.name}: {number}: improperly formatted SHA checksum line")
                continue
            self.proper += 1
            self._compare(*parsed)
        return self._summary()

    def _parse(self, line: str) -> tuple[str, str, str] | None:
        """Return (algorithm, digest, name)."""
        if re.match(r"[ \t]*\\?SHA", line):
            found = _TAGGED.match(line)
            if found is None:
                return None
            escaped, label, name, digest = found.groups()
            algorithm = label.replace("/", "")
        else:
            found = _PLAIN.match(line)
            if found is None:
                return None
            escaped, digest, name = found.groups()
            algorithm = _BY_LENGTH.get(len(digest), "")
            chosen = self.digests.algorithm
            if chosen in ("512224", "512256") and len(digest) == (56 if chosen == "512224" else 64):
                algorithm = chosen
        if algorithm not in _ALGORITHMS:
            return None
        if escaped:
            name = re.sub(r"\\([\\n])", lambda each: "\n" if each[1] == "n" else "\\", name)
        return algorithm, digest, name

    def _compare(self, algorithm: str, digest: str, name: str) -> None:
        if self.args.flag("ignore-missing") and not (
            name and self.ctx.fs.exists(self.ctx.path(name))
        ):
            return
        found = self.digests.compute(name, algorithm)
        if found is None:
            self.unreadable += 1
            result = "FAILED open or read"
        elif found == digest.lower():
            self.matched += 1
            result = "OK"
        else:
            self.wrong += 1
            result = "FAILED"
        if not self.args.flag("status") and not (self.args.flag("quiet") and result == "OK"):
            self.ctx.print(f"{name}: {result}")

    def _summary(self) -> bool:
        if not self.proper:
            self._warn(f"{self.name}: no properly formatted SHA checksum lines found")
        elif not self.args.flag("status"):
            self._count(self.improper, "line is", "lines are", "improperly formatted")
            self._count(self.unreadable, "listed file", "listed files", "could not be read")
            self._count(self.wrong, "computed checksum", "computed checksums", "did NOT match")
        unverified = self.args.flag("ignore-missing") and not self.matched and bool(self.proper)
        if unverified and not self.args.flag("status"):
            self._warn(f"{self.name}: no file was verified")
        strict = self.args.flag("strict") and self.improper
        return bool(self.proper) and not (self.unreadable or self.wrong or unverified or strict)

    def _count(self, count: int, one: str, several: str, what: str) -> None:
        if count:
            self._warn(f"WARNING: {count} {one if count == 1 else several} {what}")

    def _warn(self, message: str) -> None:
        self.ctx.warn(message, self.ctx.status)


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
      -s, --status          print nothing: the status tells
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
    digests = _Digests(ctx, found, str(int(algorithm)))
    act = digests.verify if found.flag("check") else digests.print
    results = [act(name) for name in found.operands or ["-"]]
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
