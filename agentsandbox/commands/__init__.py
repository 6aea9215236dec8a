"""The commands: `commands/<name>.py` is the command `<name>`, imported when it is first run. There is no registry.

A module holds an object of its own name, made by `@command`; a second name for a command is a module of one line.
Modules that begin with an underscore are knowledge that several commands share.
"""

from __future__ import annotations

import functools
import importlib
import os

from agentsandbox.kernel.caching import cache_short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.contract.command import Command

__all__ = ["find_command", "names"]


@functools.cache
def names() -> frozenset[str]:
    """The names of all commands, without importing one."""
    try:
        modules = [file.removesuffix(".py") for file in os.listdir(__path__[0]) if file.endswith(".py")]
    except OSError:  # inside an archive; `pkgutil` knows how, but is slow to import
        import pkgutil

        modules = [module.name for module in pkgutil.iter_modules(__path__)]
    return frozenset(name for name in modules if not name.startswith("_"))


@cache_short(1024)
def find_command(name: str) -> Command | None:
    """The command of that name, None if there is none."""
    if name == "[":  # which cannot be the name of a module's object
        from agentsandbox.commands.test import bracket

        return bracket
    if name not in names():
        return None
    module = importlib.import_module(f"agentsandbox.commands.{name}")
    found: Command = module.__dict__[name]
    return found
