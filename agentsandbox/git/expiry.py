"""Old entries of reflogs, and which of them go.

An entry goes if it is older than one time (90 days), or older than another one (30 days) and no
commit of it is reached from the reference any more; for HEAD, from any reference. The configuration
has times for all references and for patterns of their names; the stash keeps all it has.
"""

from __future__ import annotations

from agentsandbox.git.dates import approxidate
from agentsandbox.git.history import Walk
from agentsandbox.git.objects import NULL
from agentsandbox.git.patterns import wildmatch
from agentsandbox.git.pretty import Person
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.invocation import Invocation
    from agentsandbox.git.refs import LogEntry

_DAY = 24 * 3600
_NOW = float("inf")


def expiry_time(git: Invocation, text: str) -> float:
    """Return the time before which something is old: 0 for never, infinity for now."""
    if text in ("never", "false"):
        return 0
    if text in ("all", "now"):
        return _NOW
    return approxidate(text, git.now, git.tz)


class Expiry:
    """What an expiry of reflogs does; None is a time that the configuration says."""

    def __init__(self, git: Invocation) -> None:
        self.git = git
        self.repository = git.repository
        self.total: float | None = None
        self.unreachable: float | None = None
        self.rewrites = self.updates = self.dry = self.verbose = False
        self.says_would = True
        """Whether a dry run says "would prune"; for references that are named git says "prune"."""
        self.left = 0
        """The number of the entry to delete, counted from the oldest one; 0 for none."""
        self._settings = self._read_settings()

    def _read_settings(self) -> list[tuple[str, dict[str, float]]]:
        """Return (pattern, times by name) of the configuration, "" for all references."""
        found: dict[str, dict[str, float]] = {"": {}}
        for value in self.git.config.values:
            section, _, rest = value.key.partition(".")
            pattern, _, name = rest.rpartition(".")
            if section == "gc" and name in ("reflogexpire", "reflogexpireunreachable"):
                times = found.setdefault(pattern, {})
                times[name] = expiry_time(self.git, value.text or "")
        return list(found.items())

    def _times(self, name: str) -> tuple[float, float]:
        """Return (time for all entries, time for those that are not reached) of a reference."""
        now = self.git.now
        times = {"reflogexpire": now - 90 * _DAY, "reflogexpireunreachable": now - 30 * _DAY}
        general: dict[str, float] = times | self._settings[0][1]
        for pattern, own in self._settings[1:]:
            if wildmatch(encode(pattern), encode(name), pathname=False):
                general = {key: own.get(key, 0) for key in times}
                break
        else:
            if name == "refs/stash":
                general = dict.fromkeys(times, 0)
        return (
            general["reflogexpire"] if self.total is None else self.total,
            general["reflogexpireunreachable"] if self.unreachable is None else self.unreachable,
        )

    def _reached(self, name: str) -> set[str]:
        """Return the commits that are reached from a reference; for HEAD from all of them."""
        repository = self.repository
        refs = repository.refs
        tips = list(refs.all().values()) if name == "HEAD" else [refs.read(name) or ""]
        walk = Walk(repository)
        walk.tips = [
            commit
            for oid in tips
            if oid in repository.objects
            and (commit := repository.objects.peel(oid, "commit")) is not None
        ]
        return set(walk.run())

    def expire(self, name: str) -> None:
        """Drop the old entries of a reference's log."""
        total, unreachable = self._times(name)
        reached: set[str] | None = None
        kept: list[LogEntry] = []
        last = NULL
        for entry in self.repository.refs.read_log(name):
            self.git.budget.step()
            seconds = Person(entry.ident).seconds
            goes = seconds < total
            if not goes and seconds < unreachable:
                if unreachable <= total:
                    goes = True
                else:
                    reached = self._reached(name) if reached is None else reached
                    old = last if self.rewrites else entry.old
                    goes = self._is_lost(old, reached) or self._is_lost(entry.new, reached)
            if not goes and self.left:
                self.left -= 1
                goes = self.left == 0
            if self.verbose:
                drops = "would prune" if self.dry and self.says_would else "prune"
                self.git.print(f"{drops if goes else 'keep'} {decode(entry.message)}")
            if not goes:
                if self.rewrites:
                    entry.old = last
                last = entry.new
                kept.append(entry)
        if not self.dry:
            self._write(name, kept, last)

    def _is_lost(self, oid: str, reached: set[str]) -> bool:
        if oid == NULL or oid in reached:
            return False
        objects = self.repository.objects
        return oid in objects and objects.peel(oid, "commit") is not None

    def _write(self, name: str, kept: list[LogEntry], last: str) -> None:
        refs = self.repository.refs
        refs.write_log(name, kept)
        if self.updates and last != NULL and refs.symbolic(name) is None:
            refs.write_file(refs.path(name), encode(f"{last}\n"))

    def delete(self, name: str, place: str) -> None:
        """Drop one entry of a reference's log: by its number, or the last one before a date."""
        entries = self.repository.refs.read_log(name)
        if place.isdigit() and len(place) < 10:
            self.left = max(0, len(entries) - int(place))
        else:
            limit = approxidate(place, self.git.now, self.git.tz)
            self.left = sum(Person(entry.ident).seconds < limit for entry in entries)
        self.total = self.unreachable = 0
        self.expire(name)
