"""`git help`, `version`, `var`."""

from __future__ import annotations

from agentsandbox.git.command import ABSENT, MODULES, USAGE, VERSION, find_subcommand
from agentsandbox.git.editor import find_editor
from agentsandbox.git.errors import BadUsage, Fatal
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.options import parse_options
from agentsandbox.kernel.streams import decode, encode

USAGES = {
    "version": """
git version [--build-options]

    --build-options       say more
""",
    "var": """
git var (-l | <variable>)
""",
    "help": """
git help [-a | --all] [<command>]

    -a, --all             print all commands
    -g, --guides          print the guides
    -m, --man             show a manual page
    -w, --web             show a page in a browser
    -i, --info            show an info page
""",
}


def version(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["version"], words)
    git.print(f"git version {VERSION}")
    if options.on("build-options"):
        git.print("cpu: python\nno commit associated with this build")
    return 0


def help(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["help"], words)
    names = sorted(name for names in MODULES.values() for name in names.split())
    if options.on("all") or not options.operands:
        if not options.on("all"):
            git.write(encode(USAGE + "\n"))
        git.print("These commands are available in this sandbox:\n")
        for name in names:
            git.print(f"   {name}")
        git.print("\n'git <command> -h' shows the options of a command.")
        return 0
    name = options.operands[0]
    if name in ABSENT:
        raise Fatal(f"git {name} is not available in this sandbox: {ABSENT[name]}")
    if find_subcommand(name) is None:
        alias = git.config.get(f"alias.{name}")
        if alias:
            git.print(f"'{name}' is aliased to '{alias}'")
            return 0
        git.say(f"No manual entry for git{'-' if name else ''}{name}")
        return 16
    return find_subcommand(name)(git_named(git, name), ["-h"])  # type: ignore[misc]


def git_named(git: Invocation, name: str) -> Invocation:
    """Return the invocation, as one of another subcommand: its usage is printed."""
    git.name, git.arguments = name, ["-h"]
    return git


def var(git: Invocation, words: list[str]) -> int:
    if len(words) != 1 or words[0] == "-h":
        raise BadUsage

    def ident(who: str) -> str:
        owner = git.find_repository()
        if owner is not None:
            return decode(owner.ident(who))
        from agentsandbox.git.repository import ident_of

        return decode(ident_of(git, git.config, who))

    values = {
        "GIT_COMMITTER_IDENT": lambda: ident("committer"),
        "GIT_AUTHOR_IDENT": lambda: ident("author"),
        "GIT_EDITOR": lambda: find_editor(git),
        "GIT_SEQUENCE_EDITOR": lambda: find_editor(git, sequence=True),
        "GIT_PAGER": lambda: (
            git.env.get("GIT_PAGER") or git.config.get("core.pager") or git.env.get("PAGER", "cat")
        ),
        "GIT_DEFAULT_BRANCH": lambda: git.config.get("init.defaultbranch", "master"),
    }
    if words[0] == "-l":
        for value in git.config.values:
            git.print(f"{value.key}={value.text}" if value.text is not None else value.key)
        for name in ("GIT_COMMITTER_IDENT", "GIT_AUTHOR_IDENT", "GIT_DEFAULT_BRANCH"):
            git.print(f"{name}={values[name]()}")
        return 0
    if words[0] not in values:
        raise BadUsage
    found = values[words[0]]()
    if not found and words[0].endswith("EDITOR"):
        return 1
    git.print(found)
    return 0


COMMANDS = {"version": version, "help": help, "var": var}
