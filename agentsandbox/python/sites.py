"""`site-packages` in the sandbox: what is installed, how a wheel gets there and away again.

A *site* is one place that packages are installed in: the user's, a virtual environment's, or a
directory given with `--target`. It has four roots for the four kinds of files in a wheel. All is
read and written through the sandbox's filesystem, so quotas, permissions, events and snapshots hold
for packages as for other files; and all of it may have been changed by a script, so texts found
here are bounded and parsed as carefully as those of a wheel.
"""

from __future__ import annotations

import posixpath

from agentsandbox.kernel.streams import encode
from agentsandbox.python.index import program_text
from agentsandbox.python.wheels import PYTHON, WheelError, parse_requirement, read_headers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from email.message import Message

    from packaging.requirements import Requirement

    from agentsandbox.contract.command import CommandContext
    from agentsandbox.python.index import Bundled
    from agentsandbox.python.wheels import Placed, Spend, Wheel

__all__ = [
    "Installed",
    "Site",
    "install",
    "is_there",
    "recorded_files",
    "remove",
    "spender",
    "target_site",
    "user_site",
    "venv_site",
]

_SITE_PACKAGES = f"lib/python{PYTHON[0]}.{PYTHON[1]}/site-packages"
_METADATA_BYTES = 1 << 20
_RECORD_BYTES = 8 << 20
_REQUIREMENTS = 2000
"""Most lines of Requires-Dist that are looked at."""
_READING = 1 << 18
"""What reading a requirement costs, as bytes: 65 steps."""
_PYTHON3 = "/usr/bin/python3"
_RECORDED = 2000
"""Characters of a path in RECORD."""


class Site:
    """A place that packages are installed in. All paths are absolute.

    packages  the directory of modules: `site-packages`
    base      what `scripts`, `headers` and `data` are below: everything is written inside it
    scripts   the directory of programs
    python    the interpreter that programs name
    """

    __slots__ = ("base", "headers", "packages", "python", "scripts")

    def __init__(self, base: str, packages: str, python: str = _PYTHON3) -> None:
        self.base = base
        self.packages = packages
        self.scripts = posixpath.join(base, "bin")
        self.headers = posixpath.join(base, f"include/python{PYTHON[0]}.{PYTHON[1]}")
        self.python = python

    def place(self, placed: Placed, wheel: Wheel) -> str:
        """Return the path that a file of a wheel is installed at."""
        if placed.root == "site":
            return posixpath.join(self.packages, placed.path)
        if placed.root == "scripts":
            return posixpath.join(self.scripts, placed.path)
        if placed.root == "headers":
            return posixpath.join(self.headers, wheel.name, placed.path)
        return posixpath.join(self.base, placed.path)


def user_site(ctx: CommandContext) -> Site:
    """Return the site in the user's home directory."""
    home = ctx.env.get("HOME") or f"/home/{ctx.host.user}"
    base = posixpath.join(posixpath.normpath(ctx.path(home)), ".local")
    return Site(base, posixpath.join(base, _SITE_PACKAGES))


def venv_site(ctx: CommandContext, directory: str) -> Site:
    """Return the site of the virtual environment in a directory."""
    base = posixpath.normpath(ctx.path(directory))
    own = posixpath.join(base, "bin/python3")
    python = own if ctx.fs.exists(own, follow=False) and " " not in own else _PYTHON3
    return Site(base, posixpath.join(base, _SITE_PACKAGES), python)


def target_site(ctx: CommandContext, directory: str) -> Site:
    """Return the site that is just a directory."""
    base = posixpath.normpath(ctx.path(directory))
    return Site(base, base)


def spender(ctx: CommandContext) -> Spend:
    """Return a function that draws on the budget by size and lets the event loop run."""
    budget = ctx.budget

    def spend(size: int) -> None:
        budget.step(1 + (size >> 12))
        budget.breathe()

    return spend


