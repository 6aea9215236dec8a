"""`base64` (GNU coreutils): encode and decode base64 (RFC 4648)."""

from __future__ import annotations

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands.encodings.alphabets import ENCODINGS, read_wrap, run_encoding
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners


@command(
    "base64",
    manners=Manners(
        COREUTILS,
        pure=True,
        bytewise=True,
        long_options="decode wrap ignore-garbage help version",
        read_error=("NAME: read error: REASON", 1),
    ),
    values={"wrap": read_wrap},
    usage="""
    Usage: base64 [OPTION]... [FILE]
    Encode FILE in base64, or decode it, writing to standard output.

    With no FILE, or when FILE is -, read standard input.

      -d, --decode           decode
      -i, --ignore-garbage   when decoding, ignore characters that are not of the alphabet
      -w, --wrap=COLS        wrap encoded lines after COLS characters (76); 0 for no wrapping
          --help             display this help and exit
    """,
)
def base64(ctx: CommandContext, args: Arguments) -> int:
    return run_encoding(ctx, args, ENCODINGS["base64"])
