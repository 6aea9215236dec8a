"""The search for the file of a command: PATH, its memory (`hash`), and skills' own scripts."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell

SHELL_NAMES = frozenset(("sh", "bash", "dash", "ash", "rbash"))
POSIX_SHELLS = ("sh", "dash")
DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"


def find_on_path(shell: Shell, name: str, path: str | None) -> str | None:
    """Return the first executable file of that name in PATH, else the first file of that name."""
    fs = shell.fs
    found: str | None = None
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
        if info.mode & 0o111 and fs.access(full, 1):
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
