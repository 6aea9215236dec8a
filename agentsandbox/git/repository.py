"""A repository: its folders, objects, references, index, configuration and people."""

from __future__ import annotations

import posixpath
import re

from agentsandbox.git.config import Config, environment_values
from agentsandbox.git.dates import local_zone, parse_exact
from agentsandbox.git.errors import Fatal, GitError, Plain
from agentsandbox.git.index import Index, format_index, parse_index
from agentsandbox.git.objects import Cache, ObjectStore, is_object_name
from agentsandbox.git.refs import LOCKED, Refs
from agentsandbox.kernel.fs.base import raise_failure
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from agentsandbox.git.objects import Commit
    from agentsandbox.git.sparseness import Patterns
    from agentsandbox.git.surroundings import Surroundings

    class IndexRules(Protocol):
        """What happens to the index between its file and a command."""

        def expand(self, index: Index) -> None:
            """Replace the entries that are trees by the files of the trees."""

        def adopt(self, index: Index) -> None:
            """Bring an index that was read in line with the worktree."""

        def settled(self, index: Index) -> Index:
            """Return what is written for an index."""

_MOST_LEVELS = 512
_MOST_NAMED = 65536
"""The most bytes of a `.git` file."""
_EXTENSIONS = {
    "noop",
    "noop-v1",
    "preciousobjects",
    "partialclone",
    "worktreeconfig",
    "objectformat",
}


