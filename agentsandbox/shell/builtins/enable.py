"""`enable`"""

from __future__ import annotations

from agentsandbox.shell.builtins import NAMES, SPECIAL, define, parse_letters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell


@define("enable", "enable [-a] [-dnps] [-f filename] [name ...]")
def enable(shell: Shell, words: list[str]) -> int:
    """Enable and disable builtins."""
    options, position = parse_letters(words, "adnpsf:")
    names = words[position:]
    if not names or "p" in options:
        for name in sorted(NAMES):
            if "s" in options and name not in SPECIAL:
                continue
            disabled = name in shell.definitions.disabled
            if "a" in options or disabled == ("n" in options):
                shell.write(f"enable {'-n ' if disabled else ''}{name}\n")
        return 0
    status = 0
    for name in names:
        if "f" in options:
            text = options["f"]
            reason = f"{text}: cannot open shared object file: No such file or directory"
            shell.complain(f"enable: cannot open shared object {text}: {reason}")
            return 1
        if "d" in options and name in NAMES:
            shell.complain(f"enable: {name}: not dynamically loaded")
            status = 1
        elif name not in NAMES:
            shell.complain(f"enable: {name}: not a shell builtin")
            status = 1
        elif "n" in options:
            shell.definitions = shell.definitions.replace(
                disabled=shell.definitions.disabled | {name}
            )
        else:
            shell.definitions = shell.definitions.replace(
                disabled=shell.definitions.disabled - {name}
            )
    shell.update_flags()
    return status
