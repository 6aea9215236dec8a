"""`git submodule`; `update` is in `updating.py`, `summary` in `summarizing.py`."""

from __future__ import annotations

from agentsandbox.git.commands.clone import guess_folder
from agentsandbox.git.commands.submodule_words import (
    QUIET,
    USAGE,
    Words,
    chosen_to_init,
    refused_usage,
)
from agentsandbox.git.commands.summarizing import submodule_summary
from agentsandbox.git.commands.updating import submodule_update
from agentsandbox.git.config import read_text, rename_section
from agentsandbox.git.errors import Fatal, Plain
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.modules import (
    Submodule,
    is_relative_url,
    is_safe_name,
    may_write,
    refuse_linked_path,
    set_in_file,
    set_in_modules,
)
from agentsandbox.git.nested import ask_git, enter, enter_path, folder_of, run_git
from agentsandbox.git.objects import NULL, SUBMODULE
from agentsandbox.git.pathspecs import normalized
from agentsandbox.git.repository import is_repository
from agentsandbox.git.superproject import (
    CloneOptions,
    Superproject,
    absorb,
    remote_of,
    unset_worktree,
)
from agentsandbox.git.worktree import Worktree
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.index import Entry

USAGES: dict[str, str] = {}

_ADD_USAGE = """usage: git submodule add [<options>] [--] <repository> [<path>]

    -b, --branch <branch>
                          branch of repository to add as submodule
    -f, --force           allow adding an otherwise ignored submodule path
    -q, --quiet           print only error messages
    --progress            force cloning progress
    --reference <repository>
                          reference repository
    --dissociate          borrow the objects from reference repositories
    --name <name>         sets the submodule's name to the given string instead of defaulting \
to its path
    --depth <n>           depth for shallow clones
"""
_SET_URL_USAGE = """usage: git submodule set-url [--quiet] <path> <newurl>

    -q, --quiet           suppress output for setting url of a submodule
"""
_SET_BRANCH_USAGE = """usage: git submodule set-branch [-q|--quiet] (-d|--default) <path>
   or: git submodule set-branch [-q|--quiet] (-b|--branch) <branch> <path>

    -d, --default         set the default tracking branch to master
    -b, --branch <branch>
                          set the default tracking branch
"""
_DEINIT_USAGE = """usage: git submodule deinit [--quiet] [-f | --force] [--all | [--] [<path>...]]

    -q, --quiet           suppress submodule status output
    -f, --force           remove submodule working trees even if they contain local changes
    --all                 unregister all submodules
"""


def submodule(git: Invocation, words: list[str]) -> int:
    if words[:1] == ["-h"]:
        git.print(USAGE)
        return 0
    repository = git.repository
    if repository.worktree is None:
        raise Plain(
            "fatal: /usr/lib/git-core/git-submodule cannot be used without a working tree.", 1
        )
    git.env["GIT_PROTOCOL_FROM_USER"] = "0"
    rest, before = list(words), list[str]()
    action = ""
    while rest and not action:
        word = rest[0]
        if word in _ACTIONS:
            action = word
        elif word in ("-q", "--quiet"):
            before.append("-q")
        elif word == "--cached":
            before.append(word)
        elif word != "--" and word.startswith("-"):
            raise refused_usage(git)
        else:
            break
        del rest[0]
    if not action:
        if rest:
            raise refused_usage(git)
        action = "status"
    if "--cached" in before and action not in ("status", "summary"):
        raise refused_usage(git)
    if action == "absorbgitdirs":
        before = []
    return _ACTIONS[action](git, before + rest)


# add


def _add(git: Invocation, words: list[str]) -> int:
    # long: one check after the other, in git's order
    given = Words(git, words, {
        **QUIET, "-b": "branch=", "--branch": "branch=", "-f": "force", "--force": "force",
        "--progress": "progress", "--reference": "reference=", "--dissociate": "dissociate",
        "--name": "name=", "--depth": "depth=",
    })  # fmt: skip
    operands = given.operands
    if not operands or not operands[0]:
        raise refused_usage(git)
    for name in ("reference", "dissociate"):
        if given.on(name):
            raise Fatal(f"git submodule add --{name} is not supported in this sandbox")
    depth = given.given.get("depth", "")
    if depth and not depth.isdigit():
        raise refused_usage(git, "error: option `depth' expects a numerical value")
    if not may_write(git):
        raise Fatal("please make sure that the .gitmodules file is in the working tree")
    if len(operands) > 2:
        raise refused_usage(git, _ADD_USAGE)
    url = operands[0]
    word = operands[1] if len(operands) > 1 else guess_folder(url, bare=False)
    top = Superproject(git)
    if is_relative_url(url):
        if top.prefix:
            raise Fatal("Relative path can only be used from the toplevel of the working tree")
        real = top.resolved(url, quiet=True)
    elif url.startswith("/") or ":" in url:
        real = url
    else:
        raise Fatal(f"repo URL: '{url}' must be absolute or begin with ./|../")
    path = decode(normalized(git, word)).rstrip("/")
    if not path:
        raise Fatal(f"'{word}' already exists and is not a valid git repo")
    refuse_linked_path(git, path)
    force = given.on("force")
    _refuse_in_index(git, path, force=force)
    if folder_of(top.repository, path) is not None:
        if Worktree(top.repository).head_of_nested(encode(path)) is None:
            raise Fatal(f"'{path}' does not have a commit checked out")
    if not force and (status := _try_add(git, path)):
        return status
    name = given.given.get("name", path)
    if not is_safe_name(name):
        raise Fatal(f"'{name}' is not a valid submodule name")
    module = Submodule(name)
    module.path, module.url, module.branch = path, url, given.given.get("branch")
    options = CloneOptions()
    options.quiet, options.depth = given.on("quiet"), depth
    _provide(top, module, real, options, force=force)
    _register(top, module, real, force=force)
    return 0


