"""`pip` and `pip3`: pure wheels into the sandbox's site-packages, in the words of pip.

    pip_commands(Packages(packages=["pytest"], index="wheels"))

Nothing is built and nothing is downloaded: what `pip install NAME` finds is what the host offers
(see `index`). Whatever cannot be is refused by name, with what to do instead.
"""

from __future__ import annotations

import posixpath

from agentsandbox.contract.command import command
from agentsandbox.contract.manners import Manners, Release
from agentsandbox.contract.usage import OptionParser
from agentsandbox.errors import UsageError
from agentsandbox.kernel.streams import encode
from agentsandbox.python.index import MOUNT_PATH, STANDARD_LIBRARY
from agentsandbox.python.installation import (
    Environment,
    active_venv_site,
    after,
    broken,
    carry_out,
    named,
)
from agentsandbox.python.resolution import (
    RequirementError,
    Requirements,
    ResolutionError,
    Resolver,
    Wheels,
    refused_option,
)
from agentsandbox.python.sites import (
    Installed,
    recorded_files,
    remove,
    spender,
    target_site,
    user_site,
)
from agentsandbox.python.wheels import PYTHON, WheelError, applies

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from agentsandbox.contract.command import Arguments, Command, CommandContext
    from agentsandbox.python.index import Packages
    from agentsandbox.python.resolution import Plan, Wanted
    from agentsandbox.python.sites import Site

__all__ = [
    "PROBLEMS",
    "Listing",
    "PackageError",
    "describe_packages",
    "pip_commands",
    "print_check",
    "reworded",
]

RELEASE = Release(
    f"pip 25.3 from {STANDARD_LIBRARY}/pip (python {PYTHON[0]}.{PYTHON[1]})", "-V, --version"
)

_USAGE = """
Usage: pip COMMAND [OPTION]...
Install pure Python packages from the index that the host of the sandbox supplies.

Commands:
  install      install packages
  uninstall    remove packages
  list         list what is installed and what comes with the sandbox's Python
  freeze       list the same as requirements
  show         show information about packages
  check        check that what is installed has what it requires

  -h, --help   show this help
"""

_ALWAYS = """
  -q, --quiet                      print errors only
      --no-cache-dir               no cache is kept in any case
      --disable-pip-version-check  pip never looks for a newer version of itself
      --no-input                   never ask
      --no-color                   there are no colors
"""

_USAGES = {
    "install": """
Usage: pip install [OPTION]... REQUIREMENT...
       pip install [OPTION]... -r FILE...
Install pure wheels: by name from the sandbox's index, or ./NAME-VERSION-py3-none-any.whl.

  -r, --requirement FILE        install what the file lists
  -c, --constraint FILE         limit versions by what the file lists
  -U, --upgrade                 replace what is named by its newest version
      --upgrade-strategy WHICH  only-if-needed
      --force-reinstall         install again what is there
  -t, --target DIR              install into this directory
      --user                    install below ~/.local (the default without a virtual environment)
      --no-deps                 do not install what the packages require
      --pre                     accept pre-releases
      --dry-run                 only say what would be installed
      --only-binary WHICH       wheels are all that is accepted in any case
      --prefer-binary           the same
      --break-system-packages   the system's packages are never changed in any case
      --root-user-action WHICH  ignore or warn: nothing is ever installed as root
      --progress-bar WHICH      there is none
      --no-warn-script-location do not warn if programs are not on PATH
  -e, --editable DIR            refused: nothing can be built
  -i, --index-url URL           refused: the host chooses the index
      --extra-index-url URL     refused as well
      --trusted-host HOST       refused as well
  -f, --find-links DIR          refused: give the paths of wheels
""",
    "uninstall": """
Usage: pip uninstall [OPTION]... NAME...
       pip uninstall [OPTION]... -r FILE...
Remove packages.

  -y, --yes                    do not ask
  -r, --requirement FILE       remove what the file lists
      --break-system-packages  the system's packages are never changed in any case
      --root-user-action WHICH ignore or warn: nothing is ever done as root
""",
    "list": """
Usage: pip list [OPTION]...
List packages.

      --format=FORMAT  columns, freeze or json
      --user           only those below ~/.local
  -l, --local          only those of the active environment
""",
    "freeze": """
Usage: pip freeze [OPTION]...
List packages as requirements.

      --user           only those below ~/.local
  -l, --local          only those of the active environment
      --all            all are listed in any case
""",
    "show": """
Usage: pip show [OPTION]... NAME...
Show information about packages.

  -f, --files          list the files as well
""",
    "check": """
Usage: pip check
Check that what is installed has what it requires.

""",
}

