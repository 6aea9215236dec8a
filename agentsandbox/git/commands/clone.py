"""`git clone`."""

from __future__ import annotations

import posixpath
import re

from agentsandbox.git.commands.cloning import make_repository
from agentsandbox.git.commands.switching import _ADVICE as DETACHED
from agentsandbox.git.config import normal_key, with_value
from agentsandbox.git.errors import BadUsage, Fatal
from agentsandbox.git.hooks import run_hook
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.nested import enter, run_git
from agentsandbox.git.objects import NULL
from agentsandbox.git.options import Options, parse_options
from agentsandbox.git.packing import copy_store
from agentsandbox.git.refs import is_branch_name, is_ref_name
from agentsandbox.git.remotes import (
    LocalPeer,
    Peer,
    change_shallow,
    find_remote,
    find_repository_at,
    open_repository,
    shallow_of,
)
from agentsandbox.git.repository import Repository
from agentsandbox.git.transports import check_allowed, open_peer
from agentsandbox.git.unpacking import switch_trees
from agentsandbox.kernel.streams import encode

USAGES = {
    "clone": """
git clone [<options>] [--] <repo> [<dir>]

    -v, --verbose         say more
    -q, --quiet           say less
    --progress            show progress
    -n, --no-checkout     do not write the files
    --bare                make a repository without a worktree
    --mirror              make a mirror (which is bare)
    -l, --local           clone from a local repository
    --no-hardlinks        copy the files of a local repository
    -s, --shared          share the objects of a local repository
    --recurse-submodules[=<pathspec>]
                          clone submodules too
    --recursive[=<pathspec>]
                          the same
    --[no-]shallow-submodules
                          clone only the last commit of submodules
    --remote-submodules   take submodules from their remote's branches
    -j, --jobs <n>        submodules cloned at a time
    -o, --origin <name>   use another name than 'origin'
    -b, --branch <branch> check out another branch than the remote's
    --depth <depth>       clone only the last commits
    --single-branch       clone only one branch
    --no-tags             clone no tags
    --template <template-directory>
                          a folder with the files of a new repository
    --separate-git-dir <gitdir>
                          keep the repository in another folder
    -c, --config <key=value>
                          set a key in the new repository
    --sparse              check out only the files at the top
    --template <template-directory>
                          a folder with the files of a new repository
""",
}


_NOT_CHECKED_OUT = """warning: Clone succeeded, but checkout failed.
You can inspect what was checked out with 'git status'
and retry with 'git restore --source=HEAD :/'
"""


class Source:
    """What is cloned: the URL as it is kept, the other side, and whether files are copied."""

    def __init__(self, git: Invocation, word: str) -> None:
        self.word = word
        self.url = word
        found = None
        if word not in git.ctx.host.git_remotes and "://" not in word:
            found = find_repository_at(git, word)
        self.is_path = found is not None
        if found is not None:
            self.url = git.path(word)
            self.peer: Peer = LocalPeer(found, self.url)
        else:
            remote = find_remote(git, word)
            self.url = word
            self._remote_url = remote.urls[0]
            is_file = git.fs.is_file(git.path(word))
            if word not in git.ctx.host.git_remotes and "://" not in self._remote_url:
                if is_file:
                    self.url = git.path(word)
                elif not re.match(r"[^/]*:", self._remote_url):
                    raise Fatal(f"repository '{word}' does not exist")

    def open(self, git: Invocation) -> Peer:
        """Return the other side."""
        if self.is_path:
            check_allowed(git, self.word)
        else:
            self.peer = open_peer(git, self._remote_url)
        return self.peer


