"""`locale` (POSIX 1003.1-2017): the locale in force. A sandbox has one: C.UTF-8."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.streams import encode

_CATEGORIES = "CTYPE NUMERIC TIME COLLATE MONETARY MESSAGES PAPER NAME ADDRESS TELEPHONE MEASUREMENT IDENTIFICATION"
_KEYWORDS = {
    "charmap": "UTF-8",
    "code_set_name": "UTF-8",
    "codeset": "UTF-8",
    "decimal_point": ".",
    "thousands_sep": "",
    "noexpr": "^[nN]",
    "yesexpr": "^[yY]",
    "mon": "January;February;March;April;May;June;July;August;September;October;November;December",
    "abmon": "Jan;Feb;Mar;Apr;May;Jun;Jul;Aug;Sep;Oct;Nov;Dec",
    "day": "Sunday;Monday;Tuesday;Wednesday;Thursday;Friday;Saturday",
    "abday": "Sun;Mon;Tue;Wed;Thu;Fri;Sat",
    "d_t_fmt": "%a %b %e %H:%M:%S %Y",
    "d_fmt": "%m/%d/%y",
    "t_fmt": "%H:%M:%S",
}


@command(
    "locale",
    usage="""
    Usage: locale [OPTION...] [NAME]...
    Get locale-specific information.

      -a, --all-locales   write the names of available locales
      -m, --charmaps      write the names of available charmaps
      -k, --keyword-name  write the names of selected keywords
      -?, --help          display this help and exit
    """,
    usage_status=64,
    hint="Try `NAME --help' or `NAME --usage' for more information.",
)
def locale(ctx: CommandContext, args: Arguments) -> int:
    if args.flag("help"):
        ctx.print(locale.usage, end="")
    elif args.flag("all-locales"):
        ctx.print("C\nC.utf8\nPOSIX")
    elif args.flag("charmaps"):
        ctx.print("ANSI_X3.4-1968\nUTF-8")
    elif args.operands:
        for name in args.operands:
            value = _KEYWORDS.get(name)
            if value is None:
                ctx.stderr.write(encode(f'locale: unknown name "{name}"\n'))
                ctx.status = 1
            else:
                ctx.print(f'{name}="{value}"' if args.flag("keyword-name") else value)
    else:
        _show_all(ctx)
    return ctx.status


def _show_all(ctx: CommandContext) -> None:
    language = ctx.env.get("LANG", "")
    everything = ctx.env.get("LC_ALL", "")
    ctx.print(f"LANG={language}\nLANGUAGE={ctx.env.get('LANGUAGE', '')}")
    for name in _CATEGORIES.split():
        own = ctx.env.get(f"LC_{name}", "")
        if own and not everything:
            ctx.print(f"LC_{name}={own}")
        else:
            ctx.print(f'LC_{name}="{everything or language or "C"}"')
    ctx.print(f"LC_ALL={everything}")