_REFUSED_COMMANDS = {
    "download": "pip has no network; 'pip install NAME' takes from the index of the sandbox",
    "wheel": "nothing can be built in the sandbox",
    "config": "pip has no settings here: the host of the sandbox chooses the index",
    "cache": "pip keeps no cache here",
    "index": "use 'pip install NAME', which says which versions there are",
    "search": "use 'pip install NAME', which says which versions there are",
    "hash": "use sha256sum FILE",
    "inspect": "use 'pip list --format=json' or 'pip show NAME'",
    "debug": "use 'pip --version'",
    "lock": "use 'pip freeze'",
    "completion": "there is no completion for pip",
}
_GENERAL = (
    "-q", "--quiet", "--no-cache-dir", "--disable-pip-version-check", "--no-input", "--no-color",
)  # fmt: skip
_REFUSED_OPTIONS = ("editable", "index-url", "extra-index-url", "trusted-host", "find-links")


class PackageError(Exception):
    """A command about packages cannot do what it was asked to; `lines` say why."""

    def __init__(self, *lines: str, status: int = 1) -> None:
        self.lines = lines
        self.status = status
        super().__init__(lines[0])


def reworded(error: Exception) -> PackageError:
    """Return an error of reading, resolving or installing packages in pip's words."""
    if isinstance(error, PackageError):
        return error
    if isinstance(error, ResolutionError):
        return PackageError(*error.lines)
    if isinstance(error, OSError):
        path = f": {error.filename!r}" if error.filename else ""
        return PackageError(
            "Could not install packages due to an OSError: "
            f"[Errno {error.errno}] {error.strerror}{path}"
        )
    return PackageError(str(error))


_CONFLICTS = (
    "pip's dependency resolver does not currently take into account all the packages that are "
    "installed. This behaviour is the source of the following dependency conflicts."
)

PROBLEMS = (PackageError, ResolutionError, RequirementError, WheelError, OSError)
"""What `reworded` takes."""


def pip_commands(packages: Packages) -> Sequence[Command]:
    """Return the commands `pip` and `pip3` for the packages of one runtime."""
    parsers = {name: OptionParser(text + _ALWAYS, name="pip") for name, text in _USAGES.items()}

    def run(ctx: CommandContext, args: Arguments) -> int:
        return _Pip(ctx, packages, parsers).run([*ctx.words])

    manners = Manners(RELEASE)
    return [
        command(name, _USAGE.replace("Usage: pip", f"Usage: {name}"), raw=True, manners=manners)(
            run
        )
        for name in ("pip", "pip3")
    ]