def _refuse_in_index(git: Invocation, path: str, *, force: bool) -> None:
    index = git.repository.index()
    name = encode(path)
    found = [*index.stages(name).values(), *index.below(name)]
    if not found:
        return
    if not force:
        raise Fatal(f"'{path}' already exists in the index")
    if found[0].mode != SUBMODULE:
        raise Fatal(f"'{path}' already exists in the index and is not a submodule")


def _try_add(git: Invocation, path: str) -> int:
    """Return the status of a trial: 1 for a path that is ignored."""
    made = enter(git, git.repository.need_worktree())
    made.mute = True
    return run_git(made, ["add", "--dry-run", "--ignore-missing", "--no-warn-embedded-repo", path])


def _provide(
    top: Superproject, module: Submodule, real: str, options: CloneOptions, *, force: bool
) -> None:
    """Clone a new submodule, or take the repository that is there."""
    git, path = top.git, module.path or ""
    where = top.place(path)
    if git.fs.is_dir(where):
        if not top.is_populated(path):
            raise Fatal(f"'{path}' already exists and is not a valid git repo")
        git.print(f"Adding existing repo at '{path}' to the index")
        return
    folder = f"{top.repository.folder}/modules/{module.name}"
    if git.fs.is_dir(folder):
        if not force:
            raise Fatal(_present(git, folder, module.name, real))
        git.print(f"Reactivating local git directory for submodule '{module.name}'")
    git.flush()
    top.clone(module, real, options)
    words = ["checkout", "-f", "-q"]
    if module.branch is not None:
        words += ["-B", module.branch, f"origin/{module.branch}"]
    if run_git(enter(git, where), words):
        raise Fatal(f"unable to checkout submodule '{path}'")


def _present(git: Invocation, folder: str, name: str, real: str) -> str:
    """Return why a repository that was a submodule before is not taken."""
    if not is_repository(git.fs, folder):
        git.say(f"fatal: not a git repository: '.git/modules/{name}'")
    made = enter(git, folder, {"GIT_DIR": folder, "GIT_WORK_TREE": "."}, quiet=True)
    run_git(made, ["remote", "-v"])
    lines = [
        f"  {line.removesuffix(' (fetch)')}\n"
        for line in decode(b"".join(made.sink or [])).split("\n")
        if line.endswith(" (fetch)")
    ]
    return (
        f"A git directory for '{name}' is found locally with remote(s):\n{''.join(lines)}"
        "If you want to reuse this local git directory instead of cloning again from\n"
        f"  {real}\nuse the '--force' option. If the local git directory is not the correct repo\n"
        "or you are unsure what this means choose another name with the '--name' option."
    )


def _register(top: Superproject, module: Submodule, real: str, *, force: bool) -> None:
    """Note a new submodule in the configuration, in the index and in `.gitmodules`."""
    git, path, name = top.git, module.path or "", module.name
    top.configure(f"submodule.{name}.url", real)
    words = ["add", "--no-warn-embedded-repo", *["--force"] * force, "--", path]
    if run_git(enter(git, top.top), words):
        raise Fatal(f"Failed to add submodule '{path}'")
    set_in_modules(git, f"submodule.{name}.path", path)
    set_in_modules(git, f"submodule.{name}.url", module.url)
    if module.branch is not None:
        set_in_modules(git, f"submodule.{name}.branch", module.branch)
    if run_git(enter(git, top.top), ["add", "--force", "--", ".gitmodules"]):
        raise Fatal(f"Failed to register submodule '{path}'")
    if git.config.find("submodule.active") is None or not top.modules.is_active(path):
        top.configure(f"submodule.{name}.active", "true")


# init, deinit


