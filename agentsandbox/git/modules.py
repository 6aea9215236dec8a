"""`.gitmodules`: which submodules a repository names, and what may be believed of it.

The file is part of the history and so comes from whoever wrote that. A name is the place of a
folder below `.git/modules`, a path is a place in the worktree, a URL goes to `clone`. Therefore:

* a name with a component ".." is not read at all (CVE-2018-11235);
* a path or a URL that begins with "-" could be taken for an option, and is not read
  (CVE-2018-17456, CVE-2018-19604);
* `update = !command` is an error: only the repository's own configuration may name a command
  (CVE-2019-19604);
* a path that leads over a symbolic link is refused wherever it is used (CVE-2024-32002), and so is
  a folder below `.git/modules` that is within another submodule's (`refuse_inner_folder`);
* `.gitmodules` itself must be a file, not a link to one.

A submodule is *active* if the configuration says so: `submodule.NAME.active`, then the pathspecs of
`submodule.active`, then whether `submodule.NAME.url` is set, which is what `submodule init` does.
"""

from __future__ import annotations

import re

from agentsandbox.git.config import ConfigFile, as_bool, read_text, rename_section, with_value
from agentsandbox.git.errors import Fatal, Plain
from agentsandbox.git.objects import SUBMODULE
from agentsandbox.git.pathspecs import parse_pathspec
from agentsandbox.git.repository import is_repository
from agentsandbox.git.trees import tree_entry
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.config import Value
    from agentsandbox.git.index import Index
    from agentsandbox.git.invocation import Invocation
    from agentsandbox.git.repository import Repository

FILE = ".gitmodules"
UPDATES = ("checkout", "rebase", "merge", "none")
"""What `update` may be in `.gitmodules`."""


class Submodule:
    """One section of `.gitmodules`; None for what it does not say."""

    __slots__ = ("branch", "ignore", "name", "path", "shallow", "update", "url")

    def __init__(self, name: str) -> None:
        self.name = name
        self.path: str | None = None
        self.url: str | None = None
        self.update: str | None = None
        """One of `UPDATES`."""
        self.ignore: str | None = None
        self.branch: str | None = None
        self.shallow: bool | None = None


class Modules:
    """The submodules that `.gitmodules` names, by path."""

    def __init__(self, git: Invocation) -> None:
        self.git = git
        self.repository: Repository = git.repository
        self.by_name: dict[str, Submodule] = {}
        self.by_path: dict[str, Submodule] = {}
        self.fetches: dict[str, str] = {}
        """`fetchRecurseSubmodules` by name."""

    def at(self, path: str) -> Submodule | None:
        """Return the submodule with a path from the top of the worktree."""
        return self.by_path.get(path)

    def setting(self, module: Submodule, key: str) -> str | None:
        """Return `submodule.NAME.KEY` of the repository's configuration."""
        found = self.repository.config.find(f"submodule.{module.name}.{key}")
        return None if found is None else found.text or ""

    def is_active(self, path: str) -> bool:
        """Whether the repository uses the submodule at a path."""
        module = self.at(path)
        if module is None:
            return False
        config = self.repository.config
        key = f"submodule.{module.name}.active"
        if config.find(key) is not None:
            return config.flag(key)
        patterns = config.get_all("submodule.active")
        if patterns or config.find("submodule.active") is not None:
            wanted = parse_pathspec(self.git, [f":(top){each}" if not each.startswith(":") else each
                                               for each in patterns])  # fmt: skip
            return wanted.matches(encode(path), True)
        return self.setting(module, "url") is not None

    def take(self, value: Value) -> bool:
        """Take one value of the file; return whether it has the right form.

        Values that must not be used are an error or a warning.
        """
        key = value.key
        if not key.startswith("submodule.") or key.count(".") < 2:
            return True
        name, _, item = key[10:].rpartition(".")
        if not is_safe_name(name):
            self.git.warn(f"ignoring suspicious submodule name: {name}")
            return True
        module = self.by_name.setdefault(name, Submodule(name))
        text = value.text
        if text is None and item in ("path", "url", "ignore", "update"):
            self.git.error(f"missing value for '{key}'")
            return False
        if item in ("path", "url") and looks_like_option(text or ""):
            self.git.warn(
                f"ignoring '{key}' which may be interpreted as a command-line option: {text}"
            )
        elif item == "path":
            if module.path is not None:
                self.by_path.pop(module.path, None)
            module.path = text
            self.by_path[text or ""] = module
        elif item == "url":
            module.url = text
        elif item == "ignore":
            if text in ("untracked", "dirty", "all", "none"):
                module.ignore = text
            else:
                self.git.warn(
                    f"Invalid parameter '{text}' for config option 'submodule.{name}.ignore'"
                )
        elif item == "update":
            if text not in UPDATES:
                raise Fatal(f"invalid value for '{key}'")
            module.update = text
        elif item == "fetchrecursesubmodules":
            self.fetches[name] = "true" if text is None else text
        elif item == "branch":
            module.branch = text or ""
        elif item == "shallow":
            module.shallow = as_bool(text, key)
        return True