class _Pip:
    """One call of pip."""

    __slots__ = ("ctx", "packages", "parsers", "quiet")

    def __init__(
        self, ctx: CommandContext, packages: Packages, parsers: Mapping[str, OptionParser]
    ) -> None:
        self.ctx = ctx
        self.packages = packages
        self.parsers = parsers
        self.quiet = False

    def run(self, words: list[str]) -> int:
        """Run the command that the words ask for and return its status."""
        general = []
        while words and words[0] in _GENERAL:
            general.append(words.pop(0))
        name = words.pop(0) if words else "help"
        if name in ("-V", "--version"):
            self.ctx.stdout.write(encode(RELEASE.lines("pip")))
            return 0
        if name in ("help", "-h", "--help"):
            text = _USAGES[words[0]] + _ALWAYS if words and words[0] in _USAGES else _USAGE
            self.ctx.print(text.strip("\n"))
            return 0
        try:
            if name in _REFUSED_COMMANDS:
                raise PackageError(f"pip {name} is not possible here: {_REFUSED_COMMANDS[name]}")
            if name not in self.parsers:
                raise PackageError(self._unknown(name))
            if "--help" in words or "-h" in words:
                self.ctx.print((_USAGES[name] + _ALWAYS).strip("\n"))
                return 0
            args = self._parse(name, [*general, *words])
            return self._functions()[name](args)
        except PROBLEMS as error:
            failure = reworded(error)
            self._report(failure)
            return failure.status

    def _functions(self) -> Mapping[str, Callable[[Arguments], int]]:
        return {
            "install": self.install,
            "uninstall": self.uninstall,
            "list": self.list,
            "freeze": self.freeze,
            "show": self.show,
            "check": self.check,
        }

    def _unknown(self, name: str) -> str:
        """Return pip's words for a command that it does not have."""
        if name.startswith("-"):
            return f"no such option: {name}"
        from difflib import get_close_matches

        near = get_close_matches(name[:50], [*self.parsers, *_REFUSED_COMMANDS], 1)
        hint = f' - maybe you meant "{near[0]}"' if near else ""
        return f'unknown command "{name}"{hint}'

    def _parse(self, name: str, words: Sequence[str]) -> Arguments:
        try:
            args = self.parsers[name].parse(words)
        except UsageError as error:
            first = _USAGES[name].strip().splitlines()[0].removeprefix("Usage: ")
            self.ctx.stderr.write(encode(f"\nUsage:   \n  {first}\n\n"))
            raise PackageError(_as_pip_says(error.message), status=2) from None
        for option in _REFUSED_OPTIONS:
            if args.flag(option):
                raise PackageError(refused_option(f"--{option}"))
        self.quiet = args.flag("quiet")
        return args

    def _report(self, failure: PackageError) -> None:
        """Print an error: a usage error as it is, all others as pip's "ERROR: "."""
        start = "" if failure.status == 2 else "ERROR: "
        lines = "\n".join(failure.lines)
        self.ctx.stderr.write(encode(f"{start}{lines}\n"))

    def tell(self, text: str) -> None:
        """Print a line, unless --quiet was given."""
        if not self.quiet:
            self.ctx.print(text)

    def warn(self, text: str) -> None:
        """Print a warning; pip prints it with --quiet, too."""
        self.ctx.stderr.write(encode(f"WARNING: {text}\n"))

    # where

    def _environment(self, args: Arguments | None = None) -> Environment:
        """Return where packages are installed: a target, a virtual environment or ~/.local."""
        ctx = self.ctx
        venv = active_venv_site(ctx)
        target = args.value("target") if args is not None else None
        if target is not None:
            environment = Environment(ctx, self.packages, target_site(ctx, target))
            environment.fixed = frozenset()
            return environment
        if venv is None:
            return Environment(ctx, self.packages, user_site(ctx))
        if args is not None and args.flag("user"):
            raise PackageError(
                "Can not perform a '--user' install. User site-packages are not visible in this "
                "virtualenv."
            )
        return Environment(ctx, self.packages, venv, is_venv=True)

    # install

    def install(self, args: Arguments) -> int:
        _check_choices(args)
        asked = self._requirements(args)
        if not asked.wanted:
            if args.flag("requirement"):
                return 0
            near = ' (see "pip help install")'
            raise PackageError(f"You must give at least one requirement to install{near}")
        environment = self._environment(args)
        if not (args.flag("user") or args.flag("target") or environment.is_venv):
            self.tell(
                "Defaulting to user installation because normal site-packages is not writeable"
            )
        for one in asked.wanted:
            if one.path and not self.ctx.fs.exists(one.path):
                self.warn(
                    f"Requirement {one.text!r} looks like a filename, but the file does not exist"
                )
        plan = self._resolve(args, asked, environment)
        self._tell_plan(asked, plan)
        if not plan.wheels:
            return 0
        if args.flag("dry-run"):
            self.tell(f"Would install {_listed(plan)}")
            return 0
        self.tell(
            f"Installing collected packages: {', '.join(wheel.title for wheel in plan.wheels)}"
        )
        programs = carry_out(self.ctx, plan, environment, "pip", self)
        if not args.flag("no-warn-script-location"):
            self._warn_of_path(programs, environment.site)
        self._warn_of_broken(environment, plan)
        self.tell(f"Successfully installed {_listed(plan)}")
        return 0

    def _requirements(self, args: Arguments) -> Requirements:
        asked = Requirements(self.ctx)
        for key, value in args.given:
            if key in ("requirement", "constraint"):
                _add_file(asked, value or "", constrains=key == "constraint")
        for operand in args.operands:
            asked.add(operand)
        return asked

    def _resolve(self, args: Arguments, asked: Requirements, environment: Environment) -> Plan:
        there = environment.there
        roots = {one.name for one in asked.wanted}
        wheels = Wheels(self.ctx, self.packages)
        if args.flag("force-reinstall"):
            there = {
                name: one
                for name, one in there.items()
                if name in environment.fixed or one.site is None
            }
        if args.flag("target"):
            there = {
                name: one
                for name, one in there.items()
                if one.site is not None or name not in roots or not wheels.offered(name)
            }
        resolver = Resolver(
            wheels,
            there,
            asked.constraints,
            fixed=environment.fixed,
            upgrade=args.flag("upgrade"),
            dependencies=not args.flag("no-deps"),
            prereleases=args.flag("pre"),
        )
        return resolver.resolve(asked.wanted)

    def _tell_plan(self, asked: Requirements, plan: Plan) -> None:
        """Say how each requirement was met, in the order they were looked at."""
        for wanted in asked.wanted:
            if not applies(wanted.requirement):
                self.tell(
                    f"Ignoring {wanted.name}: markers '{wanted.requirement.marker}' don't match "
                    "your environment"
                )
        seen = set()
        for wanted, pick in plan.met:
            self.ctx.budget.step(4)
            if wanted.path:
                self.tell(f"Processing {wanted.shown()}")
                if isinstance(pick, Installed):
                    self.tell(
                        f"{pick.title} is already installed with the same version as the provided "
                        "wheel. Use --force-reinstall to force an installation of the wheel."
                    )
            elif isinstance(pick, Installed):
                self.tell(f"Requirement already satisfied: {_with_place(wanted, pick)}")
            elif pick.name not in seen:
                self.tell(f"Collecting {wanted.shown()}")
                self.tell(f"  Downloading {pick.file_name} ({_size(pick.size)})")
            seen.add(pick.name)
        for note in plan.notes:
            self.warn(note)

    def _warn_of_path(self, programs: Mapping[str, Sequence[str]], site: Site) -> None:
        if site.scripts in self.ctx.env.get("PATH", "").split(":"):
            return
        for names in programs.values():
            if not names:
                continue
            if len(names) == 1:
                who = f"script {names[0]} is"
            else:
                who = f"scripts {', '.join(names[:-1])} and {names[-1]} are"
            self.ctx.stderr.write(
                encode(
                    f"  WARNING: The {who} installed in '{site.scripts}' which is not on PATH.\n"
                    "  Consider adding this directory to PATH or, if you prefer to suppress this "
                    "warning, use --no-warn-script-location.\n"
                )
            )

    def _warn_of_broken(self, environment: Environment, plan: Plan) -> None:
        """Name what was installed before and does not fit any more."""
        new = {wheel.name for wheel in plan.wheels}
        lines = [
            f"{owner.title} {owner.version} requires {one.name}{one.specifier}, but you have "
            f"{found.title} {found.version} which is incompatible.\n"
            for owner, one, found in broken(self.ctx, after(environment, plan))
            if owner.name not in new and found is not None and found.name in new
        ]
        if lines:
            lines.insert(0, f"ERROR: {_CONFLICTS}\n")
            self.ctx.stderr.write(encode("".join(lines)))

    def removing(self, found: Installed) -> None:
        """Say that an older version goes."""
        self.tell(f"  Attempting uninstall: {found.title}")
        self.tell(f"    Found existing installation: {found.title} {found.version}")
        self.tell(f"    Uninstalling {found.title}-{found.version}:")

    def removed(self, found: Installed) -> None:
        """Say that it is gone."""
        self.tell(f"      Successfully uninstalled {found.title}-{found.version}")

    # uninstall

    def uninstall(self, args: Arguments) -> int:
        asked = self._requirements(args)
        if not asked.wanted:
            raise PackageError(
                'You must give at least one requirement to uninstall (see "pip help uninstall")'
            )
        environment = self._environment()
        for name in dict.fromkeys(one.name for one in asked.wanted):
            found = environment.there.get(name)
            if found is None:
                self.warn(f"Skipping {name} as it is not installed.")
            elif found.site is None:
                raise PackageError(
                    f"Cannot uninstall {found.title} {found.version}: it is part of the "
                    f"sandbox's Python ({found.location})"
                )
            else:
                self._uninstall(found, yes=args.flag("yes"))
        return 0

    def _uninstall(self, found: Installed, *, yes: bool) -> None:
        self.tell(f"Found existing installation: {found.title} {found.version}")
        self.tell(f"Uninstalling {found.title}-{found.version}:")
        files = recorded_files(self.ctx, found)
        if not yes:
            self.ctx.print("  Would remove:")
            for path in sorted(files)[:20]:
                self.ctx.print(f"    {path}")
            self.ctx.print("Proceed (Y/n)? ", end="")
            answer = self.ctx.stdin.readline()
            if not answer:
                raise PackageError("There is no answer on standard input: use pip uninstall -y")
            if answer.strip().lower() not in (b"", b"y", b"yes"):
                return
        remove(self.ctx, found)
        self.tell(f"  Successfully uninstalled {found.title}-{found.version}")

    # what is there

    def _listed(self, args: Arguments) -> list[Installed]:
        environment = self._environment()
        found = environment.there.values()
        if args.flag("user") and environment.is_venv:
            return []
        if args.flag("user") or args.flag("local"):
            found = [one for one in found if one.site is not None]  # type: ignore[assignment]
        return sorted(found, key=lambda one: one.title.lower())

    def list(self, args: Arguments) -> int:
        _no_operands("list", args)
        Listing(self.ctx, self._listed(args)).print(args.value("format", "columns") or "")
        return 0

    def freeze(self, args: Arguments) -> int:
        _no_operands("freeze", args)
        Listing(self.ctx, self._listed(args)).print("freeze")
        return 0

    def show(self, args: Arguments) -> int:
        if not args.operands:
            self.warn("ERROR: Please provide a package name or names.")
            return 1
        missing = describe_packages(
            self.ctx, self._environment().there, args.operands, files=args.flag("files")
        )
        if missing:
            self.warn(f"Package(s) not found: {', '.join(missing)}")
        return int(len(missing) == len(args.operands))

    def check(self, args: Arguments) -> int:
        _no_operands("check", args)
        count = print_check(self.ctx, self._environment().there, self.ctx.print)
        if not count:
            self.tell("No broken requirements found.")
        return int(count > 0)


