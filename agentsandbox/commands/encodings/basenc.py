"""`basenc` (GNU coreutils): encode and decode in several bases."""

from __future__ import annotations

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands.encodings.alphabets import ENCODINGS, read_wrap, run_encoding
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import UsageError


@command(
    "basenc",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="""
            decode wrap ignore-garbage base64 base64url base32 base32hex base16
            base2msbf base2lsbf z85 help version
        """,
        read_error=("NAME: read error: REASON", 1),
    ),
    values={"wrap": read_wrap},
    usage="""
    Usage: basenc [OPTION]... [FILE]
    Encode FILE, or decode it, writing to standard output.

    With no FILE, or when FILE is -, read standard input.

          --base64           as the command base64
          --base64url        with - and _ for + and /
          --base32           as the command base32
          --base32hex        with the digits and letters in their order
          --base16           hexadecimal digits
      -d, --decode           decode
      -i, --ignore-garbage   when decoding, ignore characters that are not of the alphabet
      -w, --wrap=COLS        wrap encoded lines after COLS characters (76); 0 for no wrapping
          --help             display this help and exit
    """,
)
def basenc(ctx: CommandContext, args: Arguments) -> int:
    chosen = args.last(*ENCODINGS)
    if chosen is None:
        raise UsageError("missing encoding type")
    return run_encoding(ctx, args, ENCODINGS[chosen])