def _init(git: Invocation, words: list[str]) -> int:
    given = Words(git, words, QUIET)
    top = Superproject(git)
    for path in chosen_to_init(top, given.operands):
        top.initialize(path, quiet=given.on("quiet"))
    return 0


def _deinit(git: Invocation, words: list[str]) -> int:
    given = Words(git, words, {**QUIET, "-f": "force", "--force": "force", "--all": "all"})
    if given.on("all") and given.operands:
        git.error("pathspec and --all are incompatible")
        raise refused_usage(git, _DEINIT_USAGE)
    if not given.on("all") and not given.operands:
        raise Fatal("Use '--all' if you really want to deinitialize all submodules")
    top = Superproject(git)
    for entry in top.listed(given.operands):
        _remove_worktree(top, decode(entry.path), given.on("quiet"), given.on("force"))
    return 0


def _remove_worktree(top: Superproject, path: str, quiet: bool, force: bool) -> None:
    git, fs = top.git, top.git.fs
    refuse_linked_path(git, path)
    module = top.modules.at(path)
    if module is None:
        return
    where, shown = top.place(path), top.shown(path)
    if fs.is_dir(where):
        if fs.is_dir(f"{where}/.git"):
            if not quiet:
                git.warn(
                    f"Submodule work tree '{shown}' contains a .git directory. "
                    "This will be replaced with a .git file by using absorbgitdirs."
                )
            absorb(git, path)
        if not force and run_git(enter(git, top.top), ["rm", "-qn", "--", path]):
            raise Fatal(
                f"Submodule work tree '{shown}' contains local modifications; "
                "use '-f' to discard them"
            )
        fs.remove_tree(where)
        if not quiet:
            git.print(f"Cleared directory '{shown}'")
        unset_worktree(git, module)
    fs.makedirs(where, 0o777 & ~git.ctx.umask)
    section = f"submodule.{module.name}"
    if any(key.startswith(f"{section}.") for key in git.config.below("")):
        place = f"{top.repository.common}/config"
        text, count = rename_section(read_text(fs, place), section, None)
        if count:
            fs.write_bytes(place, encode(text))
        git.forget_config()
        if not quiet:
            url = module.url if module.url is not None else "(null)"
            git.print(f"Submodule '{module.name}' ({url}) unregistered for path '{shown}'")


# status


def _status(git: Invocation, words: list[str]) -> int:
    given = Words(git, words, {**QUIET, "--cached": "cached", "--recursive": "recursive"})
    _print_states(
        Superproject(git), given.operands, quiet=given.on("quiet"), cached=given.on("cached"),
        recursive=given.on("recursive"),
    )  # fmt: skip
    return 0


def _print_states(
    top: Superproject, words: list[str], *, quiet: bool, cached: bool, recursive: bool
) -> None:
    for entry in top.listed(words):
        if _print_state(top, entry, quiet=quiet, cached=cached) and recursive:
            path = decode(entry.path)
            top.git.budget.nested(
                lambda path=path: _print_states(  # type: ignore[misc]
                    top.below(path), [], quiet=quiet, cached=cached, recursive=True
                )
            )


def _print_state(top: Superproject, entry: Entry, *, quiet: bool, cached: bool) -> bool:
    """Print the state of a submodule; return whether it is checked out."""
    path = decode(entry.path)
    refuse_linked_path(top.git, path)
    if top.modules.at(path) is None:
        raise Fatal(f"no submodule mapping found in .gitmodules for path '{path}'")
    state, oid = " ", entry.oid
    if entry.stage:
        state, oid = "U", NULL
    elif not top.modules.is_active(path) or not top.is_populated(path):
        state = "-"
    else:
        head = Worktree(top.repository).head_of_nested(entry.path)
        if head is not None and head != entry.oid:
            state, oid = "+", entry.oid if cached else head
    if not quiet:
        name = _described(top, path, oid) if state in " +" else ""
        top.git.print(f"{state}{oid} {top.shown(path)}{f' ({name})' if name else ''}")
        top.git.flush()
    return state in " +"


def _described(top: Superproject, path: str, oid: str) -> str:
    for words in ((), ("--tags",), ("--contains",), ("--all", "--always")):
        found = ask_git(top.git, top.place(path), "describe", *words, oid)
        if found is not None:
            return found
    return ""


# foreach


def _foreach(git: Invocation, words: list[str]) -> int:
    given = Words(git, words, {**QUIET, "--recursive": "recursive"}, dashes=False)
    _visit(Superproject(git), given.operands, given.on("quiet"), given.on("recursive"))
    return 0


