"""`git describe`, `name-rev`."""

from __future__ import annotations

import heapq
import re

from agentsandbox.git.errors import BadUsage, Fatal
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.naming import NameFinder, Tip
from agentsandbox.git.objects import is_object_name, seconds_of
from agentsandbox.git.options import Options, parse_options
from agentsandbox.git.patterns import wildmatch
from agentsandbox.git.revisions import Resolver
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.repository import Repository

USAGES = {
    "describe": """
git describe [--all] [--tags] [--contains] [--abbrev=<n>] [<commit-ish>...]
   or: git describe [--all] [--tags] [--contains] [--abbrev=<n>] --dirty[=<mark>]

    --contains            find the tag that comes after the commit
    --all                 use any ref
    --tags                use any tag, even unannotated
    --long                always use long format
    --first-parent        only follow first parent
    --[no-]abbrev[=<n>]   use <n> digits to display object names
    --exact-match         only output exact matches
    --candidates <n>      consider <n> most recent tags (default: 10)
    --[no-]match <pattern>
                          only consider tags matching <pattern>
    --[no-]exclude <pattern>
                          do not consider tags matching <pattern>
    --always              show abbreviated commit object as fallback
    --dirty[=<mark>]      append <mark> on dirty working tree (default: "-dirty")
    --broken[=<mark>]     append <mark> on broken working tree (default: "-broken")
""",
    "name-rev": """
git name-rev [<options>] <commit>...
   or: git name-rev [<options>] --all
   or: git name-rev [<options>] --annotate-stdin

    --name-only           print only ref-based names (no object names)
    --tags                only use tags to name the commits
    --refs <pattern>      only use refs matching <pattern>
    --exclude <pattern>   ignore refs matching <pattern>

    --all                 list all commits reachable from all refs
    --stdin               deprecated: use --annotate-stdin instead
    --annotate-stdin      annotate text from stdin
    --[no-]undefined      allow to print `undefined` names (default)
    --always              show abbreviated commit object as fallback
    --peel-tag            dereference tags in the input
""",
}


def describe(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["describe"], words)
    if options.on("long") and options.get("abbrev") == "0":
        raise Fatal("options '--long' and '--abbrev=0' cannot be used together")
    if options.on("contains"):
        return _contains(git, options)
    describer = _Describer(git, options)
    if not describer.names and not options.on("always"):
        raise Fatal("No names found, cannot describe anything.")
    if options.operands:
        for name in ("dirty", "broken"):
            if options.on(name):
                raise Fatal(f"option '--{name}' and commit-ishes cannot be used together")
    elif options.on("dirty") or options.on("broken"):
        from agentsandbox.git.status import Status

        status = Status(git, untracked="no", renames=False)
        if status.staged or status.changed or status.conflicts:
            mark = options.get("dirty") or "-dirty"
            describer.suffix = mark
    for word in options.operands or ["HEAD"]:
        describer.show(word)
    return 0


def _contains(git: Invocation, options: Options) -> int:
    refs: list[str] = []
    excluded: list[str] = []
    words = ["--peel-tag", "--name-only", "--no-undefined"]
    if options.on("always"):
        words.append("--always")
    if not options.on("all"):
        words.append("--tags")
        refs = [f"--refs=refs/tags/{each}" for each in options.all("match")]
        excluded = [f"--exclude=refs/tags/{each}" for each in options.all("exclude")]
    git.name = "name-rev"
    return name_rev(git, [*words, *refs, *excluded, *(options.operands or ["HEAD"])])


class _Name:
    """A reference that may describe its commit."""

    __slots__ = ("path", "priority", "tag", "tagger_date")

    def __init__(self, path: str, priority: int, tag: str, tagger_date: int) -> None:
        self.path = path
        self.priority = priority
        """2 of an annotated tag, 1 of a light one, 0 of others."""
        self.tag = tag
        self.tagger_date = tagger_date


