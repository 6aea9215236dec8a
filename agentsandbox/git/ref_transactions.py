"""Changes of several references that take effect together, or not at all.

`prepare` locks each reference with a file NAME.lock, as git does, and checks everything that may be
wrong: the old value, a name that is a folder of another, an object that does not exist. `commit`
writes; `abort` only removes the locks. A change of a symbolic reference changes what it names, and
locks both.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from agentsandbox.git.errors import GitError
from agentsandbox.git.objects import NULL
from agentsandbox.git.refs import LOCKED, RefMismatch, is_ref_name, is_safe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.repository import Repository


@dataclass(frozen=True, slots=True)
class Change:
    """A new value of a reference: an object's name, NULL to delete it, None to only check `old`."""

    name: str
    new: str | None
    old: str | None
    deref: bool


class RefTransaction:
    """The changes and the locks that are held for them."""

    def __init__(self, repository: Repository, message: str = "", *, logs: bool = False) -> None:
        self.repository = repository
        self.refs = repository.refs
        self.message = message
        self.logs = logs
        """Whether each reference gets a log (`--create-reflog`)."""
        self.changes: list[Change] = []
        self._locks: list[str] = []

    def add(self, change: Change) -> None:
        """Add a change; GitError for a name that no reference may have."""
        writes = change.new is not None and change.new != NULL
        good = is_ref_name(change.name, one_level=True) if writes else is_safe(change.name)
        if not good or not is_safe(change.name):
            raise GitError(f"refusing to update ref with bad name '{change.name}'")
        self.changes.append(change)

    def prepare(self) -> None:
        """Lock and check all references; GitError, without any lock, if one cannot change."""
        try:
            self._check_names()
            for change in self.changes:
                self.refs.budget.step()
                self._prepare(change)
        except GitError:
            self.abort()
            raise

    def commit(self) -> None:
        """Prepare the changes if that is still to do, write them and free the locks."""
        if not self._locks:
            self.prepare()
        self._free()
        for change in self.changes:
            self._write(change)
        self.changes.clear()

    def abort(self) -> None:
        """Forget the changes and free the locks."""
        self.changes.clear()
        self._free()

    def _free(self) -> None:
        for path in self._locks:
            if self.refs.fs.exists(path, follow=False):
                self.refs.fs.unlink(path)
        self._locks.clear()

    def _check_names(self) -> None:
        names = sorted(change.name for change in self.changes)
        for one, other in pairwise(names):
            if one == other:
                raise GitError(f"multiple updates for ref '{one}' not allowed")
        given = set(names)
        head = self.refs.symbolic("HEAD")
        for change in self.changes:
            if change.name == head and "HEAD" in given:
                raise GitError(
                    f"multiple updates for 'HEAD' (including one via its referent '{head}') "
                    "are not allowed"
                )
            target = self.refs.target(change.name) if change.deref else change.name
            if target != change.name and target in given:
                raise GitError(
                    f"multiple updates for '{target}' (including one via symref "
                    f"'{change.name}') are not allowed"
                )

    def _prepare(self, change: Change) -> None:
        target = self.refs.target(change.name) if change.deref else change.name
        self._lock(change.name, change.name)
        if target != change.name:
            self._lock(target, change.name)
        if self.refs.is_broken(target):
            raise GitError(
                f"cannot lock ref '{change.name}': unable to resolve reference '{target}': "
                "reference broken"
            )
        before = self.refs.read(target) or NULL
        if before == NULL:
            if change.old not in (None, NULL):
                if not change.deref and self.refs.symbolic(target) is not None:
                    raise GitError(
                        f"cannot lock ref '{change.name}': reference is missing but expected "
                        f"{change.old}"
                    )
                raise RefMismatch(change.name, NULL, change.old or "", target)
            self._check_room(change.name, target)
        if change.old is not None and change.old != before:
            raise RefMismatch(change.name, before, change.old, target)
        if change.new is not None and change.new not in (NULL, before):
            self._check_object(target, change.new)

    def _lock(self, name: str, shown: str) -> None:
        path = self.refs.path(name) + ".lock"
        try:
            self.refs.make_lock(path).release()
        except FileExistsError:
            raise GitError(
                f"cannot lock ref '{shown}': Unable to create '{path}': File exists.\n\n{LOCKED}"
            ) from None
        except NotADirectoryError:
            self._check_room(shown, name)
            raise GitError(
                f"cannot lock ref '{shown}': unable to create lock file {path}; "
                "non-directory in the way"
            ) from None
        self._locks.append(path)

    def _check_room(self, shown: str, name: str) -> None:
        """Raise if a reference that exists, or is to be made, is a folder of a new one."""
        other = self.refs.conflict(name)
        if other is not None:
            raise GitError(f"cannot lock ref '{shown}': '{other}' exists; cannot create '{name}'")
        for change in self.changes:
            if change.name.startswith(f"{name}/") or name.startswith(f"{change.name}/"):
                raise GitError(
                    f"cannot lock ref '{shown}': cannot process '{name}' and '{change.name}' "
                    "at the same time"
                )
        if not self.refs.clear_folders(self.refs.path(name)):
            raise GitError(
                f"cannot lock ref '{shown}': there is a non-empty directory "
                f"'{self.repository.shown_folder}/{name}' blocking reference '{name}'"
            )

    def _check_object(self, name: str, oid: str) -> None:
        objects = self.repository.objects
        if oid not in objects:
            raise GitError(
                f"cannot update ref '{name}': trying to write ref '{name}' with "
                f"nonexistent object {oid}"
            )
        if name == "HEAD" or name.startswith("refs/heads/"):
            if objects.type_of(oid) != "commit":
                raise GitError(
                    f"cannot update ref '{name}': trying to write non-commit object {oid} "
                    f"to branch '{name}'"
                )

    def _write(self, change: Change) -> None:
        if change.new is None:
            return
        if change.new == NULL:
            name = self.refs.target(change.name) if change.deref else change.name
            self.refs.delete(name, message=self.message)
            return
        is_symbolic = not change.deref and self.refs.symbolic(change.name) is not None
        if self.refs.read(change.name) == change.new and not is_symbolic:
            self._log_only(change.name, change.new, deref=change.deref)
            return  # it may be packed, and stays so
        self.refs.write(
            change.name, change.new, self.message, deref=change.deref, makes_log=self.logs
        )


    def _log_only(self, name: str, oid: str, *, deref: bool) -> None:
        """Note in the log of a symbolic reference, or of HEAD, that its target was set."""
        refs = self.refs
        if deref and refs.target(name) != name:
            refs.log(name, oid, oid, self.message)
        elif name.startswith("refs/heads/") and refs.target("HEAD") == name:
            refs.log("HEAD", oid, oid, self.message)


def change_refs(
    repository: Repository, changes: list[Change], reasons: list[str], *, atomic: bool
) -> list[str]:
    """Make the changes that a push asks for; return for each why it was not made, "" if it was.

    `reasons` says which are refused already. If `atomic`, one that fails stops all the others.
    """
    if atomic:
        if any(reasons):
            return [reason or "atomic push failure" for reason in reasons]
        return [_change(repository, changes, "atomic transaction failed")] * len(changes)
    return [
        reason or _change(repository, [change], "failed to update ref")
        for change, reason in zip(changes, reasons, strict=True)
    ]


def _change(repository: Repository, changes: list[Change], failure: str) -> str:
    transaction = RefTransaction(repository, "push")
    try:
        for change in changes:
            transaction.add(change)
        transaction.commit()
    except GitError:
        return failure
    return ""
