"""`git init`."""

from __future__ import annotations

import posixpath

from agentsandbox.git.config import with_value
from agentsandbox.git.errors import BadUsage, Fatal
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.options import parse_options
from agentsandbox.git.refs import is_branch_name
from agentsandbox.git.repository import is_repository, load_config
from agentsandbox.kernel.streams import encode

USAGES = {
    "init": """
git init [-q | --quiet] [--bare] [--separate-git-dir <git-dir>] [-b <branch-name>] [<directory>]

    --template <template-directory>
                          a folder with the files of a new repository
    --bare                make a repository without a worktree
    --shared[=<permissions>]
                          share the repository between users
    -q, --quiet           print nothing
    --separate-git-dir <gitdir>
                          keep the repository in another folder
    -b, --initial-branch <name>
                          the name of the first branch
    --object-format <hash>
                          the hash algorithm
""",
}

_HINT = """Using 'master' as the name for the initial branch. This default branch name
is subject to change. To configure the initial branch name to use in all
of your new repositories, which will suppress this warning, call:

\tgit config --global init.defaultBranch <name>

Names commonly chosen instead of 'master' are 'main', 'trunk' and
'development'. The just-created branch can be renamed via this command:

\tgit branch -m <name>"""
_DESCRIPTION = "Unnamed repository; edit this file 'description' to name the repository.\n"
_EXCLUDE = """# git ls-files --others --exclude-from=.git/info/exclude
# Lines that start with '#' are comments.
# For a project mostly in C, the following would be a good set of
# exclude patterns (uncomment them if you want to use them):
# *.[oa]
# *~
"""


def make_repository(
    git: Invocation, folder: str, *, bare: bool, branch: str, worktree: str | None = None,
    template: str | None = None,
) -> None:  # fmt: skip
    """Make the files of a new repository, those that are missing.

    `template` is a folder whose files are copied; "" for none, None for that of the settings.
    """
    fs, umask = git.fs, git.ctx.umask
    mode, permissions = 0o777 & ~umask, 0o666 & ~umask
    template = _template_of(git, template)
    texts = {
        "HEAD": f"ref: refs/heads/{branch}\n",
        "config": "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n"
        f"\tbare = {'true' if bare else 'false'}\n"
        + ("" if bare else "\tlogallrefupdates = true\n")
        + ("" if worktree is None else f"\tworktree = {worktree}\n"),
    }
    folders = ["", "/objects/info", "/objects/pack", "/refs/heads", "/refs/tags"]
    if template is None:
        folders += ["/hooks", "/info", "/branches"]
        texts |= {"description": _DESCRIPTION, "info/exclude": _EXCLUDE}
    for name in folders:
        fs.makedirs(folder + name, mode)
    is_new = not fs.exists(f"{folder}/config", follow=False)
    if template:
        _copy_template(git, git.path(template).rstrip("/"), folder)
    path = f"{folder}/config"
    if is_new and fs.exists(path, follow=False):
        text = fs.read_text(path)
        for line in texts["config"].split("\n")[1:-1]:
            key, _, value = line.strip().partition(" = ")
            text, _ = with_value(
                text, f"core.{key}", value, lambda each: True, replace_all=True
            )
        fs.write_bytes(path, encode(text), permissions=permissions)
    for name, text in texts.items():
        if not fs.exists(f"{folder}/{name}", follow=False):
            fs.write_bytes(f"{folder}/{name}", encode(text), permissions=permissions)


def _template_of(git: Invocation, given: str | None) -> str | None:
    """Return the folder with the template, None for the files that all repositories have."""
    if given is not None:
        return given
    found = git.env.get("GIT_TEMPLATE_DIR")
    if found is None:
        value = load_config(git, None).find("init.templatedir")
        found = git.config.expand(value.text or "") if value is not None else None
    return found


def _copy_template(git: Invocation, source: str, target: str) -> None:
    """Copy the files of a template that are missing, hidden ones left out."""
    fs, umask = git.fs, git.ctx.umask
    if not fs.is_dir(source):
        git.warn(f"templates not found in {source}")
        return
    pending = [(source, target)]
    while pending:
        here, there = pending.pop()
        fs.makedirs(there, 0o777 & ~umask)
        for name in fs.listdir(here):
            git.budget.step()
            if name.startswith("."):
                continue
            one, two = f"{here}/{name}", f"{there}/{name}"
            info = fs.stat(one, follow=False)
            if info.is_dir:
                pending.append((one, two))
            elif fs.exists(two, follow=False):
                continue
            elif info.is_link:
                fs.symlink(fs.readlink(one), two)
            elif info.is_file:
                git.budget.charge(info.size)
                fs.write_bytes(two, fs.read_bytes(one), permissions=info.mode & 0o777 & ~umask)
            else:
                git.error(f"ignoring template {one}")


def init(git: Invocation, words: list[str]) -> int:
    # long: finds the place of the repository, makes it, and reports it
    options = parse_options(USAGES["init"], words)
    if len(options.operands) > 1:
        raise BadUsage
    if options.given("shared"):
        raise Fatal("git init --shared is not supported in this sandbox: there is one user")
    if options.text("object-format", "sha1") != "sha1":
        raise Fatal("repositories with SHA-256 names are not supported in this sandbox")
    bare = options.on("bare") or (
        "GIT_DIR" in git.env and any(key == "core.bare" for key, _ in git.settings)
    )
    top = git.path(options.operands[0]) if options.operands else git.cwd
    top = posixpath.normpath(top)
    if options.operands:
        git.fs.makedirs(top, 0o777 & ~git.ctx.umask)
    top = git.fs.realpath(top)
    separate = options.get("separate-git-dir")
    if separate is not None and bare:
        raise Fatal("options '--separate-git-dir' and '--bare' cannot be used together")
    folder = top if bare else f"{top}/.git" if top != "/" else "/.git"
    if git.env.get("GIT_DIR") and not options.operands and not bare:
        folder = posixpath.normpath(git.path(git.env["GIT_DIR"]))
    elif separate is not None:
        folder = posixpath.normpath(git.path(separate))
    elif not bare and git.fs.is_file(folder):
        text = git.fs.read_text(folder).removeprefix("gitdir: ").strip()
        folder = text if text.startswith("/") else posixpath.normpath(f"{top}/{text}")
    again = is_repository(git.fs, folder)
    branch = options.text("initial-branch")
    if not branch:
        config = load_config(git, None)
        branch = git.env.get("GIT_TEST_DEFAULT_INITIAL_BRANCH_NAME") or config.get(
            "init.defaultbranch"
        )
        if not branch:
            branch = "master"
            if (
                not options.on("quiet")
                and not again
                and config.flag("advice.defaultbranchname", True)
            ):
                git.say("\n".join(f"hint: {line}" for line in _HINT.split("\n")))
    if not is_branch_name(branch):
        raise Fatal(f"invalid initial branch name: '{branch}'")
    if again and options.given("initial-branch"):
        git.warn(f"re-init: ignored --initial-branch={branch}")
    make_repository(
        git, folder, bare=bare, branch=branch, template=options.get("template")
    )
    if separate is not None:
        git.fs.write_text(f"{top}/.git", f"gitdir: {folder}\n")
    if not options.on("quiet"):
        word = "Reinitialized existing" if again else "Initialized empty"
        git.print(f"{word} Git repository in {folder.rstrip('/')}/")
    return 0


COMMANDS = {"init": init}
