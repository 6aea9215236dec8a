"""`uv`: `uv pip`, `uv run` and `uv venv`, on the same packages as `pip`.

`uv run` reads what a script requires (PEP 723) or what the project around it does, installs what is
not there into a folder of its own below `~/.cache/uv`, and runs `python3` or a program with that
folder on PYTHONPATH. Folders are named by what is in them, so the next run finds them.
"""

from __future__ import annotations

import posixpath

from agentsandbox.contract.command import command
from agentsandbox.contract.manners import Manners, Release
from agentsandbox.contract.usage import OptionParser
from agentsandbox.errors import UsageError
from agentsandbox.kernel.streams import BytesReader, decode, encode
from agentsandbox.python.inline_metadata import MetadataError, find_project, needs_of_script
from agentsandbox.python.installation import (
    Environment,
    after,
    broken,
    carry_out,
    is_venv,
)
from agentsandbox.python.pip import (
    PROBLEMS,
    Listing,
    PackageError,
    describe_packages,
    reworded,
)
from agentsandbox.python.resolution import (
    Requirements,
    ResolutionError,
    Resolver,
    Wheels,
    read_requirement,
    refused_option,
)
from agentsandbox.python.sites import (
    Installed,
    recorded_files,
    remove,
    target_site,
    user_site,
    venv_site,
)
from agentsandbox.python.wheels import PYTHON

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from agentsandbox.contract.command import Arguments, Command, CommandContext
    from agentsandbox.kernel.streams import ByteReader
    from agentsandbox.python.index import Packages
    from agentsandbox.python.inline_metadata import Needs
    from agentsandbox.python.resolution import Plan, Wanted

__all__ = ["uv_commands"]

RELEASE = Release("uv 0.9.11", "-V, --version")
_VERSION = f"{PYTHON[0]}.{PYTHON[1]}.0"

_USAGE = """
Usage: uv COMMAND [OPTION]...
Run Python programs with the packages that they require, from the index of the sandbox.

Commands:
  run   run a script, a module or a program
  pip   install, uninstall, list, freeze, show and check packages
  venv  make a virtual environment

  -h, --help   show this help
"""

_ALWAYS = """
  -q, --quiet              print errors only
  -n, --no-cache           nothing that matters is kept
      --offline            uv has no network in any case
      --no-progress        there is none
"""

_CHOICE_OF_INDEX = """
  -i, --index-url URL      refused: the host chooses the index
      --extra-index-url URL  refused as well
      --index URL          refused as well
      --default-index URL  refused as well
  -f, --find-links DIR     refused: give the paths of wheels
"""

_USAGES = {
    "run": """
Usage: uv run [OPTION]... SCRIPT.py [ARG]...
       uv run [OPTION]... COMMAND [ARG]...
       uv run [OPTION]... -m MODULE [ARG]...

      --with PKG              install this as well (several with commas)
      --with-requirements FILE  install what the file lists
  -m, --module                the operand is the name of a module
  -s, --script                the operand is a Python script, whatever its name
  -p, --python WHICH          refused unless it is a version that 3.15 satisfies
      --no-project            do not look for pyproject.toml
      --isolated              do not use the virtual environment
      --no-sync               install nothing
      --frozen                there is no lock file in any case
      --active                the active virtual environment is used in any case
"""
    + _CHOICE_OF_INDEX
    + _ALWAYS,
    "pip install": """
Usage: uv pip install [OPTION]... REQUIREMENT...

  -r, --requirements, --requirement FILE  install what the file lists
  -c, --constraints, --constraint FILE    limit versions by what the file lists
  -U, --upgrade               replace what is named by its newest version
      --reinstall             install again what is there
      --system                install below ~/.local, not into a virtual environment
  -t, --target DIR            install into this directory
      --no-deps               do not install what the packages require
      --dry-run               only say what would be installed
      --break-system-packages  the system's packages are never changed in any case
  -e, --editable DIR          refused: nothing can be built
"""
    + _CHOICE_OF_INDEX
    + _ALWAYS,
    "pip uninstall": """
Usage: uv pip uninstall [OPTION]... NAME...

  -r, --requirements, --requirement FILE  remove what the file lists
  -y, --yes                   uv never asks
      --system                remove from ~/.local
      --break-system-packages  the system's packages are never changed in any case
"""
    + _ALWAYS,
    "pip list": """
Usage: uv pip list [OPTION]...

      --format FORMAT         columns, freeze or json
      --system                those below ~/.local
"""
    + _ALWAYS,
    "pip freeze": """
Usage: uv pip freeze [OPTION]...

      --system                those below ~/.local
"""
    + _ALWAYS,
    "pip show": """
Usage: uv pip show [OPTION]... NAME...

  -f, --files                 list the files as well
      --system                those below ~/.local
"""
    + _ALWAYS,
    "pip check": """
Usage: uv pip check

      --system                those below ~/.local
"""
    + _ALWAYS,
}