class Installed:
    """A distribution that the guest can import. `site` is None if no script can change it."""

    __slots__ = (
        "_requires", "headers", "info_path", "location", "name", "site", "title", "version",
    )  # fmt: skip

    def __init__(
        self, headers: Message, location: str, site: Site | None, info_path: str = ""
    ) -> None:
        from packaging.utils import canonicalize_name

        self.headers = headers
        self.title = _one_line(headers.get("Name", ""))
        self.version = _one_line(headers.get("Version", ""))
        self.name: str = canonicalize_name(self.title)
        self.location = location
        self.site = site
        self._requires: list[Requirement] | None = None
        self.info_path = info_path
        """Its .dist-info directory in the sandbox."""

    def requires(self, spend: Spend) -> list[Requirement]:
        """Return what it requires; lines that cannot be read are left out, as pip does."""
        if self._requires is None:
            self._requires = []
            for text in (self.headers.get_all("Requires-Dist") or ())[:_REQUIREMENTS]:
                spend(_READING)
                try:
                    self._requires.append(parse_requirement(str(text)))
                except ValueError:
                    continue
        return self._requires

    def satisfies(self, requirement: Requirement) -> bool:
        """Whether its version is one of those that are asked for."""
        from packaging.version import Version

        try:
            version = Version(self.version)
        except ValueError:
            return False
        return requirement.specifier.contains(version, prereleases=True)


def _one_line(value: object) -> str:
    """Return a header's value, which a script may have made, fit for one line of output."""
    text = str(value)[:200]
    return "".join(char if char.isprintable() else " " for char in text)


def _installed_in(ctx: CommandContext, site: Site) -> Iterator[Installed]:
    """Yield the distributions in a site, in the order of the names of their directories."""
    try:
        names = ctx.fs.listdir(site.packages)
    except OSError:
        return
    for name in names:
        ctx.budget.step()
        if not name.endswith(".dist-info"):
            continue
        path = posixpath.join(site.packages, name)
        text = _read(ctx, posixpath.join(path, "METADATA"), _METADATA_BYTES)
        if text is None:
            continue
        found = Installed(read_headers(text), site.packages, site, path)
        if found.title and found.version:
            yield found


def _read(ctx: CommandContext, path: str, most: int) -> str | None:
    """Return the text of a regular file of at most `most` bytes, None for all else."""
    try:
        info = ctx.fs.stat(path)
        if not info.is_file or info.size > most:
            return None
        ctx.budget.step(8 + (info.size >> 6))
        ctx.budget.charge(info.size)
        return ctx.fs.read_text(path)
    except OSError:
        return None


def is_there(
    ctx: CommandContext, site: Site | None, fixed: Collection[Bundled]
) -> dict[str, Installed]:
    """Return all distributions by canonical name: those of the site, then those that are fixed."""
    found: dict[str, Installed] = {}
    if site is not None:
        for one in _installed_in(ctx, site):
            found.setdefault(one.name, one)
    for bundled in fixed:
        ctx.budget.step()
        if bundled.name not in found:
            found[bundled.name] = Installed(bundled.headers, bundled.location, None)
    return found


# installing


def install(
    ctx: CommandContext, wheel: Wheel, site: Site, *, installer: str, requested: bool
) -> list[str]:
    """Write a verified wheel to a site and return the programs it made.

    An `OSError` removes what was written and goes on to the caller.
    """
    written = _Writing(ctx, site)
    try:
        return written.write(wheel, installer, requested)
    except (OSError, WheelError):
        written.undo()
        raise


