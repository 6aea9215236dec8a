"""`locale` (POSIX 1003.1-2017): the locale in force. A sandbox has one: C.UTF-8."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._locale_keywords import keyword_value, keywords_of, locale_keywords
from agentsandbox.commands._suites import GLIBC
from agentsandbox.manners import SILENT, Manners
from agentsandbox.streams import encode

_CATEGORIES = "CTYPE NUMERIC TIME COLLATE MONETARY MESSAGES PAPER NAME ADDRESS TELEPHONE MEASUREMENT IDENTIFICATION"


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
    Get locale-specific information: about keywords, or about all of a category.

      -a, --all-locales    write the names of available locales
      -m, --charmaps       write the names of available charmaps
      -c, --category-name  write the names of the categories of what is shown
      -k, --keyword-name   write the names of selected keywords
      -v, --verbose        with -a: what they are; else nothing more
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
        _show_locales(ctx, args)
    elif args.flag("charmaps"):
        ctx.print("ANSI_X3.4-1968\nUTF-8")
    elif args.operands:
        for name in args.operands:
            _show(ctx, args, name)
            if ctx.status:
                break
    else:
        _show_all(ctx)
    return ctx.status


def _show(ctx: CommandContext, args: Arguments, name: str) -> None:
    """The value of a keyword, or those of a category."""
    if name.startswith("LC_") and name[3:] in _CATEGORIES.split():
        category = name[3:]
        chosen = list(keywords_of(category))
    elif name in locale_keywords():
        category = locale_keywords()[name]
        chosen = [name]
    else:
        ctx.stderr.write(encode(f'locale: unknown name "{name}"\n'))
        ctx.status = 1
        return
    if args.flag("category-name"):
        ctx.print(f"LC_{category}")
    plain = ctx.is_bytewise(f"LC_{category}")
    for keyword in chosen:
        value = keyword_value(category, keyword, plain=plain)
        ctx.print(f"{keyword}={value}" if args.flag("keyword-name") else value.replace('"', ""))


def _show_locales(ctx: CommandContext, args: Arguments) -> None:
    """The names, or what is known of the one locale that is not built in."""
    if not args.flag("verbose"):
        ctx.print("C\nC.utf8\nPOSIX")
        return
    ctx.print(f"locale: C.utf8          directory: /usr/lib/locale/C.utf8\n{'-' * 79}")
    for keyword in ("title", "email", "revision", "date"):
        value = keyword_value("IDENTIFICATION", keyword, plain=False).replace('"', "")
        ctx.print(f"{keyword:>9} | {value}")
    ctx.print("  codeset | UTF-8")


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