_REFUSED = {
    "add": "write the requirement into pyproject.toml, or use 'uv run --with PKG'",
    "remove": "change pyproject.toml",
    "sync": "'uv run' installs what is missing; or use 'uv pip install -r FILE'",
    "lock": "there are no lock files here; use 'uv pip freeze'",
    "export": "use 'uv pip freeze'",
    "tree": "use 'uv pip show NAME'",
    "init": "write pyproject.toml, or a script with '# /// script' metadata",
    "tool": "use 'uv run --with PKG COMMAND'",
    "python": f"the sandbox has Python {PYTHON[0]}.{PYTHON[1]} only",
    "build": "nothing can be built in the sandbox",
    "publish": "uv has no network",
    "cache": "remove ~/.cache/uv",
    "self": "uv belongs to the sandbox",
    "version": "use 'uv --version'",
    "format": "there is no formatter here",
    "help": "use 'uv --help' or 'uv COMMAND --help'",
    "pip sync": "use 'uv pip install -r FILE'",
    "pip compile": "use 'uv pip freeze'",
    "pip tree": "use 'uv pip show NAME'",
    "pip download": "uv has no network",
}
_REFUSED_OPTIONS = (
    "editable", "index-url", "extra-index-url", "index", "default-index", "find-links",
)  # fmt: skip
_PROBLEMS = (*PROBLEMS, MetadataError)


def uv_commands(packages: Packages) -> Sequence[Command]:
    """Return the command `uv` for the packages of one runtime."""
    parsers = {
        name: OptionParser(text, name="uv", permute=name != "run") for name, text in _USAGES.items()
    }

    def run(ctx: CommandContext, args: Arguments) -> int:
        return _Uv(ctx, packages, parsers).run([*ctx.words])

    return [command("uv", _USAGE, raw=True, manners=Manners(RELEASE))(run)]


