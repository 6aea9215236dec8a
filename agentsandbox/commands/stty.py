"""`stty` (POSIX 1003.1-2017, GNU coreutils): terminal settings; no stream of a sandbox is a terminal, and it says so."""

from __future__ import annotations

import re

from agentsandbox.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.commands._lines import shown_name
from agentsandbox.commands._quoting import quote
from agentsandbox.commands._suites import COREUTILS
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.manners import Manners

_CHARACTERS = "intr quit erase kill eof eol eol2 swtch start stop susp dsusp rprnt werase lnext flush discard min time".split()
_NUMBERS = "ispeed ospeed rows cols columns line".split()
_MODES = frozenset(
    "parenb parodd cmspar hupcl hup cstopb cread clocal crtscts ignbrk brkint ignpar parmrk inpck istrip inlcr igncr icrnl ixon ixoff "
    "tandem iuclc ixany imaxbel iutf8 opost olcuc ocrnl onlcr onocr onlret ofill ofdel isig icanon iexten echo echoe crterase echok "
    "echonl noflsh xcase tostop echoprt prterase echoctl ctlecho echoke crtkill flusho extproc evenp parity oddp nl cooked raw pass8 "
    "litout cbreak decctlq tabs lcase LCASE drain".split()
)
_ONLY_ON = frozenset(
    "cs5 cs6 cs7 cs8 nl0 nl1 cr0 cr1 cr2 cr3 tab0 tab1 tab2 tab3 bs0 bs1 vt0 vt1 ff0 ff1 ek sane crt dec size speed".split()
)
_SPEEDS = frozenset("0 50 75 110 134 134.5 150 200 300 600 1200 1800 2400 4800 9600 19200 38400 57600 115200 230400 460800".split())
_INTEGER = re.compile(r"0[xX][0-9a-fA-F]+|[0-9]+", re.ASCII)


@command(
    "stty",
    manners=Manners(COREUTILS),
    usage="""
    Usage: stty [-F DEVICE | --file=DEVICE] [SETTING]...
      or:  stty [-F DEVICE | --file=DEVICE] [-a|--all]
      or:  stty [-F DEVICE | --file=DEVICE] [-g|--save]
    Print or change the settings of a terminal. A sandbox has none, so this always fails.

      -a, --all          print all settings
      -g, --save         print all settings in a form that stty reads
      -F, --file=DEVICE  the terminal to use instead of standard input
          --help         display this help and exit
    """,
    raw=True,
)
def stty(ctx: CommandContext, args: Arguments) -> int:
    words = args.operands
    if "--help" in words:
        ctx.print(stty.usage, end="")
        return 0
    settings, styles, devices = _split(words)
    if len(styles) > 1:
        raise CommandError("the options for verbose and stty-readable output styles are\nmutually exclusive")
    if styles and settings:
        raise CommandError("when specifying an output style, modes may not be set")
    if len(devices) > 1:
        raise CommandError("only one device may be specified")
    _check_settings(settings)
    name = "'standard input'"
    if devices:
        name = shown_name(devices[0])
        try:
            ctx.fs.open(ctx.path(devices[0]), "r").release()
        except IsADirectoryError:
            pass
        except OSError as error:
            raise CommandError(f"{name}: {describe_os_error(error, '')}") from None
    raise CommandError(f"{name}: Inappropriate ioctl for device")


def _split(words: list[str]) -> tuple[list[str], set[str], list[str]]:
    """(settings, styles of output, devices): what begins with "-" may be a setting too."""
    settings: list[str] = []
    styles: set[str] = set()
    devices: list[str] = []
    rest = list(reversed(words))
    while rest:
        word = rest.pop()
        if word in ("-a", "--all", "-g", "--save"):
            styles.add(word.lstrip("-")[0].replace("s", "g"))
        elif word in ("-F", "--file"):
            if not rest:
                raise UsageError(f"invalid argument {quote(word)}")
            devices.append(rest.pop())
        elif word.startswith("--file="):
            devices.append(word[len("--file=") :])
        elif word.startswith("-F"):
            devices.append(word[2:])
        else:
            settings.append(word)
    return settings, styles, devices


def _check_settings(settings: list[str]) -> None:
    """Refuse what is no setting."""
    rest = list(reversed(settings))
    while rest:
        word = rest.pop()
        plain = word.removeprefix("-")
        if plain in _MODES or (word in _ONLY_ON) or word in _SPEEDS:
            continue
        if word not in _CHARACTERS and word not in _NUMBERS:
            raise UsageError(f"invalid argument {quote(word)}")
        if not rest:
            raise UsageError(f"missing argument to {quote(word)}")
        value = rest.pop()
        if word in ("line", "min", "time") and not _INTEGER.fullmatch(value):
            raise CommandError(f"invalid integer argument: {quote(value)}")
        if word in _CHARACTERS and len(value) > 1 and not value.startswith("^") and value != "undef" and not _INTEGER.fullmatch(value):
            raise CommandError(f"invalid integer argument: {quote(value)}")