class _Candidate:
    __slots__ = ("depth", "name", "order")

    def __init__(self, name: _Name, depth: int, order: int) -> None:
        self.name = name
        self.depth = depth
        self.order = order


class _Describer:
    def __init__(self, git: Invocation, options: Options) -> None:
        self.git = git
        self.options = options
        self.repository = git.repository
        self.objects = self.repository.objects
        self.everything = options.on("all")
        self.light = options.on("tags")
        self.suffix = ""
        self.most = 0 if options.on("exact-match") else min(options.number("candidates", 10), 27)
        self.names = self._find_names()

    def _find_names(self) -> dict[str, _Name]:
        found: dict[str, _Name] = {}
        objects = self.objects
        for full, oid in self.repository.refs.all().items():
            self.git.budget.step()
            is_tag = full.startswith("refs/tags/")
            if not (is_tag or self.everything) or not self._is_wanted(full):
                continue
            if oid not in objects:
                continue
            target = objects.peel(oid)
            if target is None or objects.type_of(target) != "commit":
                continue
            tag = oid if target != oid else ""
            name = _Name(
                full[5:] if self.everything else full[10:],
                (2 if tag else 1) if is_tag else 0,
                tag if is_tag else "",
                seconds_of(objects.tag(oid).tagger) if tag else 0,
            )
            known = found.get(target)
            if (
                known is None
                or name.priority > known.priority
                or (name.priority == known.priority == 2 and name.tagger_date > known.tagger_date)
            ):
                found[target] = name
        return found

    def _is_wanted(self, full: str) -> bool:
        wanted, excluded = self.options.all("match"), self.options.all("exclude")
        if not wanted and not excluded:
            return True
        for prefix in ("refs/tags/", "refs/heads/", "refs/remotes/"):
            if full.startswith(prefix):
                name = encode(full.removeprefix(prefix))
                break
        else:
            return False
        if any(wildmatch(encode(each), name, pathname=False) for each in excluded):
            return False
        return not wanted or any(wildmatch(encode(each), name, pathname=False) for each in wanted)

    def show(self, word: str) -> None:
        """Print the description of a commit."""
        oid = Resolver(self.git).find(word, kind="commit")
        if oid is None:
            raise Fatal(f"Not a valid object name {word}")
        commit = self.objects.peel(oid, "commit")
        if commit is None:
            if self.objects.type_of(oid) == "blob":
                raise Fatal("git describe of a blob is not supported in this sandbox")
            raise Fatal(f"{word} is neither a commit nor blob")
        self.git.print(self._describe(commit) + self.suffix)

    def _describe(self, commit: str) -> str:
        name = self.names.get(commit)
        if name is not None and (self.light or self.everything or name.priority == 2):
            text = self._text(name)
            return text + self._distance(0, commit) if self.options.on("long") else text
        if self.most <= 0:
            raise Fatal(f"no tag exactly matches '{commit}'")
        best = _Search(self, commit).run()
        if best is None:
            return self._short(commit)
        text = self._text(best.name)
        if self.options.get("abbrev") == "0" or self.options.off("abbrev"):
            return text
        return text + self._distance(best.depth, commit)

    def _short(self, oid: str) -> str:
        length = self.options.get("abbrev")
        return self.repository.short(oid, int(length) if length else None)

    def _distance(self, depth: int, commit: str) -> str:
        return f"-{depth}-g{self._short(commit)}"

    def _text(self, name: _Name) -> str:
        if not name.tag:
            return name.path
        inner = decode(self.objects.tag(name.tag).name)
        text = f"tags/{inner}" if self.everything else inner
        if name.path != text:
            self.git.warn(f"tag '{name.path}' is externally known as '{inner}'")
        return text