class _Uv:
    """One call of uv."""

    __slots__ = ("ctx", "packages", "parsers", "quiet", "started")

    def __init__(
        self, ctx: CommandContext, packages: Packages, parsers: Mapping[str, OptionParser]
    ) -> None:
        self.ctx = ctx
        self.packages = packages
        self.parsers = parsers
        self.quiet = False
        self.started = ctx.host.clock()

    def run(self, words: list[str]) -> int:
        """Run the command that the words ask for and return its status."""
        general = []
        while words and words[0] in ("-q", "--quiet", "--offline", "--no-progress"):
            general.append(words.pop(0))
        name = words.pop(0) if words else "--help"
        if name in ("-V", "--version"):
            self.ctx.stdout.write(encode(RELEASE.lines("uv")))
            return 0
        if name in ("-h", "--help"):
            self.ctx.print(_USAGE.strip("\n"))
            return 0
        if name == "venv":
            return self.ctx.run(["python3", "-m", "venv", *(words or [".venv"])])
        if name == "pip" and words:
            name = f"pip {words.pop(0)}"
        try:
            return self._dispatch(name, [*general, *words])
        except _PROBLEMS as error:
            return self._report(error)

    def _dispatch(self, name: str, words: Sequence[str]) -> int:
        if name in _REFUSED:
            raise PackageError(f"`uv {name}` is not possible here: {_REFUSED[name]}", status=2)
        functions: Mapping[str, Callable[[Arguments], int]] = {
            "run": self.run_program,
            "pip install": self.install,
            "pip uninstall": self.uninstall,
            "pip list": self.list_packages,
            "pip freeze": self.freeze,
            "pip show": self.show,
            "pip check": self.check,
        }
        if name == "pip":
            raise PackageError("`uv pip` takes a command: see `uv --help`", status=2)
        if name not in functions:
            raise PackageError(f"unrecognized subcommand '{name}'", status=2)
        if words and words[0] in ("-h", "--help"):
            self.ctx.print(_USAGES[name].strip("\n"))
            return 0
        try:
            args = self.parsers[name].parse(words)
        except UsageError as error:
            raise PackageError(_as_uv_says(error.message), status=2) from None
        for option in _REFUSED_OPTIONS:
            if args.flag(option):
                raise PackageError(refused_option(f"--{option}"), status=2)
        self.quiet = args.flag("quiet")
        return functions[name](args)

    def _report(self, error: Exception) -> int:
        """Print an error in uv's form and return the status."""
        if isinstance(error, ResolutionError):
            self.ctx.stderr.write(
                encode(
                    "  × No solution found when resolving dependencies:\n"
                    f"  ╰─▶ {error.reason[:1].upper()}{error.reason[1:]}\n"
                )
            )
            return 1
        failure = error if isinstance(error, PackageError) else reworded(error)
        self.ctx.stderr.write(encode(f"error: {failure.lines[0]}\n"))
        return failure.status if isinstance(error, PackageError) else 2

    def tell(self, text: str) -> None:
        """Print a line to stderr, as uv does, unless --quiet was given."""
        if not self.quiet:
            self.ctx.stderr.write(encode(f"{text}\n"))

    def _count(self, verb: str, count: int) -> None:
        """Say "Installed 2 packages in 3ms"."""
        milliseconds = max(0, round((self.ctx.host.clock() - self.started) * 1000))
        noun = "package" if count == 1 else "packages"
        self.tell(f"{verb} {count} {noun} in {milliseconds}ms")

    def removing(self, found: Installed) -> None:
        """Nothing is said before a version goes."""

    def removed(self, found: Installed) -> None:
        """Nor after it: `_tell_changes` lists all."""

    # where

    def _venv(self) -> str:
        """Return the active virtual environment, or `.venv` here or above, or ""."""
        ctx = self.ctx
        if active := ctx.env.get("VIRTUAL_ENV"):
            return posixpath.normpath(ctx.path(active))
        here = posixpath.normpath(ctx.cwd)
        while True:
            ctx.budget.step(4)
            if is_venv(ctx, posixpath.join(here, ".venv")):
                return posixpath.join(here, ".venv")
            if here == "/":
                return ""
            here = posixpath.dirname(here)

    def _environment(self, args: Arguments, *, changes: bool = False) -> Environment:
        """Return where packages are; to change it takes a virtual environment or --system."""
        ctx = self.ctx
        target = args.value("target")
        if target is not None:
            environment = Environment(ctx, self.packages, target_site(ctx, target))
            environment.fixed = frozenset()
            return environment
        venv = "" if args.flag("system") else self._venv()
        if venv:
            if changes and "VIRTUAL_ENV" not in ctx.env:
                shown = posixpath.relpath(venv, posixpath.normpath(ctx.cwd))
                self.tell(f"Using Python {_VERSION} environment at: {shown}")
            return Environment(ctx, self.packages, venv_site(ctx, venv), is_venv=True)
        if changes and not args.flag("system"):
            raise PackageError(
                "No virtual environment found; run `uv venv` to create an environment, or pass "
                "`--system` to install into a non-virtual environment",
                status=2,
            )
        return Environment(ctx, self.packages, user_site(ctx))

    # uv pip

    def install(self, args: Arguments) -> int:
        asked = self._asked(args)
        if not asked.wanted and not args.flag("requirements"):
            raise PackageError(
                "the following required arguments were not provided:\n  "
                "<PACKAGE|--requirements <REQUIREMENTS>>",
                status=2,
            )
        environment = self._environment(args, changes=True)
        there = environment.there
        if args.flag("reinstall"):
            there = {name: one for name, one in there.items() if one.site is None}
        resolver = Resolver(
            Wheels(self.ctx, self.packages),
            there,
            asked.constraints,
            fixed=environment.fixed,
            upgrade=args.flag("upgrade"),
            dependencies=not args.flag("no-deps"),
        )
        plan = resolver.resolve(asked.wanted)
        self._warn(plan)
        picked = len({pick.name for _, pick in plan.met})
        if not plan.wheels:
            self._count("Audited", picked)
            return 0
        self._count("Resolved", picked)
        if args.flag("dry-run"):
            self.tell(f"Would install {len(plan.wheels)} packages")
            self._tell_changes(environment, plan)
            return 0
        carry_out(self.ctx, plan, environment, "uv", self)
        self._count("Prepared", len(plan.wheels))
        old = [wheel for wheel in plan.wheels if _replaced(environment, wheel.name)]
        if old:
            self._count("Uninstalled", len(old))
        self._count("Installed", len(plan.wheels))
        self._tell_changes(environment, plan)
        return 0

    def _asked(self, args: Arguments) -> Requirements:
        asked = Requirements(self.ctx)
        for key, value in args.given:
            if key in ("requirements", "constraints", "with-requirements"):
                try:
                    asked.add_file(value or "", constrains=key == "constraints")
                except OSError as error:
                    raise PackageError(
                        f"Failed to read `{value}`: {error.strerror}", status=2
                    ) from None
        for operand in args.operands:
            asked.add(operand)
        return asked

    def _warn(self, plan: Plan) -> None:
        for note in plan.notes:
            self.ctx.stderr.write(encode(f"warning: {note}\n"))

    def _tell_changes(self, environment: Environment, plan: Plan) -> None:
        """List what goes and what comes, by name."""
        lines = []
        for wheel in plan.wheels:
            old = _replaced(environment, wheel.name)
            if old is not None:
                lines.append((wheel.name, 0, f" - {old.title}=={old.version}"))
            lines.append((wheel.name, 1, f" + {wheel.title}=={wheel.version}"))
        for _, _, line in sorted(lines):
            self.tell(line)

    def uninstall(self, args: Arguments) -> int:
        asked = self._asked(args)
        if not asked.wanted:
            raise PackageError(
                "the following required arguments were not provided:\n  "
                "<PACKAGE|--requirements <REQUIREMENTS>>",
                status=2,
            )
        environment = self._environment(args, changes=True)
        found = []
        for name in sorted({one.name for one in asked.wanted}):
            one = environment.there.get(name)
            if one is None:
                self.ctx.stderr.write(encode(f"warning: Skipping {name} as it is not installed\n"))
            elif one.site is None:
                raise PackageError(
                    f"{one.title} {one.version} is part of the sandbox's Python ({one.location})"
                )
            else:
                recorded_files(self.ctx, one)
                found.append(one)
        if not found:
            self.ctx.stderr.write(b"warning: No packages to uninstall\n")
            return 0
        for one in found:
            remove(self.ctx, one)
        self._count("Uninstalled", len(found))
        for one in found:
            self.tell(f" - {one.title}=={one.version}")
        return 0

    def list_packages(self, args: Arguments) -> int:
        self._print_list(args, args.value("format", "columns") or "")
        return 0

    def freeze(self, args: Arguments) -> int:
        self._print_list(args, "freeze")
        return 0

    def _print_list(self, args: Arguments, form: str) -> None:
        _no_operands(args)
        found = self._environment(args).there.values()
        Listing(self.ctx, sorted(found, key=lambda one: one.name)).print(form)

    def show(self, args: Arguments) -> int:
        if not args.operands:
            self.ctx.stderr.write(b"warning: Please provide a package name or names.\n")
            return 1
        there = self._environment(args).there
        missing = describe_packages(self.ctx, there, args.operands, files=args.flag("files"))
        if missing:
            self.ctx.stderr.write(
                encode(f"warning: Package(s) not found for: {', '.join(missing)}\n")
            )
        return int(len(missing) == len(args.operands))

    def check(self, args: Arguments) -> int:
        _no_operands(args)
        there = self._environment(args).there
        problems = []
        for owner, requirement, found in broken(self.ctx, there):
            needs = f"The package `{owner.title}` requires "
            needs += f"`{requirement.name}{requirement.specifier}`, but "
            problems.append(
                needs + (f"`{found.version}` is installed" if found else "it's not installed")
            )
        self._count("Checked", len(there))
        if not problems:
            self.tell("All installed packages are compatible")
            return 0
        noun = "incompatibility" if len(problems) == 1 else "incompatibilities"
        self.tell(f"Found {len(problems)} {noun}")
        for line in problems:
            self.ctx.stderr.write(encode(f"{line}\n"))
        return 1

    # uv run

    def run_program(self, args: Arguments) -> int:
        """Install what a script or project requires, and run it."""
        if args.value("python"):
            _check_python(args.value("python") or "")
        if not args.operands:
            raise PackageError(
                "Provide a command or script to invoke with `uv run <command>` or `uv run "
                "<script>.py`.",
                status=2,
            )
        program = _Program(self.ctx, args)
        needs = program.needs()
        project = None
        if needs is None and not args.flag("no-project"):
            project = needs = find_project(self.ctx)
        if needs is not None:
            _check_requires_python(needs.requires_python)
        venv = "" if args.flag("isolated") or (needs and not project) else self._venv()
        folder = ""
        if not args.flag("no-sync"):
            wanted = self._wanted(args, needs)
            folder = self._prepared(wanted, venv)
        env = _variables(self.ctx, folder, venv, project)
        if project is not None and program.words[0] in project.programs:
            raise PackageError(
                f"{program.words[0]} is a program of the project, which would have to be built: "
                "use 'uv run -m MODULE'",
                status=2,
            )
        python = f"{venv}/bin/python3" if venv else "python3"
        if not venv or not self.ctx.fs.exists(python):
            python = "python3"
        return self.ctx.run(program.command(python), env=env, stdin=program.stdin)

    def _wanted(self, args: Arguments, needs: Needs | None) -> list[Wanted]:
        """Return what the options ask for and what the script or project requires."""
        options = [(key, value) for key, value in args.given if key == "with-requirements"]
        asked = Requirements(self.ctx)
        for _, name in options:
            try:
                asked.add_file(name or "")
            except OSError as error:
                raise PackageError(f"Failed to read `{name}`: {error.strerror}", status=2) from None
        for text in args.values("with"):
            for one in _split_requirements(text):
                asked.add(one)
        for text in needs.dependencies if needs is not None else ():
            self.ctx.budget.step(16)
            asked.wanted.append(read_requirement(self.ctx, text))
        return asked.wanted

    def _prepared(self, wanted: Sequence[Wanted], venv: str) -> str:
        """Return the folder with what is not there yet, "" if all is there."""
        if not wanted:
            return ""
        ctx = self.ctx
        site = venv_site(ctx, venv) if venv else user_site(ctx)
        environment = Environment(ctx, self.packages, site, is_venv=bool(venv))
        plan = Resolver(
            Wheels(ctx, self.packages), environment.there, fixed=environment.fixed
        ).resolve(wanted)
        self._warn(plan)
        if not plan.wheels:
            return ""
        home = posixpath.normpath(ctx.path(ctx.env.get("HOME") or f"/home/{ctx.host.user}"))
        folder = posixpath.join(home, ".cache/uv/environments", _digest(plan))
        private = Environment(ctx, self.packages, target_site(ctx, folder))
        expected = after(private, plan)
        if all(
            name in private.there and private.there[name].version == one.version
            for name, one in expected.items()
            if one.site is not None
        ):
            return folder
        carry_out(ctx, plan, private, "uv", self)
        self._count("Installed", len(plan.wheels))
        return folder


