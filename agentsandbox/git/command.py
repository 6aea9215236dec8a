"""`git`: the options before the subcommand, aliases, and which module has which subcommand."""

from __future__ import annotations

import importlib
import posixpath
import re

from agentsandbox.git.errors import BadUsage, Fatal, GitError, MissingObject, Quit, WrongUsage
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.surroundings import visible
from agentsandbox.git.texts import split_words
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentsandbox.contract.command import CommandContext

    Subcommand = Callable[[Invocation, list[str]], int]

VERSION = "2.39.5"

MODULES = {
    "adding": "add rm",
    "applying": "apply",
    "archiving": "archive bundle",
    "bisecting": "bisect",
    "blaming": "annotate blame",
    "branching": "branch",
    "checking": "check-attr check-mailmap check-ref-format interpret-trailers stripspace",
    "cleaning": "clean",
    "clone": "clone",
    "cloning": "init",
    "committing": "commit",
    "configuring": "config",
    "comparing": "diff diff-files diff-index diff-tree",
    "examining": "verify-pack",
    "extracting": "checkout-index",
    "fetching": "fetch ls-remote pull",
    "formatting": "format-patch",
    "information": "help version var",
    "linking": "worktree",
    "logging": "log reflog rev-list show whatchanged",
    "mailing": "am",
    "merging": "merge merge-base",
    "merging_files": "merge-file",
    "moving": "mv",
    "naming": "describe name-rev",
    "noting": "notes",
    "objects": "cat-file hash-object ls-tree mktree write-tree commit-tree",
    "parsing": "rev-parse",
    "picking": "cherry-pick revert",
    "pushing": "push",
    "reading": "read-tree",
    "rebasing": "rebase",
    "referring": "symbolic-ref update-ref show-ref for-each-ref",
    "remoting": "remote",
    "resetting": "reset",
    "searching": "grep",
    "stashing": "stash",
    "submodules": "submodule",
    "storing": "count-objects gc pack-refs prune prune-packed repack",
    "sparse_checkout": "sparse-checkout",
    "summing_up": "shortlog",
    "states": "status ls-files update-index check-ignore",
    "switching": "checkout switch restore",
    "tagging": "tag",
    "verifying": "fsck",
}
"""The modules of `git/commands/` and their subcommands."""

ABSENT = {
    "difftool": "there is no tool to start; use git diff",
    "mergetool": "there is no tool to start; edit the files with conflicts",
    "gui": "there is no screen",
    "gitk": "there is no screen",
    "citool": "there is no screen",
    "instaweb": "there is no web server",
    "send-email": "there is no mail",
    "imap-send": "there is no mail",
    "request-pull": "there is no remote to pull from",
    "svn": "there is no Subversion",
    "p4": "there is no Perforce",
    "cvsimport": "there is no CVS",
    "cvsserver": "there is no CVS",
    "daemon": "a sandbox has no services",
    "credential": "credentials belong to the host",
    "filter-branch": "use rebase, or commit-tree in a loop",
    "lfs": "there is no large file storage",
    "column": "use column",
    "range-diff": "use git diff between the two tips",
    "rerere": "conflicts are not recorded; resolve them again",
    "show-branch": "use git log --graph --oneline",
    "verify-commit": "there are no keys to check signatures with",
    "verify-tag": "there are no keys to check signatures with",
    "maintenance": "use git gc",
    "multi-pack-index": "use git repack -a -d",
    "commit-graph": "history is read from the commits",
    "replace": "objects are not replaced",
    "fast-export": "use git bundle",
    "fast-import": "use git bundle",
}
"""Subcommands that this git does not have, and why."""

_MOST_ALIASES = 10


def _modules() -> dict[str, str]:
    return {name: module for module, names in MODULES.items() for name in names.split()}


def find_subcommand(name: str) -> Subcommand | None:
    """Return the function of a subcommand, None for an unknown one."""
    module = _modules().get(name)
    if module is None:
        return None
    found: Subcommand = importlib.import_module(f"agentsandbox.git.commands.{module}").COMMANDS[
        name
    ]
    return found


USAGE = """usage: git [<global options>] <command> [<args>]

Global options
    -C <path>             work as if started there
    -c <name>=<value>     set a value of the configuration
    --config-env=<name>=<variable>
                          the same, from the environment
    --git-dir=<path>      the folder of the repository
    --work-tree=<path>    the top of its worktree
    --bare                the repository has no worktree
    -p, --paginate        changes nothing: there is no pager
    -P, --no-pager        changes nothing
    --no-replace-objects  changes nothing: objects are not replaced
    --literal-pathspecs, --glob-pathspecs, --noglob-pathspecs, --icase-pathspecs
                          how pathspecs are read
    --exec-path, --html-path, --man-path, --info-path
                          print a folder
    -v, --version         print the version
    -h, --help            print a help text
"""


