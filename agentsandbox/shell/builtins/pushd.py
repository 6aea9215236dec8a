"""`pushd`, `popd` and `dirs`"""

from __future__ import annotations

from agentsandbox.errors import CommandError
from agentsandbox.shell.builtins import UsageFailure, define, is_number
from agentsandbox.shell.builtins.cd import change

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell


def _index(text: str, size: int, command: str) -> int | None:
    """Return the position of +N or -N in the stack; None for any other text."""
    if len(text) < 2 or text[0] not in "+-" or not is_number(text[1:]):
        return None
    number = int(text[1:]) if len(text) < 9 else size
    index = number if text[0] == "+" else size - 1 - number
    if not 0 <= index < size:
        shown = text[1:] if command == "dirs" else text
        raise CommandError(
            f"{shown}: directory stack index out of range" if size > 1 else "directory stack empty",
            1,
        )
    return index


def _tilde(shell: Shell, path: str) -> str:
    home = shell.variables.get("HOME") or ""
    if home and home != "/" and (path == home or path.startswith(home + "/")):
        return "~" + path[len(home) :]
    return path


def _show(shell: Shell) -> None:
    shell.write(" ".join(_tilde(shell, path) for path in (shell.cwd, *shell.directories)) + "\n")


def _operands(words: list[str]) -> tuple[bool, list[str]]:
    """Return whether -n was given, and the operands."""
    stay = words[1:2] == ["-n"]
    operands = words[2:] if stay else words[1:]
    return stay, operands[1:] if operands[:1] == ["--"] else operands


@define("pushd", "pushd [-n] [+N | -N | dir]")
def pushd(shell: Shell, words: list[str]) -> int:
    """Put a directory on the stack and go there."""
    stay, operands = _operands(words)
    if not operands:
        if stay:
            return 0
        if not shell.directories:
            raise CommandError("no other directory", 1)
        previous = shell.cwd
        change(shell, shell.directories[0], False)
        shell.directories[0] = previous
        _show(shell)
        return 0
    stack = [shell.cwd, *shell.directories]
    index = _index(operands[0], len(stack), words[0])
    if operands[0][:1] in ("-", "+") and operands[0] != "-" and index is None:
        raise UsageFailure(f"{operands[0]}: invalid number")
    if len(operands) > 1:
        raise CommandError("too many arguments", 1)
    if index is not None:
        rotated = stack[index:] + stack[:index]
        if not stay:
            change(shell, rotated[0], False)
        shell.directories = rotated[1:]
    elif stay:
        shell.directories.insert(0, operands[0])
    else:
        previous = shell.cwd
        target = operands[0]
        if target == "-":
            target = shell.variables.get("OLDPWD") or ""
            if not target:
                raise CommandError("OLDPWD not set", 1)
            shell.write(f"{target}\n")
        change(shell, target, False)
        shell.directories.insert(0, previous)
    _show(shell)
    return 0


@define("popd", "popd [-n] [+N | -N]")
def popd(shell: Shell, words: list[str]) -> int:
    """Go back to a directory of the stack."""
    stay, operands = _operands(words)
    stack = [shell.cwd, *shell.directories]
    index: int | None = 0
    if operands and operands[0] and "--" not in words:
        index = _index(operands[0], len(stack), words[0])
        if index is None:
            kind = "number" if operands[0][:1] in ("-", "+") else "argument"
            raise UsageFailure(f"{operands[0]}: invalid {kind}")
    if not shell.directories:
        raise CommandError("directory stack empty", 1)
    if index == 0:
        if not stay:
            change(shell, shell.directories[0], False)
        del shell.directories[0]
    else:
        assert index is not None
        del shell.directories[index - 1]
    _show(shell)
    return 0


@define("dirs", "dirs [-clpv] [+N] [-N]")
def dirs(shell: Shell, words: list[str]) -> int:
    """Show the directory stack."""
    letters: set[str] = set()
    operands: list[str] = []
    for word in words[1:]:
        if word[:1] == "-" and word[1:] and not is_number(word[1:]):
            if word == "--":
                break
            if word not in ("-c", "-l", "-p", "-v"):
                raise UsageFailure(f"{word}: invalid number")
            letters.add(word[1:])
        else:
            operands.append(word)
    if "c" in letters:
        shell.directories.clear()
        return 0
    stack = [shell.cwd, *shell.directories]
    shown = stack if "l" in letters else [_tilde(shell, path) for path in stack]
    if operands:
        index = _index(operands[0], len(stack), words[0])
        if index is None:
            raise UsageFailure(
                f"{operands[0]}: invalid {'number' if operands[0][:1] in ('-', '+') else 'option'}"
            )
        shell.write(f"{index:2}  {shown[index]}\n" if "v" in letters else f"{shown[index]}\n")
    elif "v" in letters:
        shell.write("".join(f"{number:2}  {path}\n" for number, path in enumerate(shown)))
    elif "p" in letters:
        shell.write("".join(f"{path}\n" for path in shown))
    else:
        shell.write(" ".join(shown) + "\n")
    return 0
