"""References: names of commits, in files below `.git` or together in `packed-refs`; their logs.

A name is checked before it becomes a path (`check_ref_name`), by the rules of
git-check-ref-format(1), so no name leads out of the folder. `HEAD` and the other names of the root
(`ORIG_HEAD`, `MERGE_HEAD`) consist of capital letters and "_".
"""

from __future__ import annotations

import re

from agentsandbox.git.errors import Fatal, GitError
from agentsandbox.git.objects import NULL, is_object_name
from agentsandbox.kernel.fs.base import raise_failure
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.fs.base import FileSystem
    from agentsandbox.kernel.streams import Stream

_FORBIDDEN = re.compile(
    r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|(?:^|/)\.|\.lock(?:/|$)|/$|^/|\.$|^@$"
)
_ROOT = re.compile(r"[A-Z_]+\Z")
_MOST_LINKS = 5


def is_ref_name(name: str, *, one_level: bool = False) -> bool:
    """Whether a name follows git-check-ref-format(1)."""
    if not name or _FORBIDDEN.search(name) or len(name) > 1024:
        return False
    return one_level or "/" in name


def is_branch_name(name: str) -> bool:
    """Whether a name may be that of a branch."""
    return not name.startswith("-") and name != "HEAD" and is_ref_name(f"refs/heads/{name}")


def is_safe(name: str) -> bool:
    """Whether a name may be read as a file: below refs/, or one of the root."""
    if name.startswith("refs/"):
        return is_ref_name(name)
    return bool(_ROOT.match(name))


class LogEntry:
    """One line of a reflog."""

    __slots__ = ("ident", "message", "new", "old")

    def __init__(self, old: str, new: str, ident: bytes, message: bytes) -> None:
        self.old = old
        self.new = new
        self.ident = ident
        self.message = message