def clone(git: Invocation, words: list[str]) -> int:
    # long: checks, then the steps of a clone
    options = parse_options(USAGES["clone"], words)
    operands = options.operands
    if not operands:
        git.say("fatal: You must specify a repository to clone.\n")
        raise BadUsage
    if len(operands) > 2:
        git.say("fatal: Too many arguments.\n")
        raise BadUsage
    _refuse(options)
    bare = options.on("bare") or options.on("mirror")
    origin = options.text("origin") or git.config.get("clone.defaultremotename", "origin")
    if not is_ref_name(f"refs/remotes/{origin}/test"):
        raise Fatal(f"'{origin}' is not a valid remote name")
    depth = _depth(options)
    source = Source(git, operands[0])
    name = operands[1] if len(operands) > 1 else guess_folder(operands[0], bare=bare)
    top = posixpath.normpath(git.path(name))
    existed = git.fs.exists(top, follow=False)
    if existed and (not git.fs.is_dir(top) or git.fs.listdir(top)):
        raise Fatal(f"destination path '{name}' already exists and is not an empty directory.")
    quiet = options.on("quiet")
    if not quiet:
        git.say(f"Cloning into {'bare repository ' if bare else ''}'{name}'...")
    if depth is not None and source.is_path:
        git.warn("--depth is ignored in local clones; use file:// instead.")
        depth = None
    git.fs.makedirs(top, 0o777 & ~git.ctx.umask)
    top = git.fs.realpath(top)
    separate = options.get("separate-git-dir")
    folder = top if bare else f"{top}/.git"
    if separate is not None:
        folder = posixpath.normpath(git.path(separate))
    try:
        return _clone(git, options, source, folder, None if bare else top, origin, depth)
    except BaseException:
        _undo(git, top, folder, existed)
        raise


def _refuse(options: Options) -> None:
    if options.on("bare") and options.given("separate-git-dir"):
        raise Fatal("options '--bare' and '--separate-git-dir' cannot be used together")


def _depth(options: Options) -> int | None:
    text = options.get("depth")
    if text is None:
        return None
    if not text.isdigit() or not int(text[:9]):
        raise Fatal(f"depth {text} is not a positive number")
    return int(text[:9])


def _undo(git: Invocation, top: str, folder: str, existed: bool) -> None:
    """Remove what a clone that failed has made."""
    fs = git.fs
    for path in dict.fromkeys((folder, top)):
        if fs.is_dir(path):
            if path == top and existed:
                for name in fs.listdir(path):
                    child = f"{path}/{name}"
                    if fs.stat(child, follow=False).is_dir:
                        fs.remove_tree(child)
                    else:
                        fs.unlink(child)
            else:
                fs.remove_tree(path)


def guess_folder(url: str, *, bare: bool) -> str:
    """Return the name of the folder for a clone of a URL."""
    text = re.sub(r"^[A-Za-z][A-Za-z0-9+.-]*://(?:[^/@]*@)?", "", url)
    text = text.rstrip("/").rstrip()
    if text.endswith("/.git"):
        text = text[:-5].rstrip("/")
    if "/" not in text and ":" in text:
        text = text.rpartition(":")[2]
    text = re.split(r"[/:]", text)[-1]
    text = text.removesuffix(".bundle").removesuffix(".git")
    text = re.sub(r"[\x00-\x20]+", " ", text).strip()
    if not text or text in (".", ".."):
        raise Fatal(
            "No directory name could be guessed.\nPlease specify a directory on the command line"
        )
    return f"{text}.git" if bare else text