def _visit(top: Superproject, words: list[str], quiet: bool, recursive: bool) -> None:
    """Run a command in each submodule that is checked out, and in those within."""
    for entry in top.listed(()):
        path = decode(entry.path)
        refuse_linked_path(top.git, path)
        module, shown = top.module_at(path), top.shown(path)
        if not top.is_populated(path):
            continue
        if not quiet:
            top.git.print(f"Entering '{shown}'")
        made = enter(top.git, top.place(path))
        if words and _run_there(made, top, module, entry.oid, words):
            raise Fatal(f"run_command returned non-zero status for {shown}\n.")
        if not recursive:
            continue
        try:
            top.git.budget.nested(
                lambda path=path: _visit(top.below(path), words, quiet, True)  # type: ignore[misc]
            )
        except Fatal as error:
            top.git.say(f"fatal: {error.message}")
            raise Fatal(
                "run_command returned non-zero status while recursing in the nested submodules "
                f"of {shown}\n."
            ) from None


def _run_there(
    made: Invocation, top: Superproject, module: Submodule, oid: str, words: list[str]
) -> int:
    if len(words) > 1:
        if any(character in words[0] for character in "|&;<>()$`\\\"' \t\n*?[#~=%"):
            words = ["sh", "-c", f'{words[0]} "$@"', *words]
        return made.run(words)[0]
    path = module.path or ""
    quoted = "'" + path.replace("'", "'\\''").replace("!", "'\\!'") + "'"
    variables = {
        "name": module.name, "sm_path": path, "displaypath": top.shown(path), "sha1": oid,
        "toplevel": top.top,
    }  # fmt: skip
    script = f"path={quoted}; {words[0]}"
    return made.run(["sh", "-c", script, script], env=variables)[0]


# URLs and branches


def _sync(git: Invocation, words: list[str]) -> int:
    given = Words(git, words, {**QUIET, "--recursive": "recursive"})
    _sync_all(Superproject(git), given.operands, given.on("quiet"), given.on("recursive"))
    return 0


def _sync_all(top: Superproject, words: list[str], quiet: bool, recursive: bool) -> None:
    for entry in top.listed(words):
        path = decode(entry.path)
        if _sync_one(top, path, quiet) and recursive:
            top.git.budget.nested(
                lambda path=path: _sync_all(top.below(path), [], quiet, True)  # type: ignore[misc]
            )


def _sync_one(top: Superproject, path: str, quiet: bool) -> bool:
    """Let the remote of a submodule be what `.gitmodules` says; return whether it is there."""
    if not top.modules.is_active(path):
        return False
    refuse_linked_path(top.git, path)
    module = top.module_at(path)
    url = module.url or ""
    inner = top.resolved(url, "../" * (path.count("/") + 1), quiet=True)
    if not quiet:
        top.git.print(f"Synchronizing submodule url for '{top.shown(path)}'")
        top.git.flush()
    top.configure(f"submodule.{module.name}.url", top.resolved(url, quiet=True))
    if not top.is_populated(path):
        return False
    made = enter_path(top.git, path)
    folder = made.repository.common
    set_in_file(top.git, f"{folder}/config", f"remote.{remote_of(made)}.url", inner)
    return True


def _set_url(git: Invocation, words: list[str]) -> int:
    given = Words(git, words, QUIET)
    if len(given.operands) != 2:
        raise refused_usage(git, _SET_URL_USAGE)
    path, url = given.operands
    set_in_modules(git, f"submodule.{path}.url", url)
    _sync_one(Superproject(git), path, given.on("quiet"))
    return 0


def _set_branch(git: Invocation, words: list[str]) -> int:
    given = Words(git, words, {
        **QUIET, "-d": "default", "--default": "default", "-b": "branch=", "--branch": "branch=",
    })  # fmt: skip
    branch = given.given.get("branch")
    if branch is None and not given.on("default"):
        raise Fatal("--branch or --default required")
    if branch is not None and given.on("default"):
        raise Fatal("options '--branch' and '--default' cannot be used together")
    if len(given.operands) != 1:
        raise refused_usage(git, _SET_BRANCH_USAGE)
    set_in_modules(git, f"submodule.{given.operands[0]}.branch", branch)
    return 0


def _absorb(git: Invocation, words: list[str]) -> int:
    if any(word.startswith("-") and word not in ("--", "-") for word in words[:1]):
        text = f"error: unknown option `{words[0].lstrip('-')}'\n"
        usage = "usage: git submodule absorbgitdirs [<options>] [<path>...]\n"
        raise refused_usage(git, text + usage)
    top = Superproject(git)
    for entry in top.listed([word for word in words if word != "--"]):
        absorb(git, decode(entry.path))
    return 0


_ACTIONS = {
    "add": _add, "foreach": _foreach, "init": _init, "deinit": _deinit,
    "update": submodule_update, "set-branch": _set_branch, "set-url": _set_url,
    "status": _status, "summary": submodule_summary, "sync": _sync, "absorbgitdirs": _absorb,
}  # fmt: skip
COMMANDS = {"submodule": submodule}