# TM-GIT-3
class Refs:
    """The references of a repository."""

    def __init__(
        self, fs: FileSystem, folder: str, common: str, budget: Budget, umask: int
    ) -> None:
        self.fs = fs
        self.folder = folder
        self.common = common
        self.budget = budget
        self.umask = umask
        self.ident: Callable[[], bytes] = lambda: b""
        """Returns who writes a log, with time and zone; set by the repository."""
        self.logs = True
        """Whether logs are written (core.logAllRefUpdates)."""
        self.logs_all = False
        """Whether all references have logs (core.logAllRefUpdates=always)."""
        self.shown = common
        """How messages name the folder of `packed-refs`."""
        self._packed: dict[str, str] | None = None
        self._peeled: dict[str, str] = {}

    def path(self, name: str) -> str:
        """Return the file of a reference."""
        shared = name.startswith("refs/") and not name.startswith(
            ("refs/bisect/", "refs/worktree/", "refs/rewritten/")
        )
        return f"{self.common if shared else self.folder}/{name}"

    def log_path(self, name: str) -> str:
        """Return the file of a reference's log."""
        return self.path(name)[: -len(name)] + f"logs/{name}"

    # reading

    def packed(self) -> dict[str, str]:
        """Return the references of `packed-refs`."""
        if self._packed is None:
            try:
                text = self.fs.read_text(f"{self.common}/packed-refs")
            except OSError as error:
                raise_failure(error)
                text = ""
            self._packed, self._peeled = self._parse_packed(text)
        return self._packed

    def _parse_packed(self, text: str) -> tuple[dict[str, str], dict[str, str]]:
        """Return the references of a file, and what is behind those that are annotated tags.

        A name that no reference may have is left out, as git does. Fatal for any other line.
        """
        found: dict[str, str] = {}
        peeled: dict[str, str] = {}
        lines = text.split("\n")
        unterminated = lines.pop()
        if unterminated:
            raise Fatal(f"unterminated line in {self.shown}/packed-refs: {unterminated}")
        last: str | None = None
        for at, line in enumerate(lines):
            self.budget.step()
            if line.startswith("^") and last is not None and is_object_name(line[1:]):
                peeled[last] = line[1:]
                last = None
            elif line[40:41] == " " and is_object_name(line[:40]):
                last = line[41:]
                if is_ref_name(last):
                    found[last] = line[:40]
                elif not last.startswith("refs/") or ".." in last.split("/"):
                    raise Fatal(f"packed refname is dangerous: {last}")
            elif at or not line.startswith("# pack-refs with:"):
                raise Fatal(f"unexpected line in {self.shown}/packed-refs: {line}")
        return found, peeled

    def read_raw(self, name: str) -> str | None:
        """Return what a reference holds: an object name or "ref: NAME"; None if there is none."""
        if not is_safe(name):
            return None
        try:
            path = self.path(name)
            info = self.fs.stat(path, follow=False)
            if info.is_link:
                target = self.fs.readlink(path)
                return f"ref: {target}" if is_ref_name(target) else None
            if info.is_dir or info.size > 4096:
                raise FileNotFoundError(2, "", name)
            text = self.fs.read_text(path)
        except OSError as error:
            raise_failure(error)
            return self.packed().get(name)
        if text.startswith("ref:"):
            return f"ref: {text[4:].strip()}"
        return text[:40] if is_object_name(text[:40]) else None

    def is_broken(self, name: str) -> bool:
        """Whether the file of a reference holds neither an object's name nor a reference."""
        return self.read_raw(name) is None and self.fs.is_file(self.path(name))

    def symbolic(self, name: str) -> str | None:
        """Return the name that a symbolic reference names, None for others."""
        raw = self.read_raw(name)
        return raw[5:] if raw is not None and raw.startswith("ref: ") else None

    def target(self, name: str) -> str:
        """Return the name at the end of symbolic references, whether it exists or not."""
        for _ in range(_MOST_LINKS):
            following = self.symbolic(name)
            if following is None or not is_safe(following):
                break
            name = following
        return name

    def read(self, name: str) -> str | None:
        """Return the object that a reference names, through symbolic ones; None without one."""
        for _ in range(_MOST_LINKS + 1):
            raw = self.read_raw(name)
            if raw is None or not raw.startswith("ref: "):
                return raw
            name = raw[5:]
        return None

    def all(self, prefix: str = "refs/") -> dict[str, str]:
        """Return the objects of all references below a prefix, sorted by name."""
        found = {name: oid for name, oid in self.packed().items() if name.startswith(prefix)}
        folder = prefix.rstrip("/").partition("/")[0] if prefix == "refs/" else prefix.rstrip("/")
        pending = [folder]
        if self.folder != self.common:
            pending += ["refs/bisect", "refs/worktree"]
        while pending:
            here = pending.pop()
            try:
                names, kinds = self.fs.scan(self.path(f"{here}/")[:-1])
            except OSError as error:
                raise_failure(error)
                continue
            for name, kind in zip(names, kinds, strict=True):
                self.budget.step()
                full = f"{here}/{name}"
                if kind == 0o040000:
                    pending.append(full)
                elif is_ref_name(full) and full.startswith(prefix):
                    oid = self.read(full)
                    if oid is not None:
                        found[full] = oid
        return dict(sorted(found.items(), key=lambda item: encode(item[0])))

    # writing

    def conflict(self, name: str) -> str | None:
        """Return the reference that a new one cannot be beside, None if there is none."""
        parts = name.split("/")
        for count in range(2, len(parts)):
            above = "/".join(parts[:count])
            if self.read_raw(above) is not None:
                return above
        if name.startswith("refs/"):
            below = next(iter(self.all(f"{name}/")), None) or self._file_below(name)
            if below is not None:
                return below
        return None

    def _file_below(self, name: str) -> str | None:
        """Return a reference below a name whose file is broken, or None."""
        path = self.path(name)
        if not self.fs.is_dir(path):
            return None
        for here, _, files in self.fs.walk(path):
            for file in sorted(files):
                self.budget.step()
                below = f"{name}{here[len(path) :]}/{file}"
                if is_ref_name(below):
                    return below
        return None

    def write_file(self, path: str, data: bytes) -> None:
        """Replace a file by way of its lock; git's error if another has locked it."""
        lock = f"{path}.lock"
        try:
            file = self.make_lock(lock)
        except FileExistsError:
            raise Fatal(f"Unable to create '{lock}': File exists.\n\n{LOCKED}") from None
        try:
            try:
                file.write(data)
            finally:
                file.release()
            self.fs.rename(lock, path)
        except BaseException:
            if self.fs.exists(lock, follow=False):
                self.fs.unlink(lock)
            raise

    def make_lock(self, lock: str) -> Stream:
        """Make the file of a lock; FileExistsError if it is there."""
        permissions = 0o666 & ~self.umask
        try:
            return self.fs.open(lock, "x", permissions=permissions)
        except FileNotFoundError:
            self.fs.makedirs(lock.rpartition("/")[0], 0o777 & ~self.umask)
            return self.fs.open(lock, "x", permissions=permissions)

    def write(
        self,
        name: str,
        oid: str,
        message: str = "",
        *,
        old: str | None = None,
        deref: bool = True,
        makes_log: bool = False,
    ) -> None:
        """Set a reference and write its log, and that of HEAD if it names this reference.

        makes_log  whether a reference that has no log gets one in any case
        """
        given = name
        if deref:
            name = self.target(name)
        if not is_safe(name):
            raise Fatal(
                f"update_ref failed for ref '{name}': refusing to update ref with bad name '{name}'"
            )
        before = self.read(name) or NULL
        if old is not None and old != before:
            raise RefMismatch(name, before, old)
        path = self.path(name)
        if before == NULL:
            other = self.conflict(name)
            if other is not None:
                raise Fatal(f"cannot lock ref '{name}': '{other}' exists; cannot create '{name}'")
        self.clear_folders(path)
        is_new = before != oid or (not deref and self.symbolic(name) is not None)
        self.write_file(path, encode(f"{oid}\n"))
        if is_new:
            self.log(name, before, oid, message, always=makes_log)
        if given != name:
            self.log(given, before, oid, message)
        elif name.startswith("refs/heads/") and self.target("HEAD") == name:
            self.log("HEAD", before, oid, message)

    def clear_folders(self, path: str) -> bool:
        """Remove empty folders where a reference's file belongs; return whether it is free."""
        if not self.fs.is_dir(path):
            return True
        emptied = [here for here, _, _ in self.fs.walk(path)]
        for folder in reversed(emptied):
            try:
                self.fs.rmdir(folder)
            except OSError:
                return False
        return True

    def log(self, name: str, old: str, new: str, message: str, *, always: bool = False) -> None:
        """Add a line to a reference's log, if it has one or should have one."""
        path = self.log_path(name)
        if not (always or self.logs_all or self.fs.is_file(path)) and not (
            self.logs
            and (name == "HEAD" or name.startswith(("refs/heads/", "refs/remotes/", "refs/notes/")))
        ):
            return
        text = re.sub(r"\s+", " ", message.strip())
        line = encode(f"{old} {new} ") + self.ident() + (b"\t" + encode(text) if text else b"")
        permissions = 0o666 & ~self.umask
        try:
            file = self.fs.open(path, "a", permissions=permissions)
        except FileNotFoundError:
            self.fs.makedirs(path.rpartition("/")[0], 0o777 & ~self.umask)
            file = self.fs.open(path, "a", permissions=permissions)
        except IsADirectoryError:
            self.clear_folders(path)
            file = self.fs.open(path, "a", permissions=permissions)
        try:
            file.write(line + b"\n")
        finally:
            file.release()

    def read_log(self, name: str) -> list[LogEntry]:
        """Return a reference's log, the oldest entry first."""
        if not is_safe(name):
            return []
        try:
            data = self.fs.read_bytes(self.log_path(name))
        except OSError:
            return []
        found = []
        for line in data.split(b"\n"):
            self.budget.step()
            head, _, message = line.partition(b"\t")
            if len(head) > 82 and head[40:41] == b" " == head[81:82]:
                old, new = decode(head[:40]), decode(head[41:81])
                if is_object_name(old) and is_object_name(new):
                    found.append(LogEntry(old, new, head[82:], message))
        return found

    def write_log(self, name: str, entries: list[LogEntry]) -> None:
        """Replace a reference's log."""
        self.write_file(
            self.log_path(name),
            b"".join(
                [
                    encode(f"{entry.old} {entry.new} ")
                    + entry.ident
                    + b"\t"
                    + entry.message
                    + b"\n"
                    for entry in entries
                ]
            ),
        )

    def write_symbolic(self, name: str, target: str, message: str | None = None) -> None:
        """Make a reference a symbolic one; with a message its log gets a line."""
        before = self.read(name) or NULL
        self.write_file(self.path(name), encode(f"ref: {target}\n"))
        if message is not None:
            after = self.read(target)
            if after is not None:
                self.log(name, before, after, message)

    def delete(self, name: str, *, old: str | None = None, message: str = "") -> bool:
        """Delete a reference and its log; return whether it existed."""
        raw = self.read_raw(name)
        if raw is None:
            return False
        before = self.read(name) or NULL
        if old is not None and old != before:
            raise RefMismatch(name, before, old)
        if name in self.packed():
            self._packed = {other: oid for other, oid in self.packed().items() if other != name}
            self.write_packed(self._packed)
        for path in (self.path(name), self.log_path(name)):
            if self.fs.exists(path, follow=False) and not self.fs.is_dir(path):
                self.fs.unlink(path)
                if "/" in name:
                    self._prune(path, 2 if name.startswith("refs/") else 0, name)
        if name.startswith("refs/heads/") and self.target("HEAD") == name:
            self.log("HEAD", before, NULL, message)
        return True

    def _prune(self, path: str, keep: int, name: str) -> None:
        """Remove the folders above a deleted file that are empty, but not refs/heads and such."""
        for _ in range(name.count("/") - keep):
            path = path.rpartition("/")[0]
            try:
                self.fs.rmdir(path)
            except OSError:
                return

    def write_packed(self, refs: dict[str, str]) -> None:
        """Replace `packed-refs`."""
        lines = ["# pack-refs with: peeled fully-peeled sorted "]
        for name, oid in sorted(refs.items()):
            lines.append(f"{oid} {name}")
            if name in self._peeled:
                lines.append(f"^{self._peeled[name]}")
        self.write_file(f"{self.common}/packed-refs", encode("\n".join(lines) + "\n"))
        self._packed = None

    def pack(self, peel: Callable[[str], str | None], names: dict[str, str]) -> None:
        """Move references into `packed-refs`."""
        merged = {**self.packed(), **names}
        for name, oid in names.items():
            found = peel(oid)
            if found is not None and found != oid:
                self._peeled[name] = found
        self.write_packed(merged)
        for name in names:
            path = self.path(name)
            if self.fs.is_file(path) and self.symbolic(name) is None:
                self.fs.unlink(path)
                self._prune(path, 2, name)

    def rename(self, old: str, new: str, message: str) -> None:
        """Rename a reference with its log."""
        oid = self.read(old)
        if oid is None:
            raise Fatal(f"refname {old} not found")
        entries = self.read_log(old)
        is_head = self.symbolic("HEAD") == old
        self.delete_quietly(old)
        if new != old and self.read_raw(new) is not None:
            self.delete_quietly(new)
        self.write_file(self.path(new), encode(f"{oid}\n"))
        if entries:
            self.write_log(new, entries)
        self.log(new, oid, oid, message)
        if is_head:
            self.write_file(self.path("HEAD"), encode(f"ref: {new}\n"))
            self.log("HEAD", oid, NULL, message)
            self.log("HEAD", oid if new == old else NULL, oid, message)

    def delete_quietly(self, name: str) -> None:
        """Delete a reference without a line in the log of HEAD."""
        if name in self.packed():
            self.write_packed({other: oid for other, oid in self.packed().items() if other != name})
        for path in (self.path(name), self.log_path(name)):
            if self.fs.exists(path, follow=False) and not self.fs.is_dir(path):
                self.fs.unlink(path)
                self._prune(path, 2, name)


class RefMismatch(GitError):
    """A reference that is not what the caller expects."""

    def __init__(self, name: str, is_at: str, expected: str, target: str = "") -> None:
        if expected == NULL:
            reason = "reference already exists"
        elif is_at == NULL:
            reason = f"unable to resolve reference '{target or name}'"
        else:
            reason = f"is at {is_at} but expected {expected}"
        super().__init__(f"cannot lock ref '{name}': {reason}")


LOCKED = """Another git process seems to be running in this repository, e.g.
an editor opened by 'git commit'. Please make sure all processes
are terminated then try again. If it still fails, a git process
may have crashed in this repository earlier:
remove the file manually to continue."""