def run(ctx: CommandContext) -> int:
    """Run git with the words of the command line and return the status."""
    git = Invocation(ctx, dict(ctx.env), ctx.cwd)
    words = list(ctx.words)
    try:
        return _guarded(git, lambda: _run(git, words))
    finally:
        git.flush()


def guarded(git: Invocation, work: Callable[[], int]) -> int:
    """Return the status of a part of a command; print its errors and what it printed."""
    try:
        return _guarded(git, work)
    finally:
        git.flush()


def _guarded(git: Invocation, work: Callable[[], int]) -> int:
    try:
        return work()
    except Quit as error:
        return error.status
    except BadUsage as error:
        return _usage_error(git, error)
    except MissingObject as error:
        git.say(f"fatal: {error.message}")
        return error.status
    except GitError as error:
        git.say(visible(f"{error.prefix}{error.message}"))
        return error.status
    except OSError as error:
        name = error.filename or ""
        git.say(f"fatal: {f'{name}: ' if name else ''}{_reason(error)}")
        return 128


def _reason(error: OSError) -> str:
    return error.strerror or "Input/output error"


def _usage_error(git: Invocation, error: BadUsage) -> int:
    from agentsandbox.git.options import table_of

    usage = USAGES.get(git.name) or _usage_of(git.name)
    text = table_of(usage).text() if usage else ""
    if not error.message:
        if git.arguments[:1] == ["-h"]:
            git.write(encode(text))
        else:
            git.say(text.rstrip("\n") + ("\n" if "\n    " in text else ""))
        return 129
    if isinstance(error, WrongUsage):
        git.say(f"fatal: {error.message}\n")
    else:
        git.say(f"error: {error.message}")
    if error.usage and text:
        git.say(text.rstrip("\n") + ("\n" if "\n    " in text else ""))
    return error.status


USAGES: dict[str, str] = {}


def _usage_of(name: str) -> str:
    module = _modules().get(name)
    if module is None:
        return ""
    table = importlib.import_module(f"agentsandbox.git.commands.{module}").USAGES
    return str(table.get(name, ""))


def _run(git: Invocation, words: list[str]) -> int:
    rest = _global_options(git, words)
    if isinstance(rest, int):
        return rest
    if not rest:
        git.write(encode(USAGE + "\n" + _common_commands()))
        return 1
    return run_subcommand(git, rest)


def run_subcommand(git: Invocation, words: list[str]) -> int:
    """Run a subcommand or an alias."""
    name, arguments = words[0], words[1:]
    seen: list[str] = []
    while True:
        found = find_subcommand(name)
        if found is not None:
            git.name, git.arguments = name, arguments
            return found(git, arguments)
        alias = git.config.get(f"alias.{name.lower()}") if re.fullmatch(r"[\w.-]+", name) else ""
        if not alias:
            return _unknown(git, name)
        if alias.startswith("!"):
            return _shell_alias(git, alias[1:], arguments)
        try:
            expanded = split_words(alias)
        except ValueError as error:
            raise Fatal(f"bad alias.{name} string: {error}") from None
        if expanded[:1] == [name]:
            raise Fatal(f"recursive alias: {name}")
        if name in seen or len(seen) > _MOST_ALIASES:
            raise Fatal(
                f"alias loop detected: expansion of '{seen[0]}' does not terminate:\n"
                + "\n".join(
                    f"  {each}"
                    + (" <==" if each == seen[0] else " ==>" if each == seen[-1] else "")
                    for each in seen
                )
            )
        seen.append(name)
        more = _global_options(git, expanded)
        if isinstance(more, int):
            return more
        if not more:
            raise Fatal(f"empty alias for {name}")
        name, arguments = more[0], more[1:] + arguments


def _shell_alias(git: Invocation, script: str, arguments: list[str]) -> int:
    repository = git.find_repository()
    cwd, env = git.cwd, {}
    if repository is not None and repository.worktree is not None:
        cwd = repository.worktree
        env["GIT_PREFIX"] = decode(repository.prefix)
    text = f'{script} "$@"' if arguments else script
    status, _ = git.run(["sh", "-c", text, script, *arguments], cwd=cwd, env=env)
    return status


def _unknown(git: Invocation, name: str) -> int:
    if name in ABSENT:
        git.say(f"git: '{name}' is not available in this sandbox: {ABSENT[name]}")
        return 1
    git.say(f"git: '{name}' is not a git command. See 'git --help'.")
    from difflib import get_close_matches

    close = get_close_matches(name, sorted(_modules()), 3, 0.7)
    if close:
        head = "The most similar command is" if len(close) == 1 else "The most similar commands are"
        git.say(f"\n{head}\n" + "\n".join(f"\t{each}" for each in sorted(close)))
    return 1