class IgnoreRules:
    """Which differences of submodules count: `ignore` of the command line or configuration.

    "all" ignores all, "dirty" all but the commit, "untracked" only untracked files, "none"
    nothing. `rule` is for submodules without `submodule.NAME.ignore`; with `fixed` that setting
    does not count.
    """

    def __init__(self, git: Invocation, rule: str, *, fixed: bool = False) -> None:
        self.git = git
        self.rule = rule
        self.fixed = fixed

    def rule_for(self, path: bytes) -> str:
        """Return the rule for the submodule at a path."""
        if self.fixed:
            return self.rule
        modules = read_modules(self.git)
        module = modules.at(decode(path))
        if module is None:
            return self.rule
        found = modules.setting(module, "ignore")
        if found is None:
            found = module.ignore
        return self.rule if found is None else checked_rule(found)


def checked_rule(text: str) -> str:
    """Return a value of `--ignore-submodules`; Fatal for an unknown one."""
    if text not in ("all", "dirty", "untracked", "none"):
        raise Fatal(f"bad --ignore-submodules argument: {text}")
    return text


def is_safe_name(name: str) -> bool:
    """Whether a name of a submodule stays within `.git/modules`."""
    return bool(name) and ".." not in re.split(r"[/\\]", name)


def looks_like_option(text: str) -> bool:
    """Whether a program could take a value for an option."""
    return text.startswith("-")


# TM-GIT-10
def read_modules(git: Invocation, index: Index | None = None) -> Modules:
    """Return what `.gitmodules` names: the file, or the one of the index, or that of HEAD.

    Without any, or while the file has a conflict, there are no submodules.
    """
    repository = git.repository
    kept: Modules | None = repository.modules
    if kept is not None:
        return kept
    found = Modules(git)
    repository.modules = found
    text, shown = modules_text(git, index)
    if text is not None:
        name = shown.replace(":", " ", 1)
        for value in ConfigFile(text, shown, "submodule", name).values:
            if not found.take(value):
                line = text.count("\n", 0, value.start) + 1
                raise Fatal(f"bad config line {line} in {name}")
    return found


def modules_text(git: Invocation, index: Index | None = None) -> tuple[str | None, str]:
    """Return the text of `.gitmodules` and where it is from; None without one."""
    repository = git.repository
    if repository.worktree is None:
        return None, ""
    index = index if index is not None else repository.index()
    name = encode(FILE)
    if index.has_path(name) and index.get(name) is None:
        return None, ""
    path = repository.work_path(name)
    if repository.fs.exists(path, follow=False):
        refuse_linked_file(repository)
        return decode(repository.fs.read_bytes(path)), f"file:{path}"
    oid = modules_blob(repository, index)
    if oid is None:
        return None, ""
    return decode(repository.objects.blob(oid)), f"blob:{oid}"


def modules_blob(repository: Repository, index: Index) -> str | None:
    """Return the object of `.gitmodules` in the index, or else in HEAD."""
    entry = index.get(encode(FILE))
    if entry is not None:
        return entry.oid
    head = repository.head()
    if head is None:
        return None
    found = tree_entry(repository.objects, repository.objects.commit(head).tree, encode(FILE))
    return None if found is None else found[1]


def refuse_linked_file(repository: Repository) -> None:
    """Raise if `.gitmodules` is a symbolic link."""
    path = repository.work_path(encode(FILE))
    if repository.fs.exists(path, follow=False) and repository.fs.stat(path, follow=False).is_link:
        raise Fatal(f"{FILE} is a symbolic link, which is not followed in this sandbox")


def refuse_recursion(git: Invocation, name: str) -> None:
    """Raise if submodule.recurse asks a command to change submodules too."""
    if git.config.flag("submodule.recurse") and any(
        entry.mode == SUBMODULE for entry in git.repository.index()
    ):
        raise Fatal(
            f"submodule.recurse is not supported by git {name} in this sandbox: "
            "set it to false, and use git submodule update"
        )


# changing the file


def may_write(git: Invocation) -> bool:
    """Whether new values would not replace a file that the worktree happens to lack."""
    repository = git.repository
    path = repository.work_path(encode(FILE))
    if repository.fs.exists(path, follow=False):
        return True
    return modules_blob(repository, repository.index()) is None


def set_in_modules(git: Invocation, key: str, value: str | None) -> None:
    """Set or remove a key of `.gitmodules` in the worktree."""
    repository = git.repository
    refuse_linked_file(repository)
    path = repository.work_path(encode(FILE))
    after, _ = with_value(read_text(git.fs, path), key, value, lambda text: True, replace_all=True)
    _write(repository, path, after)


def set_in_file(git: Invocation, path: str, key: str, value: str | None) -> bool:
    """Set or remove a key of a configuration file; return whether it changed."""
    before = read_text(git.fs, path)
    after, _ = with_value(before, key, value, lambda text: True, replace_all=True)
    if after != before:
        git.fs.write_bytes(path, encode(after))
    return after != before