def _as_pip_says(message: str) -> str:
    """Return an error in the options in pip's words."""
    for start in ("unrecognized option '", "invalid option -- '"):
        if message.startswith(start):
            option = message.removeprefix(start).rstrip("'")
            return f"no such option: {option if option.startswith('-') else f'-{option}'}"
    return message


def _size(count: int) -> str:
    """Return a number of bytes as pip shows it."""
    if count > 1_000_000:
        return f"{count / 1_000_000:.1f} MB"
    if count > 10_000:
        return f"{count // 1000} kB"
    return f"{count / 1000:.1f} kB" if count > 1000 else f"{count} bytes"


def _check_choices(args: Arguments) -> None:
    """Refuse values of options that would not be what happens."""
    strategy = args.value("upgrade-strategy", "only-if-needed")
    if strategy != "only-if-needed":
        raise PackageError(
            f"--upgrade-strategy {strategy} is not possible here: name the packages to upgrade"
        )
    if args.value("only-binary") == ":none:":
        raise PackageError("--only-binary :none: is not possible: nothing can be built")


def _no_operands(name: str, args: Arguments) -> None:
    if args.operands:
        raise PackageError(f"pip {name} takes no operand: {args.operands[0]}")


def _add_file(asked: Requirements, name: str, *, constrains: bool) -> None:
    try:
        asked.add_file(name, constrains=constrains)
    except OSError as error:
        kind = "constraints" if constrains else "requirements"
        raise PackageError(
            f"Could not open {kind} file: [Errno {error.errno}] {error.strerror}: {name!r}"
        ) from None