class _Writing:
    """The files of one distribution while they are written: for RECORD, and to undo them."""

    __slots__ = ("ctx", "made", "rows", "site")

    def __init__(self, ctx: CommandContext, site: Site) -> None:
        self.ctx = ctx
        self.site = site
        self.rows: list[tuple[str, str, str]] = []
        self.made: list[str] = []

    def write(self, wheel: Wheel, installer: str, requested: bool) -> list[str]:
        """Write all files, RECORD last; return the programs."""
        spend = spender(self.ctx)
        info = posixpath.join(self.site.packages, wheel.dist_info)
        own = {f"{wheel.dist_info}/{name}" for name in ("RECORD", "INSTALLER", "REQUESTED")}
        programs = []
        for placed in wheel.files:
            if placed.root == "site" and placed.path in own:
                continue
            path = self.site.place(placed, wheel)
            blocks = wheel.blocks(placed, spend)
            if placed.root == "scripts":
                programs.append(placed.path)
                blocks = self._with_interpreter(blocks)
            executable = placed.root == "scripts" or placed.is_program
            self._put(path, blocks, executable=executable)
        for name, (module, function) in wheel.console_scripts.items():
            programs.append(name)
            text = program_text(module, function, self.site.python)
            path = posixpath.join(self.site.scripts, name)
            self._put(path, iter([encode(text)]), executable=True)
        self._put(posixpath.join(info, "INSTALLER"), iter([encode(f"{installer}\n")]))
        if requested:
            self._put(posixpath.join(info, "REQUESTED"), iter([b""]))
        self._put_record(posixpath.join(info, "RECORD"))
        return sorted(set(programs))

    def _with_interpreter(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        """Yield a script of the wheel whose `#!python` names the interpreter."""
        first = next(blocks, b"")
        if first.startswith(b"#!python"):
            line, newline, rest = first.partition(b"\n")
            _, _, options = line.partition(b" ")
            head = encode(f"#!{self.site.python}") + (b" " + options if options else b"")
            first = head + newline + rest
        yield first
        yield from blocks

    def _put(self, path: str, blocks: Iterator[bytes], *, executable: bool = False) -> None:
        from base64 import urlsafe_b64encode
        from hashlib import sha256

        ctx = self.ctx
        ctx.budget.step(16)
        ctx.fs.makedirs(posixpath.dirname(path), 0o777 & ~ctx.umask)
        if ctx.fs.exists(path, follow=False) and not ctx.fs.is_dir(path):
            ctx.fs.unlink(path)
        hashed, size = sha256(), 0
        permissions = (0o777 if executable else 0o666) & ~ctx.umask
        with ctx.fs.open(path, "w", permissions=permissions) as file:
            self.made.append(path)
            for block in blocks:
                size += len(block)
                hashed.update(block)
                file.write(block)
        digest = urlsafe_b64encode(hashed.digest()).rstrip(b"=").decode("ascii")
        recorded = posixpath.relpath(path, self.site.packages)
        self.rows.append((recorded, f"sha256={digest}", str(size)))

    def _put_record(self, path: str) -> None:
        import csv
        from io import StringIO

        text = StringIO()
        rows = csv.writer(text, lineterminator="\n")
        rows.writerows(sorted(self.rows))
        rows.writerow((posixpath.relpath(path, self.site.packages), "", ""))
        self._put(path, iter([encode(text.getvalue())]))

    def undo(self) -> None:
        """Remove what was written, as far as that is possible."""
        _unlink_all(self.ctx, self.made, self.site)


def remove(ctx: CommandContext, found: Installed) -> None:
    """Remove the files of a distribution that RECORD lists, inside its site only.

    Raises `WheelError` without a RECORD that can be read.
    """
    site = found.site
    assert site is not None
    _unlink_all(ctx, recorded_files(ctx, found), site)


def recorded_files(ctx: CommandContext, found: Installed) -> list[str]:
    """Return the absolute paths of a distribution's files; raises `WheelError` without RECORD."""
    import csv

    text = _read(ctx, posixpath.join(found.info_path, "RECORD"), _RECORD_BYTES)
    if text is None:
        raise WheelError(
            f"Cannot uninstall {found.title} {found.version}: it has no RECORD file. Remove its "
            f"files in {found.location} with rm instead."
        )
    paths = []
    try:
        for row in csv.reader(text.splitlines()):
            ctx.budget.step()
            if row and row[0] and len(row[0]) < _RECORDED and "\0" not in row[0]:
                paths.append(posixpath.normpath(posixpath.join(found.location, row[0])))
    except csv.Error as error:
        raise WheelError(
            f"Cannot uninstall {found.title}: its RECORD cannot be read ({error})"
        ) from None
    return paths


def _unlink_all(ctx: CommandContext, paths: list[str], site: Site) -> None:
    """Remove files below a site's base, their bytecode, and directories that become empty."""
    below = site.base.rstrip("/") + "/"
    directories: dict[str, set[str]] = {}
    for path in paths:
        ctx.budget.step(4)
        if path.startswith(below):
            _try(ctx.fs.unlink, path)
            directory, name = posixpath.split(path)
            directories.setdefault(directory, set()).add(name)
    for directory, names in sorted(directories.items(), key=lambda pair: -len(pair[0])):
        _remove_bytecode(ctx, directory, {name.partition(".")[0] for name in names})
        here = directory
        while here.startswith(below) and here not in (site.packages, site.scripts):
            ctx.budget.step()
            if not _try(ctx.fs.rmdir, here):
                break
            here = posixpath.dirname(here)


def _remove_bytecode(ctx: CommandContext, directory: str, modules: set[str]) -> None:
    cache = posixpath.join(directory, "__pycache__")
    try:
        names = ctx.fs.listdir(cache)
    except OSError:
        return
    for name in names:
        ctx.budget.step()
        if name.endswith(".pyc") and name.partition(".")[0] in modules:
            _try(ctx.fs.unlink, posixpath.join(cache, name))
    _try(ctx.fs.rmdir, cache)


def _try(function: Callable[[str], object], path: str) -> bool:
    """Call a function of the filesystem; return whether it had no error."""
    try:
        function(path)
    except OSError:
        return False
    return True