def _common_commands() -> str:
    names = " ".join(sorted(_modules()))
    lines, line = [], "  "
    for name in names.split():
        if len(line) + len(name) > 76:
            lines.append(line.rstrip())
            line = "  "
        line += f" {name}"
    lines.append(line.rstrip())
    return (
        "These commands are available in this sandbox:\n\n"
        + "\n".join(lines)
        + ("\n\n'git <command> -h' shows the options of a command.\n")
    )


def _global_options(git: Invocation, words: list[str]) -> list[str] | int:
    """Take the options before the subcommand; return the rest, or a status if that was all."""
    # long: one option after the other
    at = 0

    def needed(name: str, what: str) -> str:
        nonlocal at
        at += 1
        if at >= len(words):
            git.say(
                f"no {what} given for '{name}' option"
                if what == "directory"
                else f"no {what} given for {name}"
            )
            raise _bad_global()
        return words[at]

    while at < len(words):
        word = words[at]
        if not word.startswith("-"):
            break
        if word in ("--help", "-h"):
            return _help(git, words[at + 1 :])
        if word in ("--version", "-v"):
            return run_subcommand(git, ["version", *words[at + 1 :]])
        if word == "-C":
            _change_directory(git, needed("-C", "directory"))
        elif word == "-c":
            _setting(git, needed("-c", "config string"))
        elif word == "--config-env" or word.startswith("--config-env="):
            text = word[13:] if "=" in word else needed("--config-env", "config key")
            _setting_from(git, text)
        elif word == "--git-dir" or word.startswith("--git-dir="):
            git.env["GIT_DIR"] = word[10:] if "=" in word else needed("--git-dir", "directory")
        elif word == "--work-tree" or word.startswith("--work-tree="):
            git.env["GIT_WORK_TREE"] = (
                word[12:] if "=" in word else needed("--work-tree", "directory")
            )
        elif word == "--bare":
            git.env["GIT_DIR"] = git.env.get("GIT_DIR", git.cwd)
            git.settings.append(("core.bare", "true"))
        elif word in (
            "-p",
            "--paginate",
            "-P",
            "--no-pager",
            "--no-replace-objects",
            "--no-optional-locks",
        ):
            pass  # there is no pager: output is what a pipe gets
        elif word == "--literal-pathspecs":
            git.env["GIT_LITERAL_PATHSPECS"] = "1"
        elif word == "--no-literal-pathspecs":
            git.env["GIT_LITERAL_PATHSPECS"] = "0"
        elif word == "--glob-pathspecs":
            git.env["GIT_GLOB_PATHSPECS"] = "1"
        elif word == "--noglob-pathspecs":
            git.env["GIT_GLOB_PATHSPECS"] = "0"
        elif word == "--icase-pathspecs":
            git.env["GIT_ICASE_PATHSPECS"] = "1"
        elif word == "--exec-path":
            git.print("/usr/lib/git-core")
            return 0
        elif word == "--html-path":
            git.print("/usr/share/doc/git/html")
            return 0
        elif word == "--man-path":
            git.print("/usr/share/man")
            return 0
        elif word == "--info-path":
            git.print("/usr/share/info")
            return 0
        elif word.startswith("--list-cmds="):
            for name in sorted(_modules()):
                git.print(name)
            return 0
        else:
            git.say(f"unknown option: {word}")
            raise _bad_global(git)
        at += 1
    return words[at:]


def _bad_global(git: Invocation | None = None) -> GitError:
    if git is not None:
        git.say(USAGE.rstrip("\n"))
    return Quit(129)


def _change_directory(git: Invocation, path: str) -> None:
    if not path:
        return
    target = git.path(path)
    try:
        info = git.fs.stat(target)
        if not info.is_dir:
            raise NotADirectoryError(20, "Not a directory", path)
    except OSError as error:
        raise Fatal(f"cannot change to '{path}': {error.strerror}") from None
    try:
        git.cwd = git.fs.realpath(target)
    except OSError:
        git.cwd = posixpath.normpath(target)


def _setting(git: Invocation, text: str) -> None:
    key, equals, value = text.partition("=")
    git.settings.append((key, value if equals else None))


def _setting_from(git: Invocation, text: str) -> None:
    key, equals, name = text.rpartition("=")
    if not equals or not name:
        raise Fatal(f"missing environment variable name for configuration '{key or text}'")
    value = git.env.get(name)
    if value is None:
        raise Fatal(f"missing environment variable '{name}' for configuration '{key}'")
    git.settings.append((key, value))


def _help(git: Invocation, words: Sequence[str]) -> int:
    return run_subcommand(git, ["help", *words])