def _write(repository: Repository, path: str, text: str) -> None:
    repository.fs.write_bytes(path, encode(text), permissions=0o666 & ~repository.git.ctx.umask)
    repository.modules = None


def section_for(git: Invocation, path: str) -> Submodule | None:
    """Return the submodule at a path for a change of its section; warn if it has no section."""
    repository = git.repository
    if not git.fs.exists(repository.work_path(encode(FILE)), follow=False):
        return None
    index = repository.index()
    if index.has_path(encode(FILE)) and index.get(encode(FILE)) is None:
        raise Fatal("Cannot change unmerged .gitmodules, resolve merge conflicts first")
    module = read_modules(git, index).at(path)
    if module is None:
        git.warn(f"Could not find section in .gitmodules where path={path}")
    return module


def remove_section(git: Invocation, path: str) -> bool:
    """Remove the section of a submodule; return whether the file changed."""
    module = section_for(git, path)
    if module is None:
        return False
    refuse_linked_file(git.repository)
    place = git.repository.work_path(encode(FILE))
    after, count = rename_section(read_text(git.fs, place), f"submodule.{module.name}", None)
    if not count:
        git.warn(f"Could not remove .gitmodules entry for {path}")
        return False
    _write(git.repository, place, after)
    return True


def move_section(git: Invocation, old: str, new: str) -> bool:
    """Note the new path of a submodule; return whether the file changed."""
    module = section_for(git, old)
    if module is None:
        return False
    set_in_modules(git, f"submodule.{module.name}.path", new)
    return True


# places


def refuse_linked_path(git: Invocation, path: str) -> None:
    """Raise if a symbolic link is on the way to a submodule, or in its place."""
    problem = linked_part(git.repository, path)
    if problem:
        raise Plain(problem, 128)


def linked_part(repository: Repository, path: str) -> str:
    """Return the error about a symbolic link on the way to a submodule, "" without one."""
    fs, at = repository.fs, path.find("/")
    while at >= 0:
        where = repository.work_path(encode(path[:at]))
        if fs.exists(where, follow=False) and fs.stat(where, follow=False).is_link:
            return (
                f"error: expected '{path[:at]}' in submodule path '{path}' not to be "
                "a symbolic link"
            )
        at = path.find("/", at + 1)
    where = repository.work_path(encode(path))
    if fs.exists(where, follow=False) and fs.stat(where, follow=False).is_link:
        return f"error: expected submodule path '{path}' not to be a symbolic link"
    return ""


def module_folder(repository: Repository, name: str) -> str:
    """Return the place of a submodule's repository; Fatal for a name that leads elsewhere."""
    if not is_safe_name(name):
        raise Fatal(f"'{name}' is not a valid submodule name")
    return f"{repository.folder}/modules/{name}"


def refuse_inner_folder(repository: Repository, name: str, message: str) -> None:
    """Raise if a submodule's folder is in the repository of another submodule.

    A submodule "a/hooks" would else write the hooks of the submodule "a" (CVE-2024-32002).
    """
    at = name.find("/")
    base = f"{repository.folder}/modules"
    while at >= 0:
        if is_repository(repository.fs, f"{base}/{name[:at]}"):
            folder = f"{base}/{name}"
            raise Plain(
                f"error: submodule git dir '{folder}' is inside git dir '{base}/{name[:at]}'\n"
                f"fatal: {message.replace('{}', folder)}",
                128,
            )
        at = name.find("/", at + 1)


# URLs


def is_relative_url(url: str) -> bool:
    """Whether a URL is relative to that of the repository around it."""
    return url.startswith(("./", "../"))


def _is_local(url: str) -> bool:
    """Whether a URL is a path, and not a scheme or `host:path`."""
    colon, slash = url.find(":"), url.find("/")
    return colon < 0 or 0 <= slash < colon


def relative_url(base: str, url: str, up: str = "") -> str:
    """Return a URL relative to another one; `up` leads from a submodule to the top."""
    if not _is_local(url) or url.startswith("/"):
        return url
    base = base.removesuffix("/")
    is_relative = _is_local(base) and not base.startswith("/")
    if is_relative and not is_relative_url(base):
        base = f"./{base}"
    between = "/"
    while True:
        if url.startswith("../"):
            url = url[3:]
            cut = base.rfind("/")
            if cut < 0:
                cut = base.rfind(":")
                if cut >= 0:
                    between = ":"
                elif is_relative or base == ".":
                    raise Fatal(f"cannot strip one component off url '{base}'")
                else:
                    base = "."
                    continue
            base = base[:cut]
        elif url.startswith("./"):
            url = url[2:]
        else:
            break
    found = f"{base}{between}{url}".removeprefix("./")
    if url.endswith("/"):
        found = found[:-1]
    return f"{up}{found}" if up and is_relative else found
