"""The command line: `agentsandbox run | shell | mcp | skills | python`."""

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


CACHE = "~/.cache/agentsandbox"


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
    """Prints the version, which is looked up only for `--version`."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from agentsandbox.version import __version__

        print(f"agentsandbox {__version__}")
        parser.exit()


def make_parser() -> argparse.ArgumentParser:
    """Return the parser. Its options have `start`, the function that runs the chosen command."""
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
        "--timeout", type=_seconds, metavar="SECONDS", help="stop the script after this time"
    )
    run.add_argument(
        "script",
        nargs="?",
        help='the script: a text or the name of a file; standard input for "-" or by default',
    )
    run.add_argument("args", nargs=argparse.REMAINDER, help="$1, $2 … of the script")
    run.set_defaults(start=_run)

    shell = commands.add_parser(
        "shell", help="an interactive shell; runs standard input unless that is a terminal"
    )
    _add_sandbox_options(shell)
    shell.set_defaults(start=_shell)

    mcp = commands.add_parser(
        "mcp", help="serve the sandbox by the Model Context Protocol on standard input and output"
    )
    _add_sandbox_options(mcp)
    mcp.set_defaults(start=_mcp)

    _add_skills(
        commands.add_parser("skills", help="look at skills, check, lock, audit and fetch them")
    )
    _add_python(commands.add_parser("python", help="prepare python3 for sandboxes, once a machine"))
    return parser


def _add_python(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, text in (
        ("prepare", "compile CPython for this machine: a minute, 2 GB of memory, 300 MB of disk"),
        ("status", "show whether python3 can run, and why not; status 1 if it cannot"),
        ("clean", "remove what was compiled"),
    ):
        action = actions.add_parser(name, help=text)
        action.add_argument(
            "--cache", metavar="DIR", help="the folder of compiled programs (the user's cache)"
        )
        if name == "prepare":
            action.add_argument("--force", action="store_true", help="compile it again")
        if name != "clean":
            action.add_argument("--json", action="store_true", help="write JSON")
        action.set_defaults(start=_python)


def _add_sandbox_options(parser: argparse.ArgumentParser) -> None:
    for name, metavar, text in (
        ("--skill", "DIR", "mount a skill, or a folder of skills (repeatable)"),
        ("--mount", "HOST:PATH[:ro|overlay|rw]", "mount a folder of the host (repeatable; ro)"),
        ("--limit", "NAME=VALUE", "set a limit, for example timeout=5 (repeatable)"),
        ("--env", "NAME=VALUE", "set a variable (repeatable)"),
    ):
        parser.add_argument(name, action="append", default=[], metavar=metavar, help=text)
    parser.add_argument("--python", action="store_true", help="give scripts python3")
    parser.add_argument(
        "--isolation",
        choices=("thread", "process"),
        default="thread",
        help="run scripts in a process of their own, which the kernel confines (Linux)",
    )
    parser.add_argument(
        "--script-errexit",
        choices=("sh", "always", "never"),
        default="sh",
        help="which script files stop at their first error: those in sh (the default), all, none",
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
        ("lock", "write the digests of all files of skills to a lock file", "lock"),
        ("verify", "compare skills with a lock file; status 1 when one differs", "lock json"),
        ("audit", "show what skills would do: commands, network, writes, hidden text", "json"),
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
    fetch = actions.add_parser("fetch", help="fetch skills from an address into a folder")
    _add_fetch_options(fetch)
    fetch.set_defaults(start=_fetch)
    from agentsandbox.cli.proposals import add_parser

    proposals = actions.add_parser("proposals", help="decide on changes that agents proposed")
    add_parser(proposals)
    proposals.set_defaults(start=_proposals)


def _add_fetch_options(parser: argparse.ArgumentParser) -> None:
    address = "an archive, a SKILL.md, a git repository, or a site with an index of skills"
    parser.add_argument("url", metavar="URL", help=address)
    parser.add_argument("directory", metavar="DIR", help="the folder for the skills' folders")
    kinds = ("archive", "document", "git", "index")
    parser.add_argument(
        "--as", dest="kind", choices=kinds, help="the kind, if the address does not show it"
    )
    for name, metavar, default, text in (
        ("--digest", "sha256:…", None, "of an archive or document; otherwise the first is pinned"),
        ("--ref", "REF", None, "the commit, branch or tag of a repository (HEAD)"),
        ("--below", "PATH", "", "the directory of an archive or repository to look in"),
        ("--name", "NAME", None, "the name of the folder of a skill at the top of an archive"),
        ("--lock", "FILE", "skills.lock", "the lock to write them to (skills.lock)"),
        ("--cache", "DIR", CACHE, f"the folder for contents and pins ({CACHE})"),
    ):
        parser.add_argument(name, metavar=metavar, default=default, help=text)
    redirected = "another address to be redirected to (repeatable)"
    parser.add_argument("--allow", action="append", default=[], metavar="URL", help=redirected)
    seconds = "stop a request after this time (60)"
    parser.add_argument("--timeout", type=_seconds, default=60.0, metavar="SECONDS", help=seconds)
    for name, text in (
        ("--allow-private", "accept private and local addresses"),
        ("--update", "accept content that differs from its pin, and replace existing skills"),
        ("--json", "write JSON"),
    ):
        parser.add_argument(name, action="store_true", help=text)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number of seconds, not {text!r}") from None
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be positive and finite, not {text}")
    return value


# The commands. Each loads its modules when it starts.


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
    from agentsandbox.cli.skills import all_folders

    folders = all_folders(options.directories)
    if options.action in ("list", "show", "validate"):
        from agentsandbox.cli.skills import run_skills

        return run_skills(options.action, folders, as_json=options.json)
    from agentsandbox.cli.trust import run_trust

    return run_trust(options.action, folders, options)


def _python(options: argparse.Namespace) -> int:
    from agentsandbox.cli.python import run_python

    return run_python(options)


def _fetch(options: argparse.Namespace) -> int:
    from agentsandbox.cli.fetch import run_fetch

    return run_fetch(options)


def _proposals(options: argparse.Namespace) -> int:
    from agentsandbox.cli.proposals import run_proposals

    return run_proposals(options)
