"""`wget`: downloads through the client of the sandbox, by the policy of the host program."""

from __future__ import annotations

from agentsandbox.commands.network.refusals import host_of
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners, Release
from agentsandbox.kernel.streams import encode
from agentsandbox.network.client import NO_NETWORK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_SHORT = {"v": "--no-verbose", "c": "--no-clobber", "d": "--no-directories"}


def _long_forms(words: Sequence[str]) -> Sequence[str]:
    """Return the words with -nv, -nc and -nd as long options."""
    return [
        _SHORT[word[2]] if len(word) == 3 and word[:2] == "-n" and word[2] in _SHORT else word
        for word in words
    ]


@command(
    "wget",
    manners=Manners(
        release=Release(
            "GNU Wget 1.21.3 built on linux-gnu.\n\n-cares +digest -gpgme +https +ipv6 -iri "
            "+large-file -metalink -nls \n-ntlm +opie -psl +ssl/openssl",
            "-V, --version",
        )
    ),
    usage_status=2,
    hint="Usage: wget [OPTION]... [URL]...\n\nTry `wget --help' for more options.",
    rewrite=_long_forms,
    usage="""
    Usage: wget [OPTION]... [URL]...
    Download files that the network policy of the sandbox allows, or from a port of the sandbox.

      -q, --quiet                 no output
      -v, --verbose               the whole output, as without options
          --no-verbose            one line for each file; -nv is the same
      -O, --output-document=FILE  write all documents to FILE, "-" for standard output
      -P, --directory-prefix=DIR  save files in DIR
          --no-clobber            keep files that are there; -nc is the same
          --no-directories        make no directories, as always without -r; -nd is the same
      -c, --continue              get the rest of a file
          --content-disposition   take names from the header
      -i, --input-file=FILE       get the URLs in FILE, "-" for standard input
      -S, --server-response       print the headers
          --spider                download nothing, only see whether it is there
      -t, --tries=NUMBER          tries after errors that may pass, 20 by default
          --waitretry=SECONDS     longest wait between tries, 10 by default
          --retry-connrefused     try again when the connection is refused
      -T, --timeout=SECONDS       time for a connection and for each read
          --connect-timeout=SECONDS  time for the connection
          --read-timeout=SECONDS  time for a read
          --max-redirect=NUMBER   redirections that are followed, 20 by default
      -U, --user-agent=AGENT      the User-Agent
          --referer=URL           the Referer
          --header=STRING         an additional header
          --post-data=STRING      POST with this body
          --post-file=FILE        POST with the content of FILE
          --method=METHOD         the method
          --body-data=STRING      the body for --method
          --body-file=FILE        the content of FILE as the body
          --user=USER             user name
          --password=PASS         password
          --auth-no-challenge     send them without being asked
          --no-check-certificate  accept any certificate
          --show-progress         progress with -q too, which is not shown here
          --progress=TYPE         the kind of progress: always dots here
      -h, --help                  print this help
      -V, --version               display the version
    """,
)
def wget(ctx: CommandContext, args: Arguments) -> int:
    urls = list(args.operands)
    if not urls and not args.flag("input-file"):
        ctx.stderr.write(
            b"wget: missing URL\nUsage: wget [OPTION]... [URL]...\n\n"
            b"Try `wget --help' for more options.\n"
        )
        return 1
    if ctx.host.network_policy is None and _all_outside(ctx, urls):
        ctx.stderr.write(
            encode(
                f"wget: unable to resolve host address ‘{host_of(urls)}’\n"
                f"wget: {NO_NETWORK}; "
                "the host program must provide the data as a file or a command\n"
            )
        )
        return 4
    from agentsandbox.commands.network.wget_downloads import Downloads

    return Downloads(ctx, args).all(urls)


def _all_outside(ctx: CommandContext, urls: Sequence[str]) -> bool:
    return bool(urls) and not any(ctx.host.network.is_own(host_of([url])) for url in urls)
