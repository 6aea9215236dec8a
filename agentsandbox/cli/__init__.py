"""The command line: `agentsandbox run | shell | skills`."""

from __future__ import annotations

import argparse
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="agentsandbox", description="An isolated shell with mounted skills, inside this process.")
    parser.add_argument("--version", action="store_true", help="show the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    run = commands.add_parser("run", help="run a script and pass its exit status on")
    _add_sandbox_options(run)
    run.add_argument("--timeout", type=_seconds, metavar="SECONDS", help="how long the script may take")
    run.add_argument("script", nargs="?", help="the script: a text, or the name of a file; standard input without it")
    run.add_argument("args", nargs=argparse.REMAINDER, help="$1, $2 … of the script")

    shell = commands.add_parser("shell", help="an interactive shell")
    _add_sandbox_options(shell)

    skills = commands.add_parser("skills", help="look at skills")
    actions = skills.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, text in (
        ("list", "list the skills in folders"),
        ("show", "show what an agent would read of a skill"),
        ("validate", "check skills against the specification; status 1 when one breaks it"),
    ):
        action = actions.add_parser(name, help=text)
        action.add_argument("directories", nargs="+", metavar="DIR", help="a skill, or a folder of skills")
        action.add_argument("--json", action="store_true", help="write JSON")
    for name, text in (
        ("lock", "write down what skills are made of, file by file"),
        ("verify", "compare skills with what was locked; status 1 when one differs"),
        ("audit", "show what skills would do: commands, network, writes, what is hidden"),
    ):
        action = actions.add_parser(name, help=text)
        action.add_argument("directories", nargs="+", metavar="DIR", help="a skill, or a folder of skills")
        action.add_argument("--lock", default="skills.lock", metavar="FILE", help="the lock (skills.lock)")
        action.add_argument("--json", action="store_true", help="write JSON")
    from agentsandbox.cli.proposals import add_parser

    add_parser(actions.add_parser("proposals", help="decide on changes of skills that agents proposed"))
    return parser


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be positive and finite, not {text}")
    return value


def _add_sandbox_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--skill", action="append", default=[], metavar="DIR", help="mount a skill (repeatable)")
    parser.add_argument(
        "--mount", action="append", default=[], metavar="HOST:PATH[:ro|overlay|rw]", help="mount a folder of the host (repeatable; ro)"
    )
    parser.add_argument(
        "--limit", action="append", default=[], metavar="NAME=VALUE", help="set a limit, timeout=5 for instance (repeatable)"
    )
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="set a variable (repeatable)")
    parser.add_argument("--cwd", default="/workspace", metavar="PATH", help="the working directory (/workspace)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    parser = _parser()
    try:
        return _run(parser, parser.parse_args(arguments))
    except BrokenPipeError:
        from agentsandbox.cli.terminal import give_up_output

        give_up_output()
        return 141


def _run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    if options.version:
        from agentsandbox import __version__

        print(f"agentsandbox {__version__}")
        return 0
    if options.command is None:
        parser.print_help(sys.stderr)
        return 2
    if options.command == "skills" and options.action == "proposals":
        from agentsandbox.cli.proposals import run_proposals

        return run_proposals(options)
    if options.command == "skills" and options.action in ("lock", "verify", "audit"):
        from agentsandbox.cli.skills import skill_folders
        from agentsandbox.cli.trust import run_trust

        folders = [folder for directory in options.directories for folder in skill_folders(directory)]
        return run_trust(options.action, folders, options.lock, as_json=options.json)
    if options.command == "skills":
        from agentsandbox.cli.skills import run_skills

        return run_skills(options.action, options.directories, as_json=options.json)
    from agentsandbox.cli.setup import SetupError, make_sandbox

    try:
        sandbox = make_sandbox(options.skill, options.mount, options.limit, options.env, options.cwd)
    except SetupError as error:
        print(f"agentsandbox: {error}", file=sys.stderr)
        return 2
    with sandbox:
        if options.command == "shell":
            from agentsandbox.cli.repl import run_shell

            return run_shell(sandbox)
        from agentsandbox.cli.run import run_script

        return run_script(sandbox, options.script, options.args, options.timeout)
