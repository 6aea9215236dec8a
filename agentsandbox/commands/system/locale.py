"""`locale` (POSIX 1003.1-2017): the locale in force. A sandbox has one: C.UTF-8."""

from __future__ import annotations

from agentsandbox.commands._suites import GLIBC
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import SILENT, Manners
from agentsandbox.kernel.streams import encode

_CATEGORIES = (
    "CTYPE NUMERIC TIME COLLATE MONETARY MESSAGES PAPER NAME ADDRESS TELEPHONE MEASUREMENT "
    "IDENTIFICATION"
)
_KEYWORDS = {
    "charmap": ("CTYPE", '"UTF-8"'),
    "decimal_point": ("NUMERIC", '"."'),
    "thousands_sep": ("NUMERIC", '""'),
    "grouping": ("NUMERIC", "-1"),
    "abday": ("TIME", '"Sun;Mon;Tue;Wed;Thu;Fri;Sat"'),
    "day": ("TIME", '"Sunday;Monday;Tuesday;Wednesday;Thursday;Friday;Saturday"'),
    "abmon": ("TIME", '"Jan;Feb;Mar;Apr;May;Jun;Jul;Aug;Sep;Oct;Nov;Dec"'),
    "mon": (
        "TIME",
        '"January;February;March;April;May;June;July;August;September;October;November;December"',
    ),
    "am_pm": ("TIME", '"AM;PM"'),
    "d_t_fmt": ("TIME", '"%a %b %e %H:%M:%S %Y"'),
    "d_fmt": ("TIME", '"%m/%d/%y"'),
    "t_fmt": ("TIME", '"%H:%M:%S"'),
    "t_fmt_ampm": ("TIME", '"%I:%M:%S %p"'),
    "yesexpr": ("MESSAGES", '"^[yY]"'),
    "noexpr": ("MESSAGES", '"^[nN]"'),
}
"""(category, value) of each keyword; those of other categories are of no use to a script."""


@command(
    "locale",
    manners=Manners(
        GLIBC,
        long_options="""
            all-locales charmaps category-name keyword-name verbose help usage
            program-name HANG version
        """,
        write_error=SILENT,
    ),
    usage="""
    Usage: locale [OPTION...] NAME
      or:  locale [OPTION...] [-a|-m]
    Get locale-specific information: the locale in force, or the value of keywords.

      -a, --all-locales    write the names of available locales
      -m, --charmaps       write the names of available charmaps
      -c, --category-name  write the names of the categories of what is shown
      -k, --keyword-name   write the names of selected keywords
          --usage          display a short help and exit
      -?, --help           display this help and exit
    """,
    usage_status=64,
    hint="Try `NAME --help' or `NAME --usage' for more information.",
)
def locale(ctx: CommandContext, args: Arguments) -> int:
    if args.flag("usage"):
        ctx.print(locale.usage.partition("\n")[0])
    elif args.flag("all-locales"):
        ctx.print("C\nC.utf8\nPOSIX")
    elif args.flag("charmaps"):
        ctx.print("ANSI_X3.4-1968\nUTF-8")
    elif not args.operands:
        _show_all(ctx)
    for name in args.operands:
        if name not in _KEYWORDS:
            ctx.stderr.write(encode(f'locale: unknown name "{name}"\n'))
            return 1
        category, value = _KEYWORDS[name]
        if name == "charmap" and ctx.is_bytewise():
            value = '"ANSI_X3.4-1968"'
        if args.flag("category-name"):
            ctx.print(f"LC_{category}")
        keyword = args.flag("keyword-name")
        ctx.print(f"{name}={value}" if keyword else value.replace('"', ""))
    return 0


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
