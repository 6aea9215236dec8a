"""`make` (GNU make 4.3): run the recipes that bring files up to date."""

from __future__ import annotations

import posixpath

from agentsandbox.commands.make.build import Run
from agentsandbox.commands.make.options import Options
from agentsandbox.commands.make.syntax import parse_assignment
from agentsandbox.commands.make.updating import QUESTION
from agentsandbox.commands.make.variables import FatalError
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners, Release
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_RESTARTS = 20


def _join_numbers(words: Sequence[str]) -> Sequence[str]:
    """Join `-j 4` to `-j4`: the number is optional, yet may be a word of its own."""
    found: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            return [*found, word, *words[at:]]
        is_jobs = (
            word == "--jobs"
            or (word[:1] == "-" and word[1:2] != "-" and word[-1:] == "j" and word[1:-1].isalpha())
            or word == "-j"
        )
        if is_jobs and at < len(words) and words[at].isdecimal():
            word += f"={words[at]}" if word == "--jobs" else words[at]
            at += 1
        found.append(word)
    return found


def _jobs(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < len(text) < 7 and int(text) > 0):
        raise UsageError("the '-j' option requires a positive integer argument", 2)
    return int(text)


@command(
    "make",
    manners=Manners(Release("GNU Make 4.3", "-v, --version"), unbuffered=True),
    usage="""
    Usage: make [OPTION]... [TARGET]... [NAME=VALUE]...
    Bring targets up to date by the rules of a makefile.

      -b, -m                   ignored, for compatibility
      -B, --always-make        make all targets
      -C, --directory=DIR      change to the directory DIR first
      -e, --environment-overrides  variables of the environment override those of makefiles
          --eval=STRING        read STRING as a part of the makefile, first
      -f, --file=FILE, --makefile=FILE  read FILE as the makefile; - for standard input
      -i, --ignore-errors      ignore errors of recipes
      -I, --include-dir=DIR    search included makefiles in DIR
      -j[N], --jobs[=N]        run N recipes at once, without N as many as possible
      -k, --keep-going         go on with other targets after an error
      -n, --just-print, --dry-run, --recon  print the recipes, do not run them
      -o, --old-file=FILE, --assume-old=FILE  take FILE as very old and do not remake it
      -q, --question           run nothing; the status says whether anything is out of date
      -r, --no-builtin-rules   without the rules that make knows itself
      -R, --no-builtin-variables  without the variables that make knows itself
      -s, --silent, --quiet    do not print the recipes
          --no-silent          print them again
      -S, --no-keep-going, --stop  turn -k off
      -t, --touch              touch targets, do not run their recipes
      -w, --print-directory    print the directory
          --no-print-directory  turn -w off, also where it was turned on by itself
      -W, --what-if=FILE, --new-file=FILE, --assume-new=FILE  take FILE as very new
          --warn-undefined-variables  warn of variables that are not defined
      -h, --help               display this help and exit

    Recipes run in this sandbox, by its sh. The status is 0, 1 if -q finds something to do, 2 after
    an error.
    """,
    rewrite=_join_numbers,
    usage_status=2,
    values={"jobs": _jobs},
)
def make(ctx: CommandContext, args: Arguments) -> int:
    level_text = ctx.env.get("MAKELEVEL", "0")
    level = int(level_text) if level_text.isascii() and level_text.isdigit() else 0
    options = Options(min(level, 10**6))
    options.add_flags(ctx.env.get("MAKEFLAGS", ""))
    _inherited_variables(options, ctx.env.get("MAKEFLAGS", ""))
    options.take(args)
    if "-" in options.makefiles and options.makefiles.count("-") > 1:
        raise CommandError("*** Makefile from standard input specified twice.  Stop.", 2)
    for word in args.operands:
        found = parse_assignment(word)
        if found is not None and found.operator:
            options.variables.append((found.name, found.operator, found.value))
        elif word:
            options.goals.append(word.removeprefix("./") or word)
    directories = args.values("directory")
    prefix = "make" if not options.level else f"make[{options.level}]"
    try:
        _change_directory(ctx, directories, prefix)
        if directories and not options.silent:
            options.switches.add("print-directory")
        shows = options.shows_directory
        if shows:
            ctx.print(f"{prefix}: Entering directory '{ctx.cwd}'")
        status = _run(ctx, options)
    except FatalError as error:
        if error.line:
            ctx.stderr.write(encode(f"{error.line}\n"))
        return error.status
    if shows:
        ctx.print(f"{prefix}: Leaving directory '{ctx.cwd}'")
    return status


def _inherited_variables(options: Options, flags: str) -> None:
    """Take the variables that the make above got on its command line."""
    _, dashes, text = f" {flags} ".partition(" -- ")
    word: list[str] = []
    at = 0
    while dashes and at < len(text):
        letter = text[at]
        at += 1
        if letter == "\\" and at < len(text):
            word.append(text[at])
            at += 1
        elif letter != " ":
            word.append(letter)
        elif word:
            found = parse_assignment("".join(word))
            word = []
            if found is not None and found.operator:
                options.variables.append((found.name, found.operator, found.value))


def _change_directory(ctx: CommandContext, directories: list[str], prefix: str) -> None:
    for directory in directories:
        try:
            path = ctx.fs.realpath(ctx.path(directory))
            if not ctx.fs.exists(path):
                raise FileNotFoundError(2, "No such file or directory")
            if not ctx.fs.is_dir(path):
                raise NotADirectoryError(20, "Not a directory")
        except OSError as error:
            raise FatalError(f"{prefix}: *** {directory}: {error.strerror}.  Stop.") from None
        ctx.cwd = posixpath.normpath(path)


def _run(ctx: CommandContext, options: Options) -> int:
    """Read the makefiles, again if they changed, and update the goals."""
    build = Run(ctx, options)
    try:
        for restarts in range(1, _MOST_RESTARTS):
            build.read_all()
            if not build.remake_makefiles():
                break
            build.remove_intermediates()
            build = Run(ctx, options, restarts)
        else:
            raise build.fatal("the makefile changes each time it is read")
        goals = list(options.goals)
        if not goals and build.graph.default is not None:
            goals = [build.graph.default.name]
        if not goals:
            if not build.makefiles and not options.makefiles:
                raise build.fatal("No targets specified and no makefile found")
            raise build.fatal("No targets")
        status = build.walker.update_goals(goals)
    except FatalError as error:
        if error.line:
            ctx.stderr.write(encode(f"{error.line}\n"))
        build.runner.wait_for_all()
        build.remove_intermediates()
        return error.status
    build.remove_intermediates()
    return 0 if status < QUESTION else 1 if status == QUESTION else 2
