"""`md5sum`, `sha256sum` and so on: commands that differ in name, algorithm and size."""

from __future__ import annotations

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands.checksums.checking import read_bits, run_checksum
from agentsandbox.contract.command import Command, command
from agentsandbox.contract.manners import Manners

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.contract.command import Arguments, CommandContext

_USAGE = """
Usage: NAME [OPTION]... [FILE]...
Print or check TITLE digests (BITS bits).

With no FILE, or when FILE is -, read standard input.

  -b, --binary           mark the files as binary (*)
  -c, --check            read digests from the FILEs and check them
LENGTH      --tag              print lines as BSD does
  -t, --text             mark the files as text (the default)
  -z, --zero             end each line with NUL, and do not escape names

Options for --check:

      --ignore-missing   do not fail for missing files
      --quiet            do not print OK for each good file
      --status           print nothing, only set the status
      --strict           fail for lines that are not well formed
  -w, --warn             warn about lines that are not well formed
      --help             display this help and exit
"""
_LONG_OPTIONS = "check ignore-missing quiet status warn strict tag zero binary text help version"
_LENGTH = "  -l, --length=BITS      digest length, a multiple of 8 up to 512\n"


def digest_command(
    name: str, title: str, bits: int, algorithm: str, *, any_length: bool = False
) -> Command:
    """Return the command `name` for an algorithm; with `any_length` it has the option --length."""
    usage = (
        _USAGE.replace("NAME", name).replace("TITLE", title).replace("BITS bits", f"{bits} bits")
    )

    @command(
        name,
        usage=usage.replace("LENGTH", _LENGTH if any_length else "", 1),
        values={"length": lambda text: read_bits(name, text)} if any_length else None,
        manners=Manners(
            COREUTILS,
            pure=True,
            bytewise=True,
            long_options=f"{'length ' if any_length else ''}{_LONG_OPTIONS}",
            closing_error="NAME: standard input: REASON",
            full_write_error=("NAME: write error", 1),
        ),
    )
    def run(ctx: CommandContext, args: Arguments) -> int:
        return run_checksum(ctx, args, algorithm, tag=args.flag("tag"))

    return run


b2sum = digest_command("b2sum", "BLAKE2b", 512, "blake2b", any_length=True)
md5sum = digest_command("md5sum", "MD5", 128, "md5")
sha1sum = digest_command("sha1sum", "SHA1", 160, "sha1")
sha224sum = digest_command("sha224sum", "SHA224", 224, "sha224")
sha256sum = digest_command("sha256sum", "SHA256", 256, "sha256")
sha384sum = digest_command("sha384sum", "SHA384", 384, "sha384")
sha512sum = digest_command("sha512sum", "SHA512", 512, "sha512")
