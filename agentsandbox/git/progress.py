"""Operations in progress: merges, picks, rebases, bisections, and how HEAD is described."""

from __future__ import annotations

import re

from agentsandbox.git.objects import is_object_name
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.repository import Repository


def rebase_folder(repository: Repository) -> str:
    """Return the folder of the rebase in progress, "" without one."""
    for name in ("rebase-merge", "rebase-apply"):
        if repository.fs.is_dir(f"{repository.folder}/{name}"):
            return name
    return ""


def detached_text(repository: Repository) -> str:
    """Return "at abc1234" or "from v1": where HEAD was detached, "" if it is not known."""
    head = repository.head()
    for entry in reversed(repository.refs.read_log("HEAD")):
        found = re.match(rb"checkout: moving from \S+ to (\S+)", entry.message)
        if found is None:
            continue
        name = decode(found[1])
        from agentsandbox.git.revisions import find_ref

        ref = None if is_object_name(name) or name == "HEAD" else find_ref(repository, name)
        oid = entry.new
        if ref is not None and (ref[1] == oid or repository.objects.peel(ref[1], "commit") == oid):
            shown = ref[0]
            shown = shown.removeprefix("refs/tags/").removeprefix("refs/remotes/")
        else:
            shown = repository.short(oid)
        return f"{'at' if head == oid else 'from'} {shown}"
    return ""


def head_line(repository: Repository) -> str:
    """Return the first line of a status."""
    branch = repository.branch()
    if branch:
        return f"On branch {branch.removeprefix('refs/heads/')}"
    folder = rebase_folder(repository)
    if folder:
        onto = (repository.read_file(f"{folder}/onto") or "").strip()
        interactive = repository.fs.exists(f"{repository.folder}/{folder}/interactive")
        word = "interactive rebase" if interactive else "rebase"
        if onto:
            return f"{word} in progress; onto {repository.short(onto)}"
    text = detached_text(repository)
    return f"HEAD detached {text}" if text else "Not currently on any branch."


def whence(repository: Repository) -> str:
    """Return what the next commit comes from: "merge", "cherry-pick", "rebase" or "commit"."""
    if repository.fs.exists(f"{repository.folder}/MERGE_HEAD"):
        return "merge"
    picked = repository.read_file("CHERRY_PICK_HEAD")
    if picked is not None:
        rebased = repository.read_file("REBASE_HEAD")
        return "rebase" if rebased == picked and rebase_folder(repository) else "cherry-pick"
    return "commit"


def describe_state(
    repository: Repository, *, unmerged: bool, hints: bool, amend: bool = False,
    splits: bool = False,
) -> list[str]:  # fmt: skip
    """Return the lines about what is in progress, the last one blank.

    amend   whether the lines are for `commit --amend`
    splits  whether a commit may be what is split: HEAD is detached, with local changes
    """
    # long: one case for each operation
    lines: list[str] = []

    def hint(text: str) -> None:
        if hints:
            lines.append(f"  ({text})")

    def short(name: str) -> str:
        oid = (repository.read_file(name) or "").strip()[:40]
        return repository.short(oid) if is_object_name(oid) else ""

    folder = rebase_folder(repository)
    if repository.read_file("MERGE_HEAD") is not None:
        if folder and repository.fs.exists(f"{repository.folder}/{folder}/interactive"):
            lines += [*_todo_lines(repository, folder, hints), ""]
        if unmerged:
            lines.append("You have unmerged paths.")
            hint('fix conflicts and run "git commit"')
            hint('use "git merge --abort" to abort the merge')
        else:
            lines.append("All conflicts fixed but you are still merging.")
            hint('use "git commit" to conclude merge')
        lines.append("")
    elif folder:
        lines += _rebase_lines(repository, folder, unmerged, hints, amend, splits)
    elif (commit := short("CHERRY_PICK_HEAD")) or _sequence(repository) == "pick":
        lines.append(
            f"You are currently cherry-picking commit {commit}."
            if commit
            else "Cherry-pick currently in progress."
        )
        if unmerged:
            hint('fix conflicts and run "git cherry-pick --continue"')
        elif not commit:
            hint('run "git cherry-pick --continue" to continue')
        else:
            hint('all conflicts fixed: run "git cherry-pick --continue"')
        hint('use "git cherry-pick --skip" to skip this patch')
        hint('use "git cherry-pick --abort" to cancel the cherry-pick operation')
        lines.append("")
    elif (commit := short("REVERT_HEAD")) or _sequence(repository) == "revert":
        lines.append(
            f"You are currently reverting commit {commit}."
            if commit
            else "Revert currently in progress."
        )
        if unmerged:
            hint('fix conflicts and run "git revert --continue"')
        elif not commit:
            hint('run "git revert --continue" to continue')
        else:
            hint('all conflicts fixed: run "git revert --continue"')
        hint('use "git revert --skip" to skip this patch')
        hint('use "git revert --abort" to cancel the revert operation')
        lines.append("")
    start = repository.read_file("BISECT_START")
    if start is not None:
        name = start.strip().removeprefix("refs/heads/")
        if is_object_name(name):
            name = repository.short(name)
        lines.append(f"You are currently bisecting, started from branch '{name}'.")
        hint('use "git bisect reset" to get back to the original branch')
        lines.append("")
    return lines