class _Search:
    """The walk from a commit to the nearest names."""

    def __init__(self, describer: _Describer, commit: str) -> None:
        self.describer = describer
        self.budget = describer.git.budget
        self.first_parent = describer.options.on("first-parent")
        self.commit = commit
        self.flags: dict[str, int] = {commit: 0}
        """Which candidates a commit that was seen is within."""
        self.heap: list[tuple[int, int, str]] = []
        self.count = 0
        self._push(commit)

    def _push(self, oid: str) -> None:
        self.count += 1
        heapq.heappush(self.heap, (-self.describer.objects.commit(oid).time, self.count, oid))

    def _expand(self, oid: str, *, first: bool) -> None:
        flags = self.flags
        for parent in self.describer.repository.parents(oid):
            if parent not in flags:
                flags[parent] = 0
                self._push(parent)
            flags[parent] |= flags[oid]
            if first:
                return

    def run(self) -> _Candidate | None:
        # long: the walk and when it ends
        describer, flags = self.describer, self.flags
        candidates: list[_Candidate] = []
        seen = annotated = light = 0
        while self.heap:
            _, _, oid = heapq.heappop(self.heap)
            self.budget.step(1 + len(candidates))
            seen += 1
            name = describer.names.get(oid)
            if name is not None:
                if not describer.light and not describer.everything and name.priority < 2:
                    light += 1
                elif len(candidates) < describer.most:
                    candidates.append(_Candidate(name, seen - 1, len(candidates)))
                    flags[oid] |= 1 << (len(candidates) - 1)
                    annotated += name.priority == 2
                else:
                    self._push(oid)
                    break
            for number, each in enumerate(candidates):
                if not flags[oid] >> number & 1:
                    each.depth += 1
            if annotated and not self.heap:
                least = min(each.depth for each in candidates)
                within = sum(
                    1 << number for number, each in enumerate(candidates) if each.depth == least
                )
                if flags[oid] & within == within:
                    break
            self._expand(oid, first=self.first_parent)
        if not candidates:
            if describer.options.on("always"):
                return None
            raise Fatal(
                f"No annotated tags can describe '{self.commit}'.\n"
                "However, there were unannotated tags: try --tags."
                if light
                else f"No tags can describe '{self.commit}'.\nTry --always, or create some tags."
            )
        best = min(candidates, key=lambda each: (each.depth, each.order))
        self._finish(best)
        return best

    def _finish(self, best: _Candidate) -> None:
        """Count the commits that are left and are not within the best candidate."""
        flags, mark = self.flags, 1 << best.order
        while self.heap:
            _, _, oid = heapq.heappop(self.heap)
            self.budget.step(1 + len(self.heap) // 4)
            if flags[oid] & mark:
                if all(flags[each] & mark for _, _, each in self.heap):
                    return
            else:
                best.depth += 1
            self._expand(oid, first=False)


def name_rev(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["name-rev"], words)
    modes = (options.on("all"), options.on("stdin") or options.on("annotate-stdin"))
    if sum(modes) + bool(options.operands) > 1:
        git.error("Specify either a list, or --all, not both!")
        raise BadUsage
    namer = _RevisionNamer(git, options)
    given: list[tuple[str, str]] = []
    resolver = Resolver(git)
    objects = git.repository.objects
    for word in options.operands:
        oid = resolver.find(word)
        if oid is None:
            git.say(f"Could not get sha1 for {word}. Skipping.")
            continue
        if oid not in objects:
            git.say(f"Could not get object for {word}. Skipping.")
            continue
        if options.on("peel-tag"):
            oid = objects.peel(oid, "commit") or oid
        given.append((word, oid))
    if options.on("stdin"):
        git.warn(
            "--stdin is deprecated. Please use --annotate-stdin instead, which is functionally "
            "equivalent.\nThis option will be removed in a future release."
        )
    if modes[1]:
        namer.finder(None)
        for line in decode(git.read_input()).splitlines(keepends=True):
            git.budget.step()
            git.write(encode(namer.annotated(line)))
        return 0
    if modes[0]:
        namer.finder(None)
        for oid in namer.reached():
            namer.show(oid, oid)
        return 0
    namer.finder([oid for _, oid in given])
    for word, oid in given:
        namer.show(word, oid)
    return 0


class _RevisionNamer:
    def __init__(self, git: Invocation, options: Options) -> None:
        self.git = git
        self.options = options
        self.repository: Repository = git.repository
        self.name_only = options.on("name-only")
        self.found: NameFinder
        self.tips: list[Tip] = []

    def finder(self, wanted: list[str] | None) -> None:
        """Name what the references reach; only as far as `wanted` needs it."""
        objects = self.repository.objects
        cutoff = None
        if wanted is not None:
            times = [objects.commit(oid).time for oid in wanted if objects.type_of(oid) == "commit"]
            cutoff = min(times) - 86400 if times else None
        self.tips = self._tips()
        self.found = NameFinder(self.repository, cutoff)
        for tip in sorted(self.tips, key=lambda tip: (not tip.from_tag, tip.date)):
            if tip.commit is not None:
                self.found.add(tip)

    def _tips(self) -> list[Tip]:
        objects, only_tags = self.repository.objects, self.options.on("tags")
        patterns, excluded = self.options.all("refs"), self.options.all("exclude")
        found = []
        for full, oid in self.repository.refs.all().items():
            self.git.budget.step()
            if oid not in objects or (only_tags and not full.startswith("refs/tags/")):
                continue
            if any(_matched_from(full, each) is not None for each in excluded):
                continue
            short = only_tags and self.name_only
            if patterns:
                places = [_matched_from(full, each) for each in patterns]
                if all(place is None for place in places):
                    continue
                short = short or any(place for place in places)
            found.append(self._tip(full, oid, short=short))
        return found

    def _tip(self, full: str, oid: str, *, short: bool) -> Tip:
        objects = self.repository.objects
        date: int | None = None
        target = oid
        for _ in range(100):
            if objects.type_of(target) != "tag":
                break
            tag = objects.tag(target)
            date, target = seconds_of(tag.tagger), tag.object
        commit = target if objects.type_of(target) == "commit" else None
        if date is None:
            date = objects.commit(commit).time if commit is not None else 0
        if short:
            name = re.sub(r"\Arefs/(?:tags|heads|remotes)/", "", full)
        else:
            name = full.removeprefix("refs/heads/").removeprefix("refs/")
        return Tip(name, oid, commit, date, full.startswith("refs/tags/"), target != oid)

    def name_of(self, oid: str) -> str | None:
        """Return the name of an object, None without one."""
        if self.repository.objects.type_of(oid) == "commit":
            return self.found.name_of(oid)
        return next((tip.name for tip in self.tips if tip.oid == oid), None)

    def show(self, word: str, oid: str) -> None:
        """Print the name of an object."""
        head = "" if self.name_only else f"{word} "
        self.git.write(encode(head))
        name = self.name_of(oid)
        if name is None:
            if self.options.on("undefined", True):
                name = "undefined"
            elif self.options.on("always"):
                name = self.repository.short(oid)
            else:
                raise Fatal(f"cannot describe '{oid}'")
        self.git.print(name)

    def reached(self) -> list[str]:
        """Return all commits that references reach, and HEAD."""
        from agentsandbox.git.history import Walk

        walk = Walk(self.repository)
        walk.tips = [tip.commit for tip in self.tips if tip.commit is not None]
        return list(walk.run())

    def annotated(self, line: str) -> str:
        """Return a line with the names of the objects in it."""

        def named(found: re.Match[str]) -> str:
            oid = found[0]
            if not is_object_name(oid) or oid not in self.repository.objects:
                return oid
            name = self.name_of(oid)
            if name is None:
                return oid
            return name if self.name_only else f"{oid} ({name})"

        return re.sub(r"(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])", named, line)


def _matched_from(full: str, pattern: str) -> int | None:
    """Return how many leading parts of a reference a pattern leaves out, None without a match."""
    parts = full.split("/")
    for at in range(len(parts)):
        if wildmatch(encode(pattern), encode("/".join(parts[at:])), pathname=False):
            return at
    return None


COMMANDS = {"describe": describe, "name-rev": name_rev}
