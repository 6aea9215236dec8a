"""`shopt`"""

from __future__ import annotations

from agentsandbox.errors import CommandError
from agentsandbox.shell.builtins import define, parse_letters
from agentsandbox.shell.interpreter.options import OPTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell


_WITHOUT_EFFECT = frozenset(
    "checkhash compat31 compat32 compat40 compat41 compat42 compat43 compat44 gnu_errfmt".split()
)
"""Options that change something in bash and nothing here, which is said when one is set."""


@define("shopt", "shopt [-pqsu] [-o] [optname ...]")
def shopt(shell: Shell, words: list[str]) -> int:
    """Set bash's further options."""
    options, position = parse_letters(words, "psuqo")
    names = words[position:]
    if "s" in options and "u" in options:
        raise CommandError("cannot set and unset shell options simultaneously", 1)
    of_set = "o" in options
    known = OPTIONS if of_set else shell.options.shopt
    changing = "s" in options or "u" in options
    status = 0
    if not names:
        wanted = None if not changing else "s" in options
        # bash lists autocd first
        for name in sorted(known, key=lambda name: (name != "autocd", name)):
            on = _is_on(shell, name, of_set)
            if wanted is None or on is wanted:
                if "q" not in options:
                    _show(shell, name, on, options)
        return 0
    for name in names:
        if name not in known:
            shell.complain(f"shopt: {name}: invalid {'option' if of_set else 'shell option'} name")
            status = 0 if changing and of_set else 1  # bash forgets the failure here
            continue
        if changing:
            _change(shell, name, "s" in options, of_set)
            continue
        on = _is_on(shell, name, of_set)
        if not on:
            status = 1
        if "q" not in options:
            _show(shell, name, on, options)
    return status


def _is_on(shell: Shell, name: str, of_set: bool) -> bool:
    return shell.options.is_on(name) if of_set else shell.options.shopt[name]


def _change(shell: Shell, name: str, on: bool, of_set: bool) -> None:
    if of_set:
        shell.set_option(name, on)
        return
    if on and name in _WITHOUT_EFFECT:
        shell.complain(f"shopt: {name}: changes nothing here (D-shopt)")
    options = shell.options.with_shopt(name, on)
    shell.use_options(options.replace(errtrace=on, functrace=on) if name == "extdebug" else options)


def _show(shell: Shell, name: str, on: bool, options: dict[str, str]) -> None:
    if "p" in options:
        command = f"set {'-' if on else '+'}o" if "o" in options else f"shopt -{'s' if on else 'u'}"
        shell.write(f"{command} {name}\n")
    else:
        width = 15
        shell.write(f"{name:<{width}}\t{'on' if on else 'off'}\n")
