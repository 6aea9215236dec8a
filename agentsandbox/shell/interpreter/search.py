"""The search for the file of a command: PATH, its memory (`hash`), and skills' own scripts."""

from __future__ import annotations

from agentsandbox.kernel.fs.base import NAME_MAX
from agentsandbox.shell.interpreter.machine import Located

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.contract.command import Command
    from agentsandbox.shell.interpreter.shell import Shell

SHELL_NAMES = frozenset(("sh", "bash", "dash", "ash", "rbash"))
POSIX_SHELLS = ("sh", "dash")
DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"


def find_on_path(
    shell: Shell, name: str, path: str | None, *, readable: bool = False
) -> str | None:
    """Return the first executable file of that name in PATH, else the first file of that name.

    With `readable` return the first file that can be read, as for the script of `bash NAME`.
    """
    fs = shell.fs
    found: str | None = None
    if len(name) > NAME_MAX:
        return None  # no directory can hold it
    for directory in (DEFAULT_PATH if path is None else path).split(":"):
        shell.budget.step(4)
        candidate = f"{directory or '.'}/{name}"
        full = shell.path(candidate)
        if fs.program(full) is not None:
            return candidate
        if not fs.exists(full):  # quicker to ask than to be refused
            continue
        try:
            info = fs.stat(full)
        except OSError:
            continue
        if info.is_dir:
            continue
        if fs.access(full, 4) if readable else info.mode & 0o111 and fs.access(full, 1):
            return candidate
        found = found or candidate
    return found


def locate(shell: Shell, name: str, path: str | None = None) -> str | None:
    """Return the path of a command. `hash` remembers it, but not one from an explicit `path`."""
    if "/" in name:
        return name
    if path is None:
        entry = shell.specials.hashed.get(name)
        if entry is not None:
            shell.specials.hashed[name] = (entry[0], entry[1] + 1)
            return entry[0]
    found = find_on_path(shell, name, (shell.variables.get("PATH") or "") if path is None else path)
    if found is not None and path is None and shell.options.hashall:
        shell.specials.hashed[name] = (found, 1)
    return found


def located_tool(shell: Shell, name: str) -> Command | None:
    """Return the command that PATH finds for a name, if it did before and nothing has changed.

    Until a script writes there, all sandboxes share the directories of PATH, and the same objects
    hold the same files. The search counts as one: in steps and in the memory of `hash`.
    """
    machine = shell.machine
    entry = machine.located.get(name)
    if entry is None or entry.path != shell.values.get("PATH"):
        return None
    if not machine.fs.are_shared(entry.directories):
        return None
    hashed = shell.specials.hashed
    before = hashed.get(name)
    if before is not None:
        if before[0] != entry.file:
            return None
        hashed[name] = entry.file, before[1] + 1
        return entry.tool
    budget = shell.budget
    budget.left -= 4 * len(entry.directories)
    if budget.left < 0:
        budget.tick()
    if shell.options.hashall:
        hashed[name] = entry.file, 1
    return entry.tool


def remember_tool(shell: Shell, file: str, tool: Command) -> None:
    """Remember for `located_tool` that PATH has found the file of a command."""
    place, _, name = file.rpartition("/")
    path = shell.values.get("PATH")
    if type(path) is not str or len(path) > 256 or shell.fs.program(file) is None:
        return
    directories: list[tuple[str, object]] = []
    for directory in path.split(":"):
        seen = shell.machine.fs.shared_directory(directory) if directory[:1] == "/" else None
        if seen is None:
            return
        directories.append((directory, seen))
        if directory == place:
            break
        if shell.fs.exists(f"{directory}/{name}"):
            return
    else:
        return
    shell.machine.located[name] = Located(path, tuple(directories), file, tool)


def skill_hint(shell: Shell, path: str) -> str | None:
    """Return a hint for a script that a SKILL.md names relative to its own folder."""
    relative = path.removeprefix("./")
    if relative.startswith("/"):
        return None
    machine = shell.machine
    found = [mount for mount, _ in machine.skill_mounts if shell.fs.is_file(f"{mount}/{relative}")]
    if len(found) > 1:  # the one that is at work
        found = [mount for mount in machine.active_skills if mount in found][-1:]
    return f"bash: did you mean {found[0]}/{relative} ?" if len(found) == 1 else None