def _replaced(environment: Environment, name: str) -> Installed | None:
    old = environment.there.get(name)
    return old if old is not None and old.site is not None else None


def _digest(plan: Plan) -> str:
    """Return a name for the folder that holds exactly the wheels of a plan."""
    from hashlib import sha256

    texts = sorted(f"{wheel.file_name} {wheel.sha256}" for wheel in plan.wheels)
    return sha256(encode("\n".join(texts))).hexdigest()[:16]


def _split_requirements(text: str) -> list[str]:
    """Split "a,b>=1,<2" at the commas that a new name follows."""
    found: list[str] = []
    for part in text.split(","):
        continues = found and (
            not part.strip()[:1].isalnum() or found[-1].count("[") > found[-1].count("]")
        )
        if continues:
            found[-1] += f",{part}"
        elif part.strip():
            found.append(part)
    return found


def _as_uv_says(message: str) -> str:
    """Return an error in the options in uv's words."""
    for start in ("unrecognized option '", "invalid option -- '"):
        if message.startswith(start):
            option = message.removeprefix(start).rstrip("'")
            shown = option if option.startswith("-") else f"-{option}"
            return f"unexpected argument '{shown}' found"
    return message


def _no_operands(args: Arguments) -> None:
    if args.operands:
        raise PackageError(f"unexpected argument '{args.operands[0]}' found", status=2)