def _clone(
    git: Invocation, options: Options, source: Source, folder: str, worktree: str | None,
    origin: str, depth: int | None,
) -> int:  # fmt: skip
    # long: objects, references, configuration, HEAD, files
    quiet = options.on("quiet")
    peer = source.open(git)
    refs = peer.refs()
    make_repository(
        git, folder, bare=worktree is None, branch="master", template=options.get("template")
    )
    if worktree is not None and folder != f"{worktree}/.git":
        git.fs.write_text(f"{worktree}/.git", f"gitdir: {folder}\n")
    wanted = options.text("branch")
    single = options.on("single-branch") or (depth is not None and not options.off("single-branch"))
    remote_head = _head_of(git, peer, refs)
    head, tag = _chosen(refs, wanted, remote_head, origin)
    if not refs:
        git.warn("You appear to have cloned an empty repository.")
    mapped, spec = _mapped(refs, head, tag, options, origin, single=single)
    repository = open_repository(git, folder, worktree)
    _configure(repository, options, source, origin, spec, "" if tag else head)
    repository.forget_config()
    repository.settle(repository.config)
    git.use(repository)
    local = peer.local()
    if source.is_path and local is not None:
        if options.on("shared"):
            repository.write_file("objects/info/alternates", f"{local.objects.folder}\n")
        else:
            copy_store(local, repository)
        change_shallow(repository, shallow_of(local), set())
    elif refs:
        tips = [*mapped.values(), *([refs["HEAD"]] if "HEAD" in refs and not single else [])]
        peer.fetch(repository, list(dict.fromkeys(tips)), depth)
    tags = {} if options.on("no-tags") else _tags(repository, peer, refs, single=single)
    followed = {name: oid for name, oid in tags.items() if name not in mapped}
    if not single:
        mapped |= followed
    if options.on("mirror") or worktree is None:
        mapped = {name: oid for name, oid in mapped.items() if is_ref_name(name)}
    objects = repository.objects
    repository.refs.pack(objects.peel, mapped)
    if single:
        for name, oid in followed.items():
            repository.refs.write(name, oid, f"clone: from {source.url}")
    commit = _set_head(
        repository, source, remote_head if not (single and wanted) else "", refs, head, tag, origin
    )
    if source.is_path and not quiet:
        git.say("done.")
    if commit is None or worktree is None:
        if worktree is not None and refs and commit is None:
            git.warn("remote HEAD refers to nonexistent ref, unable to checkout.")
        return 0
    if options.on("sparse"):
        from agentsandbox.git.commands.sparse_checkout import sparse_checkout

        sparse_checkout(git, ["set"])
    if options.on("no-checkout") or options.off("checkout"):
        return 0
    if not repository.branch() and not quiet and git.config.flag("advice.detachedhead", True):
        git.say(DETACHED.replace("{name}", commit))
    if switch_trees(
        git, None, objects.commit(commit).tree, action="checkout", reset=True, one_way=True
    ):
        git.say(f"fatal: unable to checkout working tree\n{_NOT_CHECKED_OUT}")
        return 128
    status = run_hook(repository, "post-checkout", NULL, commit, "1")
    if status or not active_submodules(options):
        return status
    words = ["submodule", "update", "--require-init", "--recursive"]
    if options.on("shallow-submodules"):
        words.append("--depth=1")
    words += ["--remote", "--no-fetch"] * options.on("remote-submodules")
    words += ["--quiet"] * quiet
    if options.on("single-branch"):
        words.append("--single-branch")
    return run_git(enter(git, worktree), words)


def active_submodules(options: Options) -> list[str]:
    """Return the pathspecs of the submodules to clone too; none by default."""
    found: list[str] = []
    for name, value, negated in options.order:
        if name in ("recurse-submodules", "recursive"):
            found = [] if negated else [*found, "." if value is None else value]
    return list(dict.fromkeys(found))


def _head_of(git: Invocation, peer: Peer, refs: dict[str, str]) -> str:
    """Return the branch of the remote's HEAD; a detached one counts as a branch at its commit."""
    head = peer.head()
    if head and is_branch_name(head.removeprefix("refs/heads/")):
        return head
    if "HEAD" in refs:
        default = f"refs/heads/{git.config.get('init.defaultbranch', 'master')}"
        for name in (default, "refs/heads/master", *refs):
            if name.startswith("refs/heads/") and refs.get(name) == refs["HEAD"]:
                return name
    return ""


def _chosen(refs: dict[str, str], wanted: str, remote_head: str, origin: str) -> tuple[str, str]:
    """Return (full name of the branch, "") or ("", full name of the tag) to check out."""
    if wanted:
        for full in (f"refs/heads/{wanted}", f"refs/tags/{wanted}"):
            if full in refs:
                return (full, "") if full.startswith("refs/heads/") else ("", full)
        raise Fatal(f"Remote branch {wanted} not found in upstream {origin}")
    return remote_head, ""