# TM-GIT-6
class Repository:
    """A repository as one call of git sees it."""

    def __init__(self, git: Surroundings, folder: str, worktree: str | None, shown: str) -> None:
        self.git = git
        self.fs = git.fs
        self.folder = folder
        """The absolute path of the `.git` folder."""
        self.common = _common_folder(self.fs, folder)
        """The folder that holds objects and references; another one for linked worktrees."""
        self.worktree = worktree
        """The absolute path of the worktree, None for a bare repository."""
        self.shown_folder = shown
        """The folder as git prints it: ".git" at the top of the worktree."""
        self.prefix = b""
        """The working directory below the worktree: "" or a path with a final "/"."""
        if worktree is not None:
            here = git.cwd.rstrip("/") + "/"
            top = worktree.rstrip("/") + "/"
            if here.startswith(top):
                self.prefix = encode(here[len(top) :])
        memo = _memo(git)
        objects = git.env.get("GIT_OBJECT_DIRECTORY")
        place = git.path(objects) if objects else f"{self.common}/objects"
        self.cache: Cache = memo.setdefault(f"objects {place}", Cache())
        self.objects = ObjectStore(self.fs, place, git.budget, self.cache, git.ctx.umask)
        self.objects.report = git.say
        self.refs = Refs(self.fs, folder, self.common, git.budget, git.ctx.umask)
        if self.common == folder:
            self.refs.shown = shown
        self.refs.ident = self._log_ident
        self._grafts: dict[str, tuple[str, ...]] | None = None
        self._config: Config | None = None
        self.modules: Any = None
        """What `.gitmodules` says, once it was read."""
        self.rules: IndexRules | None = None
        """What happens to the index between its file and a command."""
        self._sparse: list[Patterns | None] = []
        self._has_written = False

    def readable(self, oid: str) -> Commit:
        """Return a commit with its text in the encoding of new commits, UTF-8 by default."""
        from agentsandbox.git.encodings import recoded

        return recoded(
            self.objects.commit(oid), self.config.get("i18n.commitencoding") or "UTF-8"
        )

    # settings that the format needs

    def settle(self, config: Config) -> None:
        """Check the format of the repository and take the settings of its parts."""
        version = config.number("core.repositoryformatversion", 0)
        if version > 1:
            raise Fatal(f"Expected git repo version <= 1, found {version}")
        if version == 1:
            unknown = [
                key
                for key in (
                    value.key[11:] for value in config.values if value.key.startswith("extensions.")
                )
                if key not in _EXTENSIONS
            ]
            if unknown:
                names = "\n".join(f"\t{name}" for name in sorted(set(unknown)))
                raise Fatal(
                    f"unknown repository extension{'s' if len(unknown) > 1 else ''} found:\n{names}"
                )
            if config.get("extensions.objectformat", "sha1") != "sha1":
                raise Fatal("repositories with SHA-256 names are not supported in this sandbox")
        logs = config.maybe("core.logallrefupdates")
        self.refs.logs_all = (config.get("core.logallrefupdates") or "").lower() == "always"
        self.refs.logs = logs if logs is not None else self.worktree is not None
        level = config.number("core.loosecompression", config.number("core.compression", 1))
        self.objects.level = level if -1 <= level <= 9 else 1

    @property
    def config(self) -> Config:
        """Return the configuration."""
        if self._config is None:
            self._config = load_config(self.git, self)
        return self._config

    def forget_config(self) -> None:
        """Read the configuration again at the next need."""
        self._config = None
        self._sparse = []

    @property
    def is_bare(self) -> bool:
        """Whether there is no worktree."""
        return self.worktree is None

    def need_worktree(self) -> str:
        """Return the worktree's path; Fatal without one."""
        if self.worktree is None:
            raise Fatal("this operation must be run in a work tree")
        return self.worktree

    def file(self, name: str) -> str:
        """Return the path of a file in the `.git` folder."""
        if (
            name.split("/", maxsplit=1)[0] in ("hooks", "info", "packed-refs", "objects", "shallow")
            or name == "config"
        ) and name != "info/sparse-checkout":
            return f"{self.common}/{name}"
        return f"{self.folder}/{name}"

    def read_file(self, name: str) -> str | None:
        """Return the text of a file in the `.git` folder, None if it is missing."""
        try:
            return self.fs.read_text(self.file(name))
        except OSError as error:
            raise_failure(error)
            return None

    def write_file(self, name: str, data: bytes | str) -> None:
        """Replace a file in the `.git` folder."""
        path = self.file(name)
        if "/" in name:
            self.fs.makedirs(path.rpartition("/")[0], 0o777 & ~self.git.ctx.umask)
        self.fs.write_bytes(
            path,
            encode(data) if isinstance(data, str) else data,
            permissions=0o666 & ~self.git.ctx.umask,
        )

    def remove_file(self, *names: str) -> None:
        """Remove files of the `.git` folder that may be there."""
        for name in names:
            path = self.file(name)
            if self.fs.exists(path, follow=False):
                if self.fs.stat(path, follow=False).is_dir:
                    self.fs.remove_tree(path)
                else:
                    self.fs.unlink(path)

    def work_path(self, path: bytes) -> str:
        """Return the absolute path of a file of the worktree."""
        return f"{self.need_worktree().rstrip('/')}/{decode(path)}"

    # HEAD

    def head(self) -> str | None:
        """Return the commit of HEAD, None before the first one."""
        return self.refs.read("HEAD")

    def branch(self) -> str:
        """Return the full name of the current branch, "" if HEAD is detached."""
        return self.refs.symbolic("HEAD") or ""

    # the index

    @property
    def index_path(self) -> str:
        """Return the path of the index file."""
        other = self.git.env.get("GIT_INDEX_FILE")
        return self.git.path(other) if other else f"{self.folder}/index"

    def index(self) -> Index:
        """Return the index; empty if there is none."""
        path = self.index_path
        memo = _memo(self.git)
        try:
            data = self.fs.read_bytes(path)
            mtime = self.fs.stat(path).mtime
        except FileNotFoundError:
            return Index()
        kept = memo.get(f"index {path}")
        if kept is not None and kept[0] == data:
            found: Index = kept[1].copy()
        else:
            self.git.budget.step(len(data) // 64)
            shown = self.git.env.get("GIT_INDEX_FILE") or f"{self.shown_folder}/index"
            parsed = parse_index(data, shown)
            if parsed.is_collapsed and self.rules is not None:
                self.rules.expand(parsed)
            memo[f"index {path}"] = (data, parsed)
            found = parsed.copy()
        found.mtime = mtime
        if self.rules is not None and not self._has_written:
            self.rules.adopt(found)
        return found

    def write_index(self, index: Index) -> None:
        """Replace the index file."""
        path = self.index_path
        lock, data = self.lock_index(path, index)
        try:
            self.fs.rename(lock, path)
        except BaseException:
            self.fs.unlink(lock)
            raise
        self._has_written = True
        _memo(self.git)[f"index {path}"] = (data, index.copy())

    def refuse_locked_index(self) -> None:
        """Raise if another command is changing the index."""
        lock = f"{self.index_path}.lock"
        if self.fs.exists(lock, follow=False):
            raise Fatal(f"Unable to create '{lock}': File exists.\n\n{LOCKED}")

    def lock_index(self, path: str, index: Index) -> tuple[str, bytes]:
        """Write an index to the lock file of a path; return its name and content."""
        lock = f"{path}.lock"
        permissions = 0o666 & ~self.git.ctx.umask
        try:
            file = self.fs.open(lock, "x", permissions=permissions)
        except FileExistsError:
            raise Fatal(f"Unable to create '{lock}': File exists.\n\n{LOCKED}") from None
        except PermissionError as error:
            raise Fatal(f"Unable to create '{lock}': {error.strerror}") from None
        try:
            self.git.budget.step(len(index) // 8)
            data = format_index(index if self.rules is None else self.rules.settled(index))
            try:
                file.write(data)
            finally:
                file.release()
        except BaseException:
            self.fs.unlink(lock)
            raise
        return lock, data

    # the sparse checkout

    @property
    def is_sparse(self) -> bool:
        """Whether the worktree may be limited to a part of the files, by the configuration."""
        return self.config.flag("core.sparsecheckout")

    @property
    def has_cone(self) -> bool:
        """Whether what limits the worktree are directories, by the configuration."""
        return self.config.flag("core.sparsecheckoutcone")

    @property
    def sparse_path(self) -> str:
        """Return the path of the file that limits the worktree: each worktree has its own."""
        return self.file("info/sparse-checkout")

    @property
    def sparse(self) -> Patterns | None:
        """Return what limits the worktree, None if nothing does."""
        if not self._sparse:
            self._sparse.append(self.read_sparse(cone=self.has_cone) if self.is_sparse else None)
        return self._sparse[0]

    def read_sparse(self, *, cone: bool) -> Patterns | None:
        """Return what the file says, None if it is missing."""
        from agentsandbox.git.sparseness import parse_patterns

        try:
            data = self.fs.read_bytes(self.sparse_path)
        except OSError:
            return None
        return parse_patterns(data, self.git.budget, cone=cone, warn=self.git.warn)

    def leaves_out(self, path: bytes) -> bool:
        """Whether a path is outside of the sparse checkout."""
        sparse = self.sparse
        return sparse is not None and not sparse.has(path)

    def limit(self, patterns: Patterns | None) -> None:
        """Take what limits the worktree from now on."""
        self._sparse = [patterns]

    # people

    def ident(self, who: str, *, date: str | None = None, strict: bool = True) -> bytes:
        """Return an ident line, "Name <mail> seconds zone", of the "author" or "committer"."""
        return ident_of(self.git, self.config, who, date=date, strict=strict)

    def _log_ident(self) -> bytes:
        return self.ident("committer", strict=False)

    # replaced parents

    def parents(self, oid: str) -> tuple[str, ...]:
        """Return the parents of a commit; none at the edge of a shallow clone."""
        if self._grafts is None:
            self._grafts = {}
            text = self.read_file("shallow")
            for line in (text or "").split("\n"):
                self._grafts[line.strip()] = ()
        grafted = self._grafts.get(oid)
        return self.objects.commit(oid).parents if grafted is None else grafted

    def keep_real_parents(self) -> None:
        """Let history end only where a parent is missing, whatever the file `shallow` says."""
        text = self.read_file("shallow") or ""
        self._grafts = {
            oid: ()
            for line in text.split("\n")
            if is_object_name(oid := line.strip())
            and oid in self.objects
            and any(parent not in self.objects for parent in self.objects.commit(oid).parents)
        }

    def forget_grafts(self) -> None:
        """Read at the next need where history ends."""
        self._grafts = None

    def short(self, oid: str, length: int | None = None) -> str:
        """Return the abbreviation of an object's name."""
        return self.objects.abbreviate(oid, self.abbrev if length is None else length)

    @property
    def abbrev(self) -> int:
        """Return the least length of abbreviations."""
        text = self.config.get("core.abbrev", "auto").lower()
        if text in ("no", "off", "false"):
            return 40
        if text.isdigit() and len(text) < 3:
            return max(4, min(40, int(text)))
        return 7


def _memo(git: Surroundings) -> dict[str, Any]:
    return git.ctx.host.memo


def _common_folder(fs: Any, folder: str) -> str:
    try:
        text = fs.read_text(f"{folder}/commondir").strip()
    except OSError as error:
        raise_failure(error)
        return folder
    return posixpath.normpath(text if text.startswith("/") else f"{folder}/{text}")


# finding it


def is_repository(fs: Any, folder: str) -> bool:
    """Whether a folder looks like a `.git` folder."""
    common = _common_folder(fs, folder)
    if not fs.is_dir(f"{common}/objects") or not fs.is_dir(f"{common}/refs"):
        return False
    try:
        path = f"{folder}/HEAD"
        if fs.stat(path, follow=False).is_link:
            return bool(fs.readlink(path).startswith("refs/"))
        text = fs.read_text(path)
    except OSError as error:
        raise_failure(error)
        return False
    return bool(re.match(r"ref:\s*refs/|[0-9a-f]{40}", text))


def _real(fs: Any, path: str) -> str:
    try:
        return str(fs.realpath(path))
    except OSError:
        return posixpath.normpath(path)


def discover(git: Surroundings) -> Repository | None:
    """Return the repository that the environment or the working directory names."""
    fs, env = git.fs, git.env
    given = env.get("GIT_DIR")
    if given is not None:
        return _given(git, given)
    here = _real(fs, git.cwd)
    git.cwd = here
    ceilings = [path.rstrip("/") for path in env.get("GIT_CEILING_DIRECTORIES", "").split(":")]
    top = here
    for _ in range(_MOST_LEVELS):
        git.budget.step()
        dot = f"{top.rstrip('/')}/.git"
        if fs.is_file(dot):
            target = _linked(git, dot)
            return _made(git, target, top, target)
        if fs.is_dir(dot) and is_repository(fs, dot):
            shown = ".git" if top == here else dot
            return _made(git, _real(fs, dot), top, shown)
        if is_repository(fs, top):
            shown = "." if top == here else top
            return _made(git, top, None, shown)
        if top == "/":
            return None
        top = posixpath.dirname(top)
        if top.rstrip("/") in ceilings and top != "/":
            return None
    return None


def linked_folder(fs: Any, path: str) -> str | None:
    """Return the folder that a `.git` file names, None if that is no repository."""
    try:
        if not fs.is_file(path) or fs.stat(path).size > _MOST_NAMED:
            return None
        text = fs.read_text(path)
    except OSError as error:
        raise_failure(error)
        return None
    target = text[8:].rstrip("\n\r")
    if not text.startswith("gitdir: ") or not target:
        return None
    if not target.startswith("/"):
        target = f"{posixpath.dirname(path)}/{target}"
    target = posixpath.normpath(target)
    return target if is_repository(fs, target) else None


def nested_folder(fs: Any, worktree: str) -> str | None:
    """Return the `.git` folder of the repository with a worktree, or None."""
    dot = f"{worktree}/.git"
    return dot if is_repository(fs, dot) else linked_folder(fs, dot)


def _linked(git: Surroundings, path: str) -> str:
    """Return the folder that a `.git` file names."""
    text = git.fs.read_text(path)
    if not text.startswith("gitdir: "):
        raise Fatal(f"invalid gitfile format: {path}")
    target = text[8:].rstrip("\n\r")
    if not target.startswith("/"):
        target = f"{posixpath.dirname(path)}/{target}"
    target = posixpath.normpath(target)
    if not is_repository(git.fs, target):
        raise Fatal(f"not a git repository: {target}")
    return target


def _given(git: Surroundings, given: str) -> Repository:
    fs = git.fs
    git.cwd = _real(fs, git.cwd)
    folder = posixpath.normpath(git.path(given))
    if fs.is_file(folder):
        folder = _linked(git, folder)
    if not is_repository(fs, folder):
        raise Fatal(f"not a git repository: '{given}'")
    folder = _real(fs, folder)
    worktree: str | None = git.cwd
    tree = git.env.get("GIT_WORK_TREE")
    if tree is not None:
        worktree = _real(fs, git.path(tree))
    repository = Repository(git, folder, worktree, given)
    config = repository.config
    if tree is None:
        if config.get("core.worktree"):
            worktree = _real(fs, posixpath.join(folder, config.get("core.worktree")))
        elif config.flag("core.bare"):
            worktree = None
        if worktree != repository.worktree:
            repository = Repository(git, folder, worktree, given)
    repository.settle(config)
    return repository


def _made(git: Surroundings, folder: str, worktree: str | None, shown: str) -> Repository:
    repository = Repository(git, folder, worktree, shown)
    config = repository.config
    tree = git.env.get("GIT_WORK_TREE") or config.get("core.worktree")
    if tree:
        base = git.cwd if git.env.get("GIT_WORK_TREE") else folder
        repository = Repository(
            git, folder, _real(git.fs, tree if tree.startswith("/") else f"{base}/{tree}"), shown
        )
    elif config.maybe("core.bare") and worktree is not None and repository.common == folder:
        repository = Repository(git, folder, None, shown)
    repository.settle(config)
    return repository


def load_config(git: Surroundings, repository: Repository | None) -> Config:
    """Return the configuration of all files, of the environment and the command line."""
    env, home = git.env, git.home
    config = Config(
        git.fs,
        home,
        repository.folder if repository is not None else "",
        lambda: "" if repository is None else repository.branch().removeprefix("refs/heads/"),
    )
    if env.get("GIT_CONFIG_NOSYSTEM", "0").lower() in ("0", "false", "no", "off", ""):
        path = env.get("GIT_CONFIG_SYSTEM", "/etc/gitconfig")
        config.add_file(path, "system", path)
    for path in global_files(git):
        config.add_file(path, "global", path)
    if repository is not None:
        path = f"{repository.common}/config"
        shown = (
            f"{repository.shown_folder}/config"
            if repository.common == repository.folder
            else (path)
        )
        config.add_file(path, "local", shown)
        if config.maybe("extensions.worktreeconfig"):
            path = f"{repository.folder}/config.worktree"
            config.add_file(path, "worktree", path)
    for key, value in [*environment_values(env), *git.settings]:
        try:
            config.add(key, value)
        except GitError as error:
            raise Plain(
                f"error: {error.message}\nfatal: unable to parse command-line config", 128
            ) from None
    if git.accepts is not None:
        config.keep(git.accepts)
    return config


def global_files(git: Surroundings) -> list[str]:
    """Return the paths of the user's configuration, the weaker first."""
    given = git.env.get("GIT_CONFIG_GLOBAL")
    if given is not None:
        return [given] if given else []
    found = []
    xdg = git.env.get("XDG_CONFIG_HOME") or (f"{git.home}/.config" if git.home else "")
    if xdg:
        found.append(f"{xdg}/git/config")
    if git.home:
        found.append(f"{git.home}/.gitconfig")
    return found


# people

_CRUD = "".join(map(chr, range(33))) + ".,:;<>\"\\'"
_TELL = """{who} identity unknown

*** Please tell me who you are.

Run

  git config --global user.email "you@example.com"
  git config --global user.name "Your Name"

to set your account's default identity.
Omit --global to set the identity only in this repository.
"""


def clean_name(text: str) -> str:
    """Return a name or address without what an ident line cannot hold."""
    return re.sub(r"[<>\n]", "", text.strip(_CRUD))


def ident_of(
    git: Surroundings, config: Config, who: str, *, date: str | None = None, strict: bool = True
) -> bytes:
    """Return the ident line of the "author" or "committer"; Fatal if it is not known."""
    env = git.env
    upper = who.upper()
    name = env.get(f"GIT_{upper}_NAME") or ""
    mail = env.get(f"GIT_{upper}_EMAIL")
    if not name:
        name = config.get(f"{who}.name") or config.get("user.name")
    if mail is None:
        mail = config.get(f"{who}.email") or config.get("user.email") or env.get("EMAIL")
    host = git.ctx.host
    if mail is None:
        if strict:
            raise Plain(
                _TELL.replace("{who}", who.capitalize())
                + f"\nfatal: unable to auto-detect email address "
                f"(got '{host.user}@{host.hostname}.(none)')",
                128,
            )
        mail = f"{host.user}@{host.hostname}.(none)"
    if not name:
        if strict and config.flag("user.useconfigonly"):
            raise Fatal("no name was given and auto-detection is disabled")
        name = host.user
    shown = clean_name(name)
    if not shown and strict:
        raise Fatal(f"name consists only of disallowed characters: {name}")
    return encode(f"{shown} <{clean_name(mail)}> ") + ident_date(git, upper, date)


def ident_date(git: Surroundings, who: str, date: str | None) -> bytes:
    """Return "seconds zone" for an ident: of `date`, of GIT_…_DATE, or now."""
    text = date if date is not None else git.env.get(f"GIT_{who}_DATE") if who else None
    if not text:
        now = git.now
        return encode(f"{now} {local_zone(now, git.tz):+05d}")
    found = parse_exact(text, git.now, git.tz)
    if found is None:
        raise Fatal(f"invalid date format: {text}")
    return encode(f"{found[0]} {found[1]:+05d}")