def _check_python(text: str) -> None:
    """Refuse a Python that the sandbox's is not: "3.12", "pypy", a path."""
    from packaging.specifiers import SpecifierSet

    name = text.lower().removeprefix("cpython").removeprefix("python").removeprefix("@")
    name = name.strip("-")
    if not name or text in ("/usr/bin/python3", "/usr/bin/python"):
        return
    if len(name) < 100:
        parts = name.split(".")
        if all(part.isdecimal() for part in parts):
            if [int(part) for part in parts] == [*PYTHON, 0][: len(parts)]:
                return
        else:
            try:
                if SpecifierSet(name).contains(_VERSION, prereleases=True):
                    return
            except ValueError:
                pass
    raise PackageError(
        f"No interpreter found for {text[:80]}: the sandbox has Python {_VERSION} only",
        status=2,
    )


def _check_requires_python(text: str) -> None:
    from packaging.specifiers import SpecifierSet

    try:
        fits = len(text) < 1000 and SpecifierSet(text).contains(_VERSION, prereleases=True)
    except ValueError:
        raise MetadataError(f"requires-python is no specifier: {text[:80]!r}") from None
    if not fits:
        raise MetadataError(
            f"Python {text[:80]} is required, and the sandbox has Python {_VERSION} only"
        )


class _Program:
    """What `uv run` is to run."""

    __slots__ = ("_source", "ctx", "kind", "stdin", "words")

    def __init__(self, ctx: CommandContext, args: Arguments) -> None:
        self.ctx = ctx
        self.words = args.operands
        self.stdin: ByteReader | None = None
        self._source = b""
        first = args.operands[0]
        if args.flag("module"):
            self.kind = "module"
        elif first == "-" or args.flag("script") or first.lower().endswith((".py", ".pyw")):
            self.kind = "script"
        elif first in ("python", "python3", f"python{PYTHON[0]}.{PYTHON[1]}"):
            self.kind = "python"
        else:
            self.kind = "program"

    def needs(self) -> Needs | None:
        """Return what the script says that it requires; None for what is no script."""
        if self.kind != "script":
            return None
        first = self.words[0]
        if first == "-":
            self._source = self.ctx.stdin.read()
            self.ctx.budget.charge(len(self._source))
            self.stdin = BytesReader(self._source)
            return needs_of_script(self.ctx, self._source, "stdin")
        try:
            source = self.ctx.fs.read_bytes(self.ctx.path(first))
        except OSError as error:
            raise PackageError(
                f"Failed to read `{decode(encode(first))}`: {error.strerror}", status=2
            ) from None
        return needs_of_script(self.ctx, source, first)

    def command(self, python: str) -> list[str]:
        """Return the words to run."""
        if self.kind == "module":
            return [python, "-m", *self.words]
        if self.kind == "script":
            return [python, *self.words]
        if self.kind == "python":
            return [python, *self.words[1:]]
        return [*self.words]


def _variables(
    ctx: CommandContext, folder: str, venv: str, project: Needs | None
) -> dict[str, str]:
    """Return the environment of the program: what was installed comes first."""
    env = dict(ctx.env)
    paths = [folder] if folder else []
    programs = [f"{folder}/bin"] if folder else []
    if project is not None and project.is_package:
        source = posixpath.join(project.root, "src")
        paths.append(source if ctx.fs.is_dir(source) else project.root)
    if venv:
        env["VIRTUAL_ENV"] = venv
        programs.append(f"{venv}/bin")
    if paths:
        env["PYTHONPATH"] = ":".join([*paths, *filter(None, [env.get("PYTHONPATH", "")])])
    if programs:
        env["PATH"] = ":".join([*programs, *filter(None, [env.get("PATH", "")])])
    return env
