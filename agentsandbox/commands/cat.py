"""`cat` (POSIX 1003.1-2017, GNU coreutils): copy files to standard output."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._lines import inputs

_CONTROL = {
    **{byte: b"^" + bytes([byte + 64]) for byte in range(32)},
    127: b"^?",
}


def _visible(byte: int, tabs: bool) -> bytes:
    """One byte in `^` and `M-` notation; newline as it is, TAB only if asked."""
    if byte == 10 or (byte == 9 and not tabs):
        return bytes([byte])
    if byte >= 128:
        low = byte - 128
        return b"M-" + _CONTROL.get(low, bytes([low]))
    return _CONTROL.get(byte, bytes([byte]))


@command(
    "cat",
    usage="""
    Usage: cat [OPTION]... [FILE]...
    Concatenate FILE(s) to standard output.

    With no FILE, or when FILE is -, read standard input.

      -A, --show-all           equivalent to -vET
      -b, --number-nonblank    number nonempty output lines, overrides -n
      -e                       equivalent to -vE
      -E, --show-ends          display $ at end of each line
      -n, --number             number all output lines
      -s, --squeeze-blank      suppress repeated empty output lines
      -t                       equivalent to -vT
      -T, --show-tabs          display TAB characters as ^I
      -u                       (ignored: output is never held back)
      -v, --show-nonprinting   use ^ and M- notation, except for LFD and TAB
          --help               display this help and exit
    """,
)
def cat(ctx: CommandContext, args: Arguments) -> int:
    show_all = args.flag("show-all")
    ends = show_all or args.flag("show-ends") or args.flag("e")
    tabs = show_all or args.flag("show-tabs") or args.flag("t")
    visible = show_all or args.flag("show-nonprinting") or args.flag("e") or args.flag("t")
    number_nonblank = args.flag("number-nonblank")
    number = args.flag("number") and not number_nonblank
    squeeze = args.flag("squeeze-blank")
    if not (ends or tabs or visible or number or number_nonblank or squeeze):
        for _name, source in inputs(ctx, args.operands):
            for block in source.blocks():
                ctx.budget.step()
                ctx.stdout.write(block)
        return ctx.status

    table = [_visible(byte, tabs) if visible else (b"^I" if byte == 9 and tabs else bytes([byte])) for byte in range(256)]
    count = 0
    blank_before = False
    at_start = True  # of a line: the last line of a file may go on in the next one
    for _name, source in inputs(ctx, args.operands):
        for line in source.lines():
            ctx.budget.step()
            text, newline = (line[:-1], True) if line.endswith(b"\n") else (line, False)
            blank = at_start and not text and newline
            if squeeze and blank and blank_before:
                continue
            blank_before = blank
            prefix = b""
            if at_start and (number or (number_nonblank and not blank)):
                count += 1
                prefix = b"%6d\t" % count
            body = b"".join([table[byte] for byte in text]) if visible or tabs else text
            ending = (b"$\n" if ends else b"\n") if newline else b""
            ctx.stdout.write(prefix + body + ending)
            at_start = newline
    return ctx.status