def _sequence(repository: Repository) -> str:
    """Return the command of the sequence in progress: "pick", "revert" or ""."""
    text = repository.read_file("sequencer/todo") or ""
    word = text.lstrip().partition(" ")[0]
    return {"pick": "pick", "p": "pick", "revert": "revert"}.get(word, "")


def _rebase_lines(
    repository: Repository, folder: str, unmerged: bool, hints: bool, amend: bool, splits: bool
) -> list[str]:
    # long: one case for each state of a rebase
    lines: list[str] = []

    def hint(text: str) -> None:
        if hints:
            lines.append(f"  ({text})")

    if folder == "rebase-apply" and repository.read_file("rebase-apply/applying") is not None:
        lines.append("You are in the middle of an am session.")
        patch = repository.read_file("rebase-apply/patch")
        if patch == "":
            lines.append("The current patch is empty.")
        else:
            hint('fix conflicts and then run "git am --continue"')
        hint('use "git am --skip" to skip this patch')
        if patch == "":
            hint('use "git am --allow-empty" to record this patch as an empty commit')
        hint('use "git am --abort" to restore the original branch')
        return [*lines, ""]
    interactive = repository.fs.exists(f"{repository.folder}/{folder}/interactive")
    branch = (repository.read_file(f"{folder}/head-name") or "").strip()
    branch = branch.removeprefix("refs/heads/")
    onto = (repository.read_file(f"{folder}/onto") or "").strip()
    onto = repository.short(onto) if is_object_name(onto) else onto
    if interactive:
        lines += _todo_lines(repository, folder, hints)
    known = branch and branch != "detached HEAD"
    target = f" branch '{branch}' on '{onto}'" if known else ""
    if unmerged:
        lines.append(f"You are currently rebasing{target}.")
        hint('fix conflicts and then run "git rebase --continue"')
        hint('use "git rebase --skip" to skip this patch')
        hint('use "git rebase --abort" to check out the original branch')
    elif not interactive or repository.read_file("MERGE_MSG") is not None:
        lines.append(f"You are currently rebasing{target}.")
        hint('all conflicts fixed: run "git rebase --continue"')
    elif splits and _is_splitting(repository):
        while_rebasing = f"while rebasing{target}" if known else "during a rebase"
        lines.append(f"You are currently splitting a commit {while_rebasing}.")
        hint('Once your working directory is clean, run "git rebase --continue"')
    else:
        while_rebasing = f"while rebasing{target}" if known else "during a rebase"
        lines.append(f"You are currently editing a commit {while_rebasing}.")
        if not amend:
            hint('use "git commit --amend" to amend the current commit')
            hint('use "git rebase --continue" once you are satisfied with your changes')
    return [*lines, ""]


def _is_splitting(repository: Repository) -> bool:
    """Whether HEAD is not the commit at which a rebase stopped for an edit."""
    stopped = (repository.read_file("rebase-merge/amend") or "").strip()
    first = (repository.read_file("rebase-merge/orig-head") or "").strip()
    if not stopped or not first:
        return False
    if stopped == first:
        return repository.head() != stopped
    return (repository.read_file("ORIG_HEAD") or "").strip() != first


def _with_short_names(repository: Repository, line: str) -> str:
    """Return a line of a list with its object's name abbreviated."""
    if line.startswith(("exec ", "x ", "label ", "l ")):
        return line
    words = line.split(" ", 2)
    if len(words) > 1:
        from agentsandbox.git.revisions import find_ref

        name = words[1].strip()
        ref = None if is_object_name(name) else find_ref(repository, name)
        oid = name if is_object_name(name) else ref[1] if ref is not None else None
        if oid is not None:
            words[1] = repository.short(oid)
    return " ".join(words)


def _todo_lines(repository: Repository, folder: str, hints: bool) -> list[str]:
    def commands(name: str) -> list[str]:
        found = []
        for line in (repository.read_file(f"{folder}/{name}") or "").split("\n"):
            if line.strip() and not line.startswith("#"):
                found.append(_with_short_names(repository, line))
        return found

    lines: list[str] = []
    done, todo = commands("done"), commands("git-rebase-todo")
    if not done:
        lines.append("No commands done.")
    else:
        word = "command" if len(done) == 1 else "commands"
        lines.append(f"Last {word} done ({len(done)} {word} done):")
        lines += [f"   {line}" for line in done[-2:]]
        if len(done) > 2 and hints:
            lines.append(f"  (see more in file {repository.shown_folder}/{folder}/done)")
    if not todo:
        lines.append("No commands remaining.")
    else:
        word = "command" if len(todo) == 1 else "commands"
        lines.append(f"Next {word} to do ({len(todo)} remaining {word}):")
        lines += [f"   {line}" for line in todo[:2]]
        if hints:
            lines.append('  (use "git rebase --edit-todo" to view and edit)')
    return lines
