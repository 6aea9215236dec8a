"""Requirements: how they are written, and which wheels satisfy all of them.

The search is simple. In rounds, each name gets the newest version that satisfies all that is known
of it; what the chosen versions require is known in the next round. The search ends when a round
changes nothing. It never goes back to an older version of A to make room for what B requires: a
contradiction is reported with both sides, and the user narrows one of them. That is what pip did
for its first ten years, and an index that a host chose has few versions of each package.

What is installed already counts as the chosen version while it satisfies all requirements.
"""

from __future__ import annotations

import posixpath
from collections import deque

from agentsandbox.kernel.streams import decode
from agentsandbox.python.sites import Installed, spender
from agentsandbox.python.wheels import (
    PYTHON,
    Wheel,
    WheelError,
    applies,
    parse_requirement,
    read_name,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from packaging.requirements import Requirement
    from packaging.specifiers import SpecifierSet
    from packaging.version import Version

    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.accounts import Held
    from agentsandbox.python.index import Packages, Wheelfile

    Pick = Installed | Wheel

__all__ = [
    "Plan",
    "RequirementError",
    "Requirements",
    "ResolutionError",
    "Resolver",
    "Wanted",
    "Wheels",
    "read_requirement",
    "refused_option",
]

_ROUNDS = 50
_DEPTH = 8
"""Levels of `-r` in files of requirements."""
_FILE_BYTES = 1 << 20
_SOURCES = (".tar.gz", ".tgz", ".zip", ".tar.bz2", ".tar.xz", ".egg")


class RequirementError(Exception):
    """A requirement, or a line of a file of requirements, cannot be accepted."""


class ResolutionError(Exception):
    """No choice of versions satisfies all requirements.

    lines    pip's words, a line each; "ERROR: " stands before the first one
    reason   one sentence, for tools with other words
    """

    def __init__(self, lines: Sequence[str], reason: str) -> None:
        self.lines = tuple(lines)
        self.reason = reason
        super().__init__(reason)


class Wanted:
    """A requirement, and where it comes from.

    text       as it was written
    path       the absolute path of a wheel in the sandbox, "" for a name
    origin     the name of the distribution that requires it, "" for the user
    version    the version of that distribution
    source     the file and line that it stands in, "" for the command line
    hashes     digests of which the wheel must have one, as "sha256:…"; all others if empty
    """

    __slots__ = ("hashes", "origin", "path", "requirement", "source", "text", "version")

    def __init__(
        self,
        text: str,
        requirement: Requirement,
        *,
        path: str = "",
        origin: str = "",
        version: str = "",
        source: str = "",
        hashes: Iterable[str] = (),
    ) -> None:
        self.text = text
        self.requirement = requirement
        self.path = path
        self.origin = origin
        self.version = version
        self.source = source
        self.hashes = frozenset(hashes)

    @property
    def name(self) -> str:
        """Return the name in canonical form."""
        from packaging.utils import canonicalize_name

        return canonicalize_name(self.requirement.name)

    def shown(self) -> str:
        """Return the requirement as pip shows it: with its origin in parentheses."""
        text = self.text if self.path else _plain(self.requirement)
        where = self.origin or self.source
        return f"{text} (from {where})" if where else text


def _plain(requirement: Requirement) -> str:
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    return f"{requirement.name}{extras}{requirement.specifier}"


def read_requirement(ctx: CommandContext, text: str, source: str = "") -> Wanted:
    """Return the requirement that an operand or a line states: a name or the path of a wheel."""
    text = text.strip()
    path = text
    if text.startswith("file:"):
        path = text.removeprefix("file://").removeprefix("file:")
    elif "@" in text and "://" in text and not text.startswith((".", "/")):
        name, _, address = (part.strip() for part in text.partition("@"))
        if not address.startswith("file:///"):
            raise RequirementError(_no_network(text))
        parse = read_requirement(ctx, address, source)
        if parse.name != Wanted(name, _parsed(name)).name:
            raise RequirementError(f"{text} names another distribution than its wheel")
        return parse
    elif "://" in text or text.startswith("git+"):
        raise RequirementError(_no_network(text))
    if path.endswith(".whl"):
        requirement = _parsed_wheel_name(posixpath.basename(path))
        return Wanted(text, requirement, path=posixpath.normpath(ctx.path(path)), source=source)
    if path.endswith(_SOURCES) or path in (".", "..") or path.startswith(("./", "../", "/")):
        raise RequirementError(
            f"{text} is a source tree or a source archive, and nothing can be built in the "
            "sandbox: give the name of a package or the path of a wheel (.whl); a directory of "
            "modules works with PYTHONPATH"
        )
    return Wanted(text, _parsed(text), source=source)


def _no_network(text: str) -> str:
    return (
        f"{text[:200]} is refused: pip has no network here; give a name that the index of the "
        "sandbox has, or the path of a wheel"
    )


def _parsed(text: str) -> Requirement:
    try:
        requirement = parse_requirement(text)
    except ValueError as error:
        raise RequirementError(str(error)) from None
    if requirement.url:
        raise RequirementError(_no_network(text))
    return requirement


def _parsed_wheel_name(file_name: str) -> Requirement:
    try:
        named = read_name(file_name)
    except WheelError as error:
        raise RequirementError(str(error)) from None
    return _parsed(f"{named.name}=={named.version}")


class Requirements:
    """What the user asks for: operands, and files of requirements with all they include."""

    __slots__ = ("constraints", "ctx", "wanted")

    def __init__(self, ctx: CommandContext) -> None:
        self.ctx = ctx
        self.wanted: list[Wanted] = []
        self.constraints: list[Wanted] = []

    def add(self, text: str) -> None:
        """Add an operand."""
        self.wanted.append(read_requirement(self.ctx, text))

    def add_file(self, name: str, *, constrains: bool = False, depth: int = 0) -> None:
        """Add the lines of a file; those of a file of constraints only limit versions.

        Raises `RequirementError` and `OSError`.
        """
        if depth > _DEPTH:
            raise RequirementError(f"{name}: files of requirements include each other too deeply")
        ctx = self.ctx
        if name == "-":
            raise RequirementError("requirements are read from a file, not from '-'")
        path = ctx.path(name)
        if ctx.fs.stat(path).size > _FILE_BYTES:
            raise RequirementError(f"{name} is larger than a file of requirements may be")
        for number, line in _lines(decode(ctx.fs.read_bytes(path))):
            ctx.budget.step(16)
            place = f"{'-c' if constrains else '-r'} {name} (line {number})"
            self._add_line(line, name, place, constrains=constrains, depth=depth)

    def _add_line(self, line: str, name: str, place: str, *, constrains: bool, depth: int) -> None:
        if line.startswith("-"):
            option, _, value = line.replace("=", " ", 1).partition(" ")
            value = value.strip()
            if option in ("-r", "--requirement", "-c", "--constraint") and value:
                inner = posixpath.join(posixpath.dirname(name), value)
                limits = constrains or option in ("-c", "--constraint")
                self.add_file(inner, constrains=limits, depth=depth + 1)
                return
            raise RequirementError(f"{place}: {refused_option(option)}")
        text, *options = line.split(" --")
        hashes = []
        for option in options:
            kind, _, value = option.strip().replace("=", " ", 1).partition(" ")
            if kind != "hash" or not value.strip().startswith("sha256:"):
                raise RequirementError(f"{place}: only --hash=sha256:DIGEST may follow a name")
            hashes.append(value.strip().lower())
        try:
            wanted = read_requirement(self.ctx, text, place)
        except RequirementError as error:
            raise RequirementError(f"{error} (from {place})") from None
        wanted.hashes = frozenset(hashes)
        (self.constraints if constrains else self.wanted).append(wanted)


def refused_option(option: str) -> str:
    """Return why an option of pip is not possible here."""
    if option in ("-e", "--editable"):
        return (
            f"{option} is not possible: nothing can be built in the sandbox; set PYTHONPATH to "
            "the directory of the modules"
        )
    if option in ("-i", "--index-url", "--extra-index-url", "--trusted-host", "--index"):
        return f"{option} is not possible: the host of the sandbox chooses the index"
    if option in ("-f", "--find-links"):
        return f"{option} is not possible: give the paths of the wheels (.whl) as operands"
    return f"{option} is not possible here"


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file of requirements, joined at backslashes, without comments."""
    joined: list[str] = []
    start = 0
    for number, line in enumerate(text.splitlines(), 1):
        if not joined:
            start = number
        if line.endswith("\\") and not line.lstrip().startswith("#"):
            joined.append(line[:-1])
            continue
        whole = "".join([*joined, line])
        joined = []
        for mark in (" #", "\t#"):
            whole = whole.partition(mark)[0]
        whole = whole.strip()
        if whole and not whole.startswith("#"):
            yield start, whole
    rest = "".join(joined).strip()
    if rest:
        yield start, rest


class _Candidate:
    """A wheel that an index offers, read when it is chosen."""

    __slots__ = ("file", "version", "wheel")

    def __init__(self, version: Version, file: Wheelfile) -> None:
        self.version = version
        self.file = file
        self.wheel: Wheel | None = None


class Wheels:
    """The wheels that may be installed: those of the index, and files of the sandbox."""

    __slots__ = ("_known", "_local", "_notes", "_scale", "ctx", "packages")

    def __init__(self, ctx: CommandContext, packages: Packages) -> None:
        self.ctx = ctx
        self.packages = packages
        self._known: dict[str, list[_Candidate]] = {}
        self._notes: dict[str, str] = {}
        self._local: dict[str, Wheel] = {}
        self._scale: list[Held] = []
        """What the wheels in use take, counted until the command ends."""

    def offered(self, name: str) -> list[_Candidate]:
        """Return the wheels of a name that the guest can use, newest first."""
        from packaging.utils import canonicalize_name

        if name in self._known:
            return self._known[name]
        found = []
        for file in self.packages.find(name, self.ctx.host.scheduler.await_):
            self.ctx.budget.step(16)
            named = read_name(file.name)
            if canonicalize_name(named.name) != name:
                continue
            if problem := named.problem():
                self._notes[name] = f"{file.name} {problem}"
                continue
            found.append(_Candidate(named.version, file))
        found.sort(key=lambda one: one.version, reverse=True)
        self._known[name] = found
        return found

    def note(self, name: str) -> str:
        """Return why a wheel of the name was left out, "" if none was."""
        return self._notes.get(name, "")

    def read(self, candidate: _Candidate) -> Wheel:
        """Return the wheel of a candidate, taken from the index once."""
        if candidate.wheel is None:
            data = self.packages.fetch(candidate.file, self.ctx.host.scheduler.await_)
            candidate.wheel = self._wheel(candidate.file.name, data)
        return candidate.wheel

    def local(self, wanted: Wanted) -> Wheel:
        """Return the wheel in a file of the sandbox; raises `OSError` and `WheelError`."""
        if wanted.path not in self._local:
            size = self.ctx.fs.stat(wanted.path).size
            self.ctx.budget.charge(size)
            data = self.ctx.fs.read_bytes(wanted.path)
            self._check_hashes(wanted, data)
            self._local[wanted.path] = self._wheel(posixpath.basename(wanted.path), data)
        return self._local[wanted.path]

    def _wheel(self, file_name: str, data: bytes) -> Wheel:
        self._scale.append(self.ctx.budget.hold(len(data)))
        return Wheel(file_name, data, spender(self.ctx))

    def _check_hashes(self, wanted: Wanted, data: bytes) -> None:
        from hashlib import sha256

        if wanted.hashes and f"sha256:{sha256(data).hexdigest()}" not in wanted.hashes:
            raise WheelError(_wrong_hash(wanted))

    def exclude(self, name: str, note: str) -> None:
        """Remember why a wheel of the name was left out."""
        self._notes[name] = note


def _wrong_hash(wanted: Wanted) -> str:
    return (
        "THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If you have updated "
        f"the package versions, please update the hashes: {wanted.shown()}"
    )


class Plan:
    """What is to be installed.

    met     each requirement and what meets it, in the order they were found
    wheels  what is to be installed, dependencies first
    notes   what the user should know, a sentence each
    """

    __slots__ = ("met", "notes", "wheels")

    def __init__(
        self, met: list[tuple[Wanted, Pick]], wheels: list[Wheel], notes: list[str]
    ) -> None:
        self.met = met
        self.wheels = wheels
        self.notes = notes


class Resolver:
    """Finds the versions to install.

    there     what is installed, by canonical name
    fixed     whether what the artifact has must stay: it comes first in the guest's `sys.path`
    upgrade   whether what the user names is replaced by a newer version
    """

    __slots__ = (
        "_by_name", "_constraints", "_notes", "ctx", "dependencies", "fixed", "prereleases",
        "there", "upgrade", "wheels",
    )  # fmt: skip

    def __init__(
        self,
        wheels: Wheels,
        there: Mapping[str, Installed],
        constraints: Sequence[Wanted] = (),
        *,
        fixed: Iterable[str] = (),
        upgrade: bool = False,
        dependencies: bool = True,
        prereleases: bool = False,
    ) -> None:
        self.ctx = wheels.ctx
        self.wheels = wheels
        self.there = there
        self.fixed = frozenset(fixed)
        self.upgrade = upgrade
        self.dependencies = dependencies
        self.prereleases = prereleases
        self._constraints: dict[str, list[Wanted]] = {}
        for one in constraints:
            self._constraints.setdefault(one.name, []).append(one)
        self._by_name: dict[str, list[Wanted]] = {}
        self._notes: dict[str, None] = {}

    def resolve(self, roots: Sequence[Wanted]) -> Plan:
        """Return the plan; raises `ResolutionError`, `WheelError` and `OSError`."""
        picks: dict[str, Pick] = {}
        for _ in range(_ROUNDS):
            self._by_name, self._notes = {}, {}
            met, order = self._walk(roots, picks)
            chosen = {name: self._choose(name) for name in self._by_name}
            if all(picks[name] is pick for name, pick in chosen.items()):
                wheels = [pick for name in order if isinstance(pick := picks[name], Wheel)]
                return Plan(met, wheels, [*self._notes])
            picks = chosen
        raise ResolutionError(
            ["the requirements contradict each other: name the versions (NAME==VERSION)"],
            "the requirements contradict each other",
        )

    def _walk(
        self, roots: Sequence[Wanted], picks: dict[str, Pick]
    ) -> tuple[list[tuple[Wanted, Pick]], list[str]]:
        """Follow all requirements through the picks, and choose what is not picked yet."""
        pending = deque(one for one in roots if applies(one.requirement))
        followed: set[tuple[str, str]] = set()
        met: list[tuple[Wanted, Pick]] = []
        first_seen: dict[str, None] = {}
        while pending:
            self.ctx.budget.step(16)
            wanted = pending.popleft()
            name = wanted.name
            self._by_name.setdefault(name, []).append(wanted)
            if name not in picks:
                picks[name] = self._choose(name)
            pick = picks[name]
            met.append((wanted, pick))
            first_seen.pop(name, None)
            first_seen[name] = None
            for extra in ("", *self._provided(pick, wanted)):
                if (name, extra) not in followed:
                    followed.add((name, extra))
                    pending.extend(self._required_by(pick, extra))
        return met, list(first_seen)[::-1]

    def _provided(self, pick: Pick, wanted: Wanted) -> list[str]:
        """Return the extras that are asked for and that the pick has; note the others."""
        from packaging.utils import canonicalize_name

        has = {canonicalize_name(str(one)) for one in pick.headers.get_all("Provides-Extra") or ()}
        found = []
        for extra in sorted(wanted.requirement.extras):
            if canonicalize_name(extra) in has:
                found.append(extra)
            else:
                self._notes[f"{pick.title} {pick.version} does not provide the extra '{extra}'"] = (
                    None
                )
        return found

    def _required_by(self, pick: Pick, extra: str) -> Iterator[Wanted]:
        """Yield what a pick requires for one of its extras, "" for what it always requires."""
        if not self.dependencies:
            return
        if isinstance(pick, Installed):
            if pick.site is None:
                return
            title, requires = pick.title, pick.requires(spender(self.ctx))
        else:
            title, requires = pick.title, list(pick.requires)
        for requirement in requires:
            self.ctx.budget.step(16)
            always = applies(requirement)
            if always if not extra else not always and applies(requirement, [extra]):
                if requirement.url:
                    raise WheelError(
                        f"{title} requires {requirement.name} from {requirement.url[:200]}: pip "
                        "has no network here"
                    )
                yield Wanted(str(requirement), requirement, origin=title, version=str(pick.version))

    def _choose(self, name: str) -> Pick:
        """Return the version of a name for all that is known of it."""
        wanted = self._by_name[name]
        for one in wanted:
            if one.path:
                return self._chosen_file(one, wanted)
        rules = [*wanted, *self._constraints.get(name, ())]
        installed = self.there.get(name)
        if installed is not None:
            fits = all(installed.satisfies(one.requirement) for one in rules)
            asked = any(not one.origin for one in wanted)
            if fits and (name in self.fixed or not (self.upgrade and asked)):
                return installed
            if name in self.fixed:
                raise self._irreplaceable(installed, rules)
        found = self._newest(name, rules)
        if installed is not None and fits:
            return installed if found is None or _is_older(found, installed) else found
        if found is None:
            raise self._missing(name, rules)
        return found

    def _chosen_file(self, file: Wanted, wanted: Sequence[Wanted]) -> Pick:
        """Return the wheel in a file of the sandbox, or what is installed of the same version."""
        wheel = self.wheels.local(file)
        self._check_python(wheel)
        if file.name in self.fixed:
            raise self._irreplaceable(self.there[file.name], [file])
        for one in wanted:
            if not one.requirement.specifier.contains(wheel.version, prereleases=True):
                raise self._conflict(wanted)
            if one.path and one.path != file.path:
                raise self._conflict(wanted)
        installed = self.there.get(file.name)
        if installed is not None and installed.version == str(wheel.version):
            return installed
        return wheel

    def _check_python(self, wheel: Wheel) -> None:
        if wheel.requires_python is not None and not _accepts_python(wheel.requires_python):
            line = (
                f"Package '{wheel.title}' requires a different Python: {_PYTHON} not in "
                f"'{wheel.requires_python}'"
            )
            raise ResolutionError(
                [line],
                f"{wheel.title} requires Python {wheel.requires_python}, and the sandbox has "
                f"{_PYTHON}",
            )

    def _newest(self, name: str, rules: Sequence[Wanted]) -> Wheel | None:
        """Return the newest wheel that all rules accept."""
        from packaging.specifiers import SpecifierSet

        candidates = self.wheels.offered(name)
        texts = dict.fromkeys(str(one.requirement.specifier) for one in rules)
        self.ctx.budget.step(len(texts) * (1 + len(candidates)))
        specifiers = SpecifierSet(",".join(filter(None, texts)))
        hashes = [one.hashes for one in rules if one.hashes]
        accepted = {
            *specifiers.filter(
                [one.version for one in candidates], prereleases=self.prereleases or None
            )
        }
        for candidate in candidates:
            self.ctx.budget.step(16)
            if candidate.version not in accepted:
                continue
            if any(f"sha256:{candidate.file.sha256}" not in some for some in hashes):
                self.wheels.exclude(name, _wrong_hash(rules[0]))
                continue
            wheel = self.wheels.read(candidate)
            if wheel.requires_python is None or _accepts_python(wheel.requires_python):
                return wheel
            self.wheels.exclude(
                name,
                f"{candidate.file.name} requires Python {wheel.requires_python}, and the sandbox "
                f"has {_PYTHON}",
            )
        return None

    def _missing(self, name: str, rules: Sequence[Wanted]) -> ResolutionError:
        """Return the error for a name without a version that fits."""
        versions = [one.version for one in self.wheels.offered(name)]
        for one in rules:
            self.ctx.budget.step(1 + len(versions))
            alone = {*one.requirement.specifier.filter(versions, prereleases=True)}
            if not alone or len(rules) == 1 or self.wheels.note(name):
                listed = ", ".join(map(str, sorted(set(versions)))) or "none"
                why = self.wheels.note(name) or self.wheels.packages.describe()
                first = (
                    f"Could not find a version that satisfies the requirement {one.shown()} "
                    f"(from versions: {listed})"
                )
                lines = [
                    first,
                    f"ERROR: No matching distribution found for {one.shown()}",
                    f"ERROR: {why}",
                ]
                return ResolutionError(lines, f"there is no version of {one.shown()}. {why}")
        return self._conflict(rules)

    def _conflict(self, rules: Sequence[Wanted]) -> ResolutionError:
        """Return the error for requirements of one name that contradict each other."""
        sides: dict[str, None] = {}
        who: set[str] = set()
        versions = [one.version for one in self.wheels.offered(rules[0].name)]
        for one in rules:
            self.ctx.budget.step(1 + len(versions))
            if not one.path and all(
                one.requirement.specifier.contains(version, prereleases=True)
                for version in versions
            ):
                continue
            text = one.text if one.path else _plain(one.requirement)
            if one.origin:
                sides[f"{one.origin} {one.version} depends on {text}"] = None
                who.add(f"{one.origin}=={one.version}")
            else:
                sides[f"The user requested {text}"] = None
                who.add(text)
        *most, last = sorted(who) or [rules[0].text]
        named = f"{', '.join(most)} and {last}" if most else last
        lines = [
            f"Cannot install {named} because these package versions have conflicting dependencies.",
            "",
            "The conflict is caused by:",
            *(f"    {side}" for side in sides),
            "",
            "To fix this you could try to:",
            "1. loosen the range of package versions you've specified",
            "2. name the versions of what requires them (NAME==VERSION)",
            "",
            f"ERROR: ResolutionImpossible: no version of {rules[0].name} satisfies all of these",
        ]
        return ResolutionError(lines, f"{'; '.join(sides)}: no version fits all")

    def _irreplaceable(self, installed: Installed, rules: Sequence[Wanted]) -> ResolutionError:
        shown = next(
            (one for one in rules if not installed.satisfies(one.requirement)), rules[0]
        ).shown()
        line = (
            f"Cannot install {shown}: {installed.title} {installed.version} is part of the "
            "sandbox's Python and comes first; use it, or install into a directory of your own "
            "(--target DIR, then PYTHONPATH=DIR)"
        )
        return ResolutionError([line], line)


_PYTHON = f"{PYTHON[0]}.{PYTHON[1]}.0"


def _is_older(wheel: Wheel, installed: Installed) -> bool:
    """Whether a wheel brings nothing newer than what is installed."""
    from packaging.version import Version

    return wheel.version <= Version(installed.version)


def _accepts_python(specifiers: SpecifierSet) -> bool:
    return specifiers.contains(_PYTHON, prereleases=True)
