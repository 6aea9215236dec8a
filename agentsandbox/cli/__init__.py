"""The command line: `agentsandbox run | shell | mcp | skills`."""

from __future__ import annotations

import argparse
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

EXAMPLES = """\
examples:
  agentsandbox run 'printf "b\\na\\n" | sort'
  agentsandbox run --skill ./my-skill --mount ./data:/data --timeout 5 job.sh first second
  agentsandbox shell --mount .:/work:overlay --cwd /work
  agentsandbox mcp --skill ./skills
  agentsandbox skills validate ./skills
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help(sys.stderr)
        return 2
    try:
        status: int = options.start(options)
    except BrokenPipeError:
        from agentsandbox.cli.terminal import give_up_output

        give_up_output()
        return 141
    except KeyboardInterrupt:
        return 130
    return status


class _Version(argparse.Action):
    """Writes the version, which is looked up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from agentsandbox.version import __version__

        print(f"agentsandbox {__version__}")
        parser.exit()


def make_parser() -> argparse.ArgumentParser:
    """The parser; the options that it gives have `start`, which runs the chosen command."""
    parser = argparse.ArgumentParser(
        prog="agentsandbox",
        description="An isolated shell with mounted skills, inside this process.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    run = commands.add_parser("run", help="run a script and pass its exit status on")
    _add_sandbox_options(run)
    run.add_argument(
        "--timeout", type=_seconds, metavar="SECONDS", help="how long the script may take"
    )
    run.add_argument(
        "script",
        nargs="?",
        help='the script: a text, or the name of a file; standard input for "-" and without it',
    )
    run.add_argument("args", nargs=argparse.REMAINDER, help="$1, $2 … of the script")
    run.set_defaults(start=_run)

    shell = commands.add_parser(
        "shell", help="an interactive shell; where standard input is no terminal, it is the script"
    )
    _add_sandbox_options(shell)
    shell.set_defaults(start=_shell)

    mcp = commands.add_parser(
        "mcp",
        help="serve the sandbox to a client of the Model Context Protocol, on standard input and output",
    )
    _add_sandbox_options(mcp)
    mcp.set_defaults(start=_mcp)

    _add_skills(
        commands.add_parser("skills", help="look at skills, check, lock, audit and fetch them")
    )
    return parser


def _add_sandbox_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--skill",
        action="append",
        default=[],
        metavar="DIR",
        help="mount a skill, or a folder of skills (repeatable)",
    )
    parser.add_argument(
        "--mount",
        action="append",
        default=[],
        metavar="HOST:PATH[:ro|overlay|rw]",
        help="mount a folder of the host (repeatable; ro)",
    )
    parser.add_argument(
        "--limit",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="set a limit, timeout=5 for instance (repeatable)",
    )
    parser.add_argument(
        "--env",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="set a variable (repeatable)",
    )
    parser.add_argument(
        "--cwd", default="/workspace", metavar="PATH", help="the working directory (/workspace)"
    )


def _add_skills(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, text, takes in (
        ("list", "list the skills in folders", "json"),
        ("show", "show what an agent would read of a skill", "json"),
        ("validate", "check skills against the specification; status 1 when one breaks it", "json"),
        ("lock", "write down what skills are made of, file by file", "lock"),
        ("verify", "compare skills with what was locked; status 1 when one differs", "lock json"),
        ("audit", "show what skills would do: commands, network, writes, what is hidden", "json"),
    ):
        action = actions.add_parser(name, help=text)
        action.add_argument(
            "directories", nargs="+", metavar="DIR", help="a skill, or a folder of skills"
        )
        if "lock" in takes:
            action.add_argument(
                "--lock", default="skills.lock", metavar="FILE", help="the lock (skills.lock)"
            )
        if "json" in takes:
            action.add_argument("--json", action="store_true", help="write JSON")
        action.set_defaults(start=_skills)
    fetch = actions.add_parser(
        "fetch", help="fetch skills from an address into a folder, and lock them"
    )
    _add_fetch_options(fetch)
    fetch.set_defaults(start=_fetch)
    from agentsandbox.cli.proposals import add_parser

    proposals = actions.add_parser(
        "proposals", help="decide on changes of skills that agents proposed"
    )
    add_parser(proposals)
    proposals.set_defaults(start=_proposals)


def _add_fetch_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "url",
        metavar="URL",
        help="an archive, a SKILL.md, a git repository, or a site with an index of skills",
    )
    parser.add_argument(
        "directory", metavar="DIR", help="the folder that the skills' folders go to"
    )
    kinds = ("archive", "document", "git", "index")
    parser.add_argument(
        "--as", dest="kind", choices=kinds, help="what it is, where the address does not tell"
    )
    parser.add_argument(
        "--digest",
        metavar="sha256:…",
        help="of an archive or document; without it, it is pinned when it comes first",
    )
    parser.add_argument(
        "--ref", metavar="REF", help="the commit, branch or tag of a repository (HEAD)"
    )
    parser.add_argument(
        "--below",
        default="",
        metavar="PATH",
        help="the directory of an archive or repository to look in",
    )
    parser.add_argument(
        "--name", metavar="NAME", help="the name of the folder of a skill at the top of an archive"
    )
    parser.add_argument(
        "--allow",
        action="append",
        default=[],
        metavar="URL",
        help="another place to be redirected to (repeatable)",
    )
    parser.add_argument(
        "--allow-private", action="store_true", help="accept private and local addresses"
    )
    parser.add_argument(
        "--timeout",
        type=_seconds,
        default=60.0,
        metavar="SECONDS",
        help="how long one request may take (60)",
    )
    parser.add_argument(
        "--update",
        action="store_true",
        help="accept what is not as it was pinned, and replace skills that are there",
    )
    parser.add_argument(
        "--lock",
        default="skills.lock",
        metavar="FILE",
        help="the lock to write them to (skills.lock)",
    )
    cache = "~/.cache/agentsandbox"
    parser.add_argument(
        "--cache", default=cache, metavar="DIR", help=f"where contents and pins are kept ({cache})"
    )
    parser.add_argument("--json", action="store_true", help="write JSON")


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number of seconds, not {text!r}") from None
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be positive and finite, not {text}")
    return value


# What each command starts; the modules are loaded only then.


def _run(options: argparse.Namespace) -> int:
    from agentsandbox.cli.run import run_script
    from agentsandbox.cli.setup import with_sandbox

    return with_sandbox(
        options, lambda sandbox: run_script(sandbox, options.script, options.args, options.timeout)
    )


def _shell(options: argparse.Namespace) -> int:
    from agentsandbox.cli.repl import run_shell
    from agentsandbox.cli.setup import with_sandbox

    return with_sandbox(options, run_shell)


def _mcp(options: argparse.Namespace) -> int:
    from agentsandbox.cli.setup import serve_mcp, with_sandbox

    return with_sandbox(options, serve_mcp)


def _skills(options: argparse.Namespace) -> int:
    from agentsandbox.cli.skills import skill_folders

    folders = [folder for directory in options.directories for folder in skill_folders(directory)]
    if options.action in ("list", "show", "validate"):
        from agentsandbox.cli.skills import run_skills

        return run_skills(options.action, folders, as_json=options.json)
    from agentsandbox.cli.trust import run_trust

    return run_trust(options.action, folders, options)


def _fetch(options: argparse.Namespace) -> int:
    from agentsandbox.cli.fetch import run_fetch

    return run_fetch(options)


def _proposals(options: argparse.Namespace) -> int:
    from agentsandbox.cli.proposals import run_proposals

    return run_proposals(options)
