"""`Host`: what commands share of the machine besides its files."""

from __future__ import annotations

from time import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from random import Random
    from typing import Any

    from agentsandbox.kernel.processes import Scheduler
    from agentsandbox.kernel.streams import Stream
    from agentsandbox.network.client import Network
    from agentsandbox.network.policy import NetworkPolicy


# TM-HOST-2
class Host:
    """The machine as a command sees it: clock, random numbers, user, terminal, network."""

    __slots__ = (
        "_make_random", "_network", "_random", "clock", "columns", "commands", "git_remotes",
        "has_clock_at_home", "hostname", "is_seeded", "locks", "make_network", "memo",
        "network_policy", "pictures", "scheduler", "started", "user",
    )  # fmt: skip

    def __init__(
        self,
        *,
        clock: Callable[[], float],
        random: Callable[[], Random],
        is_seeded: bool = False,
        scheduler: Scheduler,
        user: str = "agent",
        hostname: str = "sandbox",
        columns: int = 80,
        network: NetworkPolicy | None = None,
        commands: Callable[[], Sequence[str]] = tuple,
        git_remotes: Mapping[str, Any] | None = None,
    ) -> None:
        self.clock = clock
        """The sandbox's only clock, in seconds since the epoch; deadlines use the budget's own."""
        self._make_random = random
        self._random: Random | None = None
        self.is_seeded = is_seeded
        """Whether `random` repeats itself: then nothing else may give random numbers."""
        self.scheduler = scheduler
        self.user = user
        self.hostname = hostname
        self.columns = columns
        self.network_policy = network
        """What may be reached; None without a network. Commands use `network`, which asks it."""
        self._network: Network | None = None
        self.make_network: Callable[[], Network] | None = None
        """Makes the client where requests leave in another way than by sockets of this process."""
        self.has_clock_at_home = False
        """Whether only the scheduler's thread may call `clock`."""
        self.commands = commands
        """The names of all commands."""
        self.git_remotes: Mapping[str, Any] = git_remotes or {}
        """What the host offers to git as remotes: name or URL → folder or function."""
        self.pictures: list[str] = []
        """Paths of the pictures that programs wrote, for the result of the execution."""
        self.started = self.time_at_start()
        self.locks: dict[int, list[tuple[Stream, bool]]] = {}
        """Advisory file locks by inode: (holder, whether shared). A closed stream holds nothing."""
        self.memo: dict[str, Any] = {}
        """What commands computed from files and may need again, by their own keys. Each checks that
        it still holds, and bounds its size; nothing of it belongs to the sandbox's state."""

    def time_at_start(self) -> float:
        """Return the time for a machine or a shell that starts before its script runs.

        If the host's clock fails, it is that of this process: the script ends when it asks itself.
        """
        if self.clock is time:
            return time()
        from agentsandbox.kernel.host_functions import first_time

        return first_time(self.clock)

    @property
    def network(self) -> Network:
        """Return the client for all requests of the sandbox, made when first needed.

        It is there without a policy too, for the sandbox's own loopback.
        """
        if self._network is None and self.make_network is not None:
            self._network = self.make_network()
        if self._network is None:
            from agentsandbox.network.client import Network

            self._network = Network(self.scheduler, self.network_policy, self.hostname)
        return self._network

    @property
    def random(self) -> Random:
        """Return the random generator, made when first needed: its state takes 3 KB."""
        if self._random is None:
            self._random = self._make_random()
        return self._random

    def random_state(self) -> tuple[object, ...] | None:
        """Return the state for `random.setstate`; None before the first use of `random`."""
        return None if self._random is None else self._random.getstate()
