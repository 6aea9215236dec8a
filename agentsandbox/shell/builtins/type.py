"""`type`"""

from __future__ import annotations

from agentsandbox.kernel.quoting import single_quote
from agentsandbox.shell.builtins import NAMES, define, parse_letters
from agentsandbox.shell.syntax.plain_commands import RESERVED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell


@define("type", "type [-afptP] name [name ...]")
def type(shell: Shell, words: list[str]) -> int:
    """Tell what a name means."""
    options, position = parse_letters(words, "afptP")
    status = 0
    for name in words[position:]:
        if not _tell(shell, name, options):
            status = 1
            if not {"t", "p", "P"} & set(options):
                shell.complain(f"type: {name}: not found")
    return status


def paths_of(shell: Shell, name: str, *, every: bool, path: str | None = None) -> list[str]:
    """Return the files of that name in `path`, else PATH: the first or all, if executable."""
    if "/" in name:
        full = shell.path(name)
        return [name] if shell.fs.is_file(full) and shell.fs.stat(full).mode & 0o111 else []
    found: list[str] = []
    plain: list[str] = []
    searched = (shell.variables.get("PATH") or "") if path is None else path
    for directory in searched.split(":"):
        shown = f"{directory or '.'}/{name}"
        full = shell.path(shown)
        if not shell.fs.is_file(full):
            continue
        if shell.fs.stat(full).mode & 0o111:
            found.append(shown)
            if not every:
                break
        elif not every:
            plain.append(shown)
    if not found and name in shell.machine.commands:
        found.append(f"/usr/local/bin/{name}")
    return found or plain[:1]


def _tell(shell: Shell, name: str, options: dict[str, str]) -> bool:
    every = "a" in options
    if "P" in options or "p" in options:
        if (
            "p" in options
            and not every
            and "P" not in options
            and _kind(shell, name, options) not in (None, "file")
        ):
            return True
        found = (
            paths_of(shell, name, every=every)
            if every or name not in shell.specials.hashed
            else [shell.specials.hashed[name][0]]
        )
        for path in found:
            shell.write(path + "\n")
        return bool(found) or ("P" not in options and _kind(shell, name, options) is not None)
    if "t" in options and not every:
        kind = _kind(shell, name, options)
        if kind is None:
            return False
        shell.write(kind + "\n")
        return True
    return describe(
        shell, name, every=every, skip_functions="f" in options, kinds_only="t" in options
    )


def _kind(shell: Shell, name: str, options: dict[str, str]) -> str | None:
    if name in shell.definitions.aliases and shell.options.shopt["expand_aliases"]:
        return "alias"
    if name in RESERVED or name == "]]":
        return "keyword"
    if name in shell.definitions.functions and "f" not in options:
        return "function"
    if name in NAMES and name not in shell.definitions.disabled:
        return "builtin"
    return "file" if name in shell.specials.hashed or paths_of(shell, name, every=False) else None


def describe(
    shell: Shell,
    name: str,
    *,
    every: bool = False,
    short: bool = False,
    skip_functions: bool = False,
    kinds_only: bool = False,
    origin: str = "type",
    path: str | None = None,
) -> bool:
    """Print the meaning of a name as `type` or (`short`) `command -v`; whether it has one.

    Files are searched in `path`, else in PATH.
    """
    from agentsandbox.shell.syntax.printer import print_function

    found = False

    def tell(kind: str, long: str, brief: str) -> bool:
        nonlocal found
        found = True
        shell.write((kind if kinds_only else brief if short else long) + "\n")
        return not every

    if name in shell.definitions.aliases and shell.options.shopt["expand_aliases"]:
        value = shell.definitions.aliases[name]
        if tell("alias", f"{name} is aliased to `{value}'", f"alias {name}={single_quote(value)}"):
            return True
    if (name in RESERVED or name == "]]") and tell("keyword", f"{name} is a shell keyword", name):
        return True
    if name in shell.definitions.functions and not skip_functions:
        text = print_function(shell.definitions.functions[name].node)
        if tell("function", f"{name} is a function\n{text}", name):
            return True
    if (
        name in NAMES
        and name not in shell.definitions.disabled
        and tell("builtin", f"{name} is a shell builtin", name)
    ):
        return True
    hashed = shell.specials.hashed.get(name)
    if hashed is not None and not every and "/" not in name and path is None:
        return tell("file", f"{name} is hashed ({hashed[0]})", hashed[0]) or True
    for file in paths_of(shell, name, every=every, path=path):
        if tell("file", f"{name} is {file}", file):
            return True
    if not found and origin == "command" and not short:
        shell.complain(f"command: {name}: not found")
    return found