def _mapped(
    refs: dict[str, str], head: str, tag: str, options: Options, origin: str, *, single: bool
) -> tuple[dict[str, str], str]:
    """Return the references of the clone, and the refspec for later fetches."""
    base = "refs/heads/" if options.on("bare") else f"refs/remotes/{origin}/"
    if options.on("mirror"):
        return {name: oid for name, oid in refs.items() if name != "HEAD"}, "+refs/*:refs/*"
    if single:
        if tag:
            return {tag: refs[tag]}, f"+{tag}:{tag}"
        if head in refs:
            branch = head.removeprefix("refs/heads/")
            return {base + branch: refs[head]}, f"+{head}:{base}{branch}"
        return {}, ""
    return {
        base + name.removeprefix("refs/heads/"): oid
        for name, oid in refs.items()
        if name.startswith("refs/heads/") and is_ref_name(name)
    }, f"+refs/heads/*:{base}*"


def _tags(
    repository: Repository, peer: Peer, refs: dict[str, str], *, single: bool
) -> dict[str, str]:
    found = {}
    wanted = []
    for name, oid in refs.items():
        if not name.startswith("refs/tags/") or not is_ref_name(name):
            continue
        if single and (peer.peeled(name, oid) or oid) not in repository.objects:
            continue
        found[name] = oid
        if oid not in repository.objects:
            wanted.append(oid)
    if wanted:
        peer.fetch(repository, wanted, None)
    return found


def _configure(
    repository: Repository, options: Options, source: Source, origin: str, spec: str, head: str
) -> None:
    text = repository.fs.read_text(f"{repository.common}/config")
    values: list[tuple[str, str]] = []
    for word in options.all("config"):
        key, equals, value = word.partition("=")
        values.append((key, value if equals else "true"))
    values += [("submodule.active", word) for word in active_submodules(options)]
    values.append((f"remote.{origin}.url", source.url))
    if options.on("no-tags"):
        values.append((f"remote.{origin}.tagOpt", "--no-tags"))
    if spec and (not repository.is_bare or options.on("mirror")):
        values.append((f"remote.{origin}.fetch", spec))
    if options.on("mirror"):
        values.append((f"remote.{origin}.mirror", "true"))
    if options.on("sparse"):
        values.append(("extensions.worktreeConfig", "true"))
    if head and not repository.is_bare:
        branch = head.removeprefix("refs/heads/")
        values += [(f"branch.{branch}.remote", origin), (f"branch.{branch}.merge", head)]
    for key, value in values:
        text, _ = with_value(
            text, normal_key(key), value, lambda each: True, add=True, spelling=key
        )
    repository.write_file("config", text)


def _set_head(
    repository: Repository, source: Source, remote_head: str, refs: dict[str, str], head: str,
    tag: str, origin: str,
) -> str | None:  # fmt: skip
    """Set HEAD and the remote's HEAD and return the commit to check out, None without one."""
    # long: a branch, a tag, a detached HEAD, nothing
    store = repository.refs
    message = f"clone: from {source.url}"
    if not repository.is_bare and remote_head:
        tracked = f"refs/remotes/{origin}/{remote_head.removeprefix('refs/heads/')}"
        if store.read(tracked) is not None:
            store.write_symbolic(f"refs/remotes/{origin}/HEAD", tracked, message)
    if head:
        store.write_symbolic("HEAD", head)
        oid = refs.get(head)
        if oid is None:
            return None
        commit = repository.objects.peel(oid, "commit")
        if commit is not None:
            if not repository.is_bare or store.read(head) is None:
                store.write(head, commit, message)
        return commit
    oid = refs.get(tag or "HEAD")
    commit = repository.objects.peel(oid, "commit") if oid is not None else None
    if commit is not None:
        store.write_file(store.path("HEAD"), encode(f"{commit}\n"))
        store.log("HEAD", NULL, commit, message)
    return commit


COMMANDS = {"clone": clone}
