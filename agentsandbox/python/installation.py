"""Carry out a plan: remove old versions, install new ones, report each step."""

from __future__ import annotations

from agentsandbox.python.index import STANDARD_LIBRARY
from agentsandbox.python.resolution import Wanted
from agentsandbox.python.sites import Installed, install, is_there, remove, spender, venv_site
from agentsandbox.python.wheels import applies

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Protocol

    from packaging.requirements import Requirement

    from agentsandbox.contract.command import CommandContext
    from agentsandbox.python.index import Packages
    from agentsandbox.python.resolution import Plan
    from agentsandbox.python.sites import Site
    from agentsandbox.python.wheels import Wheel

    class Reporter(Protocol):
        """Receives the steps of a plan while it is carried out."""

        def removing(self, found: Installed) -> None: ...
        def removed(self, found: Installed) -> None: ...


__all__ = ["Environment", "active_venv_site", "after", "broken", "carry_out", "is_venv", "named"]


class Environment:
    """Where a command installs, and what the guest can import.

    site    where it installs
    fixed   the names that come before the site in `sys.path`, so that they cannot be replaced
    there   every distribution by canonical name
    """

    __slots__ = ("fixed", "is_venv", "site", "there")

    def __init__(
        self, ctx: CommandContext, packages: Packages, site: Site, *, is_venv: bool = False
    ) -> None:
        self.site = site
        self.is_venv = is_venv
        bundled = packages.bundled()
        self.there = is_there(ctx, site, [*bundled, *packages.mounted()])
        self.fixed = frozenset(one.name for one in bundled)
        for one in bundled:
            own = self.there[one.name]
            if own.site is not None:  # it is shadowed by that of the artifact
                self.there[one.name] = Installed(one.headers, one.location, None)


def is_venv(ctx: CommandContext, directory: str) -> bool:
    """Whether a directory is a virtual environment."""
    return ctx.fs.is_file(f"{directory.rstrip('/')}/pyvenv.cfg")


def _find_venv(ctx: CommandContext) -> str:
    """Return the virtual environment of a program called by its path, or the active one, or ""."""
    if "/" in ctx.name:
        directory = ctx.path(ctx.name).rpartition("/")[0].rpartition("/")[0]
        if directory and is_venv(ctx, directory):
            return directory
    return ctx.env.get("VIRTUAL_ENV", "")


def active_venv_site(ctx: CommandContext) -> Site | None:
    """Return the site of the active virtual environment, None without one."""
    found = _find_venv(ctx)
    return venv_site(ctx, found) if found else None


def carry_out(
    ctx: CommandContext,
    plan: Plan,
    environment: Environment,
    installer: str,
    reporter: Reporter,
) -> dict[str, list[str]]:
    """Install the wheels of a plan; return the programs by the name of the distribution.

    All wheels are verified before anything is written. Raises `WheelError` and `OSError`.
    """
    spend = spender(ctx)
    for wheel in plan.wheels:
        wheel.verify(spend)
    asked = {wanted.name for wanted, _ in plan.met if not wanted.origin}
    programs = {}
    for wheel in plan.wheels:
        old = environment.there.get(wheel.name)
        if old is not None and old.site is not None:
            reporter.removing(old)
            remove(ctx, old)
            reporter.removed(old)
        requested = wheel.name in asked
        programs[wheel.title] = install(
            ctx, wheel, environment.site, installer=installer, requested=requested
        )
    return programs


def broken(
    ctx: CommandContext, there: Mapping[str, Installed]
) -> Iterator[tuple[Installed, Requirement, Installed | None]]:
    """Yield each requirement that is not met: (who requires it, the requirement, what is there).

    What belongs to the artifact is not looked at: it was built together.
    """
    spend = spender(ctx)
    for owner in there.values():
        if owner.location == STANDARD_LIBRARY:
            continue
        for requirement in owner.requires(spend):
            ctx.budget.step(16)
            if not applies(requirement):
                continue
            found = there.get(Wanted("", requirement).name)
            if found is None or not found.satisfies(requirement):
                yield owner, requirement, found


def after(environment: Environment, plan: Plan) -> dict[str, Installed]:
    """Return what the guest can import once a plan was carried out."""
    there = dict(environment.there)
    for wheel in plan.wheels:
        there[wheel.name] = Installed(wheel.headers, environment.site.packages, environment.site)
    return there


def named(wheel: Wheel) -> str:
    """Return "name-version", as pip says it."""
    return f"{wheel.title}-{wheel.version}"