def _with_place(wanted: Wanted, found: Installed) -> str:
    """Return "name>=1 in /path (from x) (1.0)"."""
    text, space, origin = wanted.shown().partition(" (from ")
    return f"{text} in {found.location}{space}{origin} ({found.version})"


def _listed(plan: Plan) -> str:
    return " ".join(sorted(map(named, plan.wheels), key=str.lower))


class Listing:
    """A list of distributions in one of pip's formats."""

    __slots__ = ("ctx", "found")

    def __init__(self, ctx: CommandContext, found: Iterable[Installed]) -> None:
        self.ctx = ctx
        self.found = [*found]

    def print(self, form: str) -> None:
        """Print it as "columns", "freeze" or "json"."""
        ctx = self.ctx
        ctx.budget.step(len(self.found))
        if form == "freeze":
            for one in self.found:
                ctx.print(f"{one.title}=={one.version}")
        elif form == "json":
            import json

            entries = [{"name": one.title, "version": one.version} for one in self.found]
            ctx.print(json.dumps(entries))
        elif form == "columns":
            self._print_columns()
        else:
            raise PackageError(
                f"option --format: invalid choice: {form!r} (choose from 'columns', 'freeze', "
                "'json')",
                status=2,
            )

    def _print_columns(self) -> None:
        if not self.found:
            return
        rows = [("Package", "Version"), *((one.title, one.version) for one in self.found)]
        widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
        rows.insert(1, ("-" * widths[0], "-" * widths[1]))
        for first, second in rows:
            self.ctx.print(f"{first.ljust(widths[0])} {second}")


