"""`nc`: connections on the sandbox's own loopback (after OpenBSD's netcat)."""

from __future__ import annotations

import os

from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.errors import CommandError
from agentsandbox.kernel.streams import BLOCK, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.network.loopback import Endpoint

_MOST_PORTS = 65536


@command(
    "nc",
    usage="""
    Usage: nc [OPTION]... [HOST] PORT[-LAST]
    Send standard input to a port of the sandbox and write what comes back, or listen on one. Hosts
    outside are not reached: curl and wget speak HTTP with those that the network policy allows.

      -l               listen for a connection
      -p PORT          the port to listen on
      -k               with -l, listen for another connection after the first
      -N               end the connection's output at the end of standard input
      -q SECONDS       end so long after the end of standard input
      -w SECONDS       end when nothing comes for so long
      -z               only see whether a port is open
      -v               say what happens
      -n               no names, as always here
      -4               IPv4, as always here
      -d               do not read standard input
      -h, --help       print this help
    """,
)
def nc(ctx: CommandContext, args: Arguments) -> int:
    operands = list(args.operands)
    if args.flag("l"):
        words = [*operands[-1:], *args.values("p")]
        if not words:
            raise CommandError("missing port number", 1)
        return _listen(ctx, args, _ports(words[-1])[0])
    if len(operands) != 2:
        ctx.stderr.write(encode(nc.usage.partition("\n")[0].replace("Usage", "usage") + "\n"))
        return 1
    host = operands[0].lower()
    network = ctx.host.network
    status = 1
    for port in _ports(operands[1]):
        ctx.budget.step(10)
        if not network.is_own(host):
            why = "this sandbox has no network; only its own ports can be reached"
            if network.policy is not None:
                why = "only HTTP may leave this sandbox, by curl and wget"
            raise CommandError(f"connect to {host} port {port} (tcp) failed: {why}", 1)
        try:
            endpoint = network.loopback.connect(port)
        except OSError as error:
            if args.flag("v"):
                reason = os.strerror(error.errno or 0)
                ctx.warn(f"connect to {host} port {port} (tcp) failed: {reason}")
            continue
        status = 0
        if args.flag("v"):
            ctx.stderr.write(encode(f"Connection to {host} {port} port [tcp/*] succeeded!\n"))
        try:
            if not args.flag("z"):
                _talk(ctx, args, endpoint)
        finally:
            endpoint.close()
    return status


def _ports(text: str) -> range:
    """Return the ports of "80" or "80-90"."""
    first, mark, last = text.partition("-")
    last = last if mark else first
    if not (first.isdecimal() and last.isdecimal()) or max(len(first), len(last)) > 5:
        raise CommandError(f"port number invalid: {text}", 1)
    low, high = sorted((int(first), int(last)))
    if not low or high >= _MOST_PORTS:
        raise CommandError(f"port number too large: {text}", 1)
    return range(low, high + 1)


def _seconds(args: Arguments, key: str) -> float | None:
    text = args.value(key)
    if text is None:
        return None
    if not text.isdecimal() or len(text) > 9:
        raise CommandError(f"timeout invalid: {text}", 1)
    return float(text)


def _listen(ctx: CommandContext, args: Arguments, port: int) -> int:
    try:
        listener = ctx.host.network.loopback.listen(port, address="0.0.0.0", backlog=1)
    except OSError as error:
        raise CommandError(os.strerror(error.errno or 0), 1) from None
    if args.flag("v"):
        ctx.stderr.write(encode(f"Listening on 0.0.0.0 {port}\n"))
    try:
        while True:
            if not listener.wait(_seconds(args, "w")):
                return 1
            endpoint = listener.accept()
            if args.flag("v"):
                there = endpoint.remote
                ctx.stderr.write(encode(f"Connection received on localhost {there[1]}\n"))
            try:
                _talk(ctx, args, endpoint)
            finally:
                endpoint.close()
            if not args.flag("k"):
                return 0
    finally:
        listener.close()


def _talk(ctx: CommandContext, args: Arguments, endpoint: Endpoint) -> None:
    """Send standard input, and write what comes, until the other side ends.

    A second process sends, so that neither direction waits for the other.
    """
    scheduler = ctx.host.scheduler
    rest = _seconds(args, "q")
    is_sent = False

    def send() -> int:
        nonlocal is_sent
        try:
            if not args.flag("d"):
                for block in ctx.stdin.blocks(BLOCK):
                    endpoint.write(block)
            if args.flag("N") or rest is not None:
                endpoint.end_output()
        except BrokenPipeError:
            pass
        is_sent = True
        return 0

    sender = scheduler.start(send, "nc")
    wait = _seconds(args, "w")
    try:
        while True:
            if rest is not None and is_sent:
                if not endpoint.wait(rest):
                    break
            elif not endpoint.wait(wait if rest is None else 0.05):
                if rest is None:
                    break
                continue
            data = endpoint.read(BLOCK)
            if not data:
                break
            ctx.stdout.write(data)
    finally:
        if sender.status is None:
            sender.kill(9)