def describe_packages(
    ctx: CommandContext,
    there: Mapping[str, Installed],
    names: Sequence[str],
    *,
    files: bool = False,
) -> list[str]:
    """Print what `show` prints of each package; return the names that are not there."""
    from packaging.utils import canonicalize_name

    missing = []
    is_first = True
    for name in names:
        found = there.get(canonicalize_name(name))
        if found is None:
            missing.append(name)
            continue
        if not is_first:
            ctx.print("---")
        is_first = False
        _describe(ctx, there, found, files=files)
    return missing


def _describe(
    ctx: CommandContext, there: Mapping[str, Installed], found: Installed, *, files: bool
) -> None:
    headers = found.headers
    spend = spender(ctx)
    needs = sorted({one.name for one in found.requires(spend) if applies(one)}, key=str.lower)
    needed_by = []
    for other in there.values():
        ctx.budget.step(16)
        if any(_is_named(one.name, found.name) and applies(one) for one in other.requires(spend)):
            needed_by.append(other.title)
    license_of = "License-Expression" if "License-Expression" in headers else "License"
    for title, value in (
        ("Name", found.title),
        ("Version", found.version),
        ("Summary", headers.get("Summary", "")),
        ("Home-page", headers.get("Home-page") or _home_page(found)),
        ("Author", headers.get("Author", "")),
        ("Author-email", headers.get("Author-email", "")),
        (license_of, headers.get(license_of, "")),
        ("Location", found.location),
        ("Requires", ", ".join(needs)),
        ("Required-by", ", ".join(sorted(needed_by, key=str.lower))),
    ):
        ctx.print(f"{title}: {value}")
    if not files:
        return
    ctx.print("Files:")
    if found.site is None:
        ctx.print(f"  see {MOUNT_PATH if found.location == MOUNT_PATH else STANDARD_LIBRARY}")
        return
    for path in sorted(recorded_files(ctx, found)):
        ctx.print(f"  {posixpath.relpath(path, found.location)}")


def _is_named(name: str, canonical: str) -> bool:
    from packaging.utils import canonicalize_name

    return canonicalize_name(name) == canonical


def _home_page(found: Installed) -> str:
    for entry in found.headers.get_all("Project-URL") or ():
        label, _, address = str(entry).partition(",")
        if label.strip().lower().replace("-", "") == "homepage":
            return address.strip()
    return ""


def print_check(
    ctx: CommandContext, there: Mapping[str, Installed], show: Callable[[str], object]
) -> int:
    """Show each requirement that is not met, in pip's words; return how many there are."""
    count = 0
    for owner, requirement, found in broken(ctx, there):
        count += 1
        who = f"{owner.title} {owner.version}"
        if found is None:
            show(f"{who} requires {requirement.name}, which is not installed.")
        else:
            show(
                f"{who} has requirement {requirement.name}{requirement.specifier}, but you have "
                f"{found.title} {found.version}."
            )
    return count
