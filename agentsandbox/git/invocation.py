"""One call of git with its repository: what a subcommand is a function of."""

from __future__ import annotations

from agentsandbox.git.errors import Fatal
from agentsandbox.git.repository import Repository, discover, load_config
from agentsandbox.git.sparse_index import IndexRules
from agentsandbox.git.surroundings import Surroundings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentsandbox.contract.command import CommandContext
    from agentsandbox.git.config import Config


class Invocation(Surroundings):
    """What a subcommand works with."""

    def __init__(self, ctx: CommandContext, env: dict[str, str], cwd: str) -> None:
        super().__init__(ctx, env, cwd)
        self._repository: Repository | None = None
        self._config: Config | None = None

    def find_repository(self) -> Repository | None:
        """Return the repository, None outside of one."""
        if self._repository is None:
            found = discover(self)
            if found is not None:
                found.rules = IndexRules(found)
            self._repository = found
        return self._repository

    @property
    def repository(self) -> Repository:
        """Return the repository; Fatal outside of one."""
        found = self.find_repository()
        if found is None:
            raise Fatal("not a git repository (or any of the parent directories): .git")
        return found

    def use(self, repository: Repository) -> None:
        """Work in another repository from now on."""
        repository.rules = IndexRules(repository)
        self._repository = repository
        self._config = None

    @property
    def config(self) -> Config:
        """Return the configuration, that of the repository included."""
        repository = self.find_repository()
        if repository is not None:
            return repository.config
        if self._config is None:
            self._config = load_config(self, None)
        return self._config

    def child(self, env: Mapping[str, str] | None = None, *, quiet: bool = False) -> Invocation:
        """Return an invocation for a subcommand that this one runs at the top of the worktree.

        With `quiet` its output is collected in `sink`.
        """
        self.flush()
        repository = self.find_repository()
        top = repository.worktree if repository is not None else None
        made = Invocation(self.ctx, {**self.env, **(env or {})}, top or self.cwd)
        made.settings = self.settings
        made.accepts = self.accepts
        made.sink = [] if quiet else self.sink
        return made

    def forget_config(self) -> None:
        """Read the configuration again at the next need."""
        self._config = None
        if self._repository is not None:
            self._repository.forget_config()

    def hint(self, text: str, setting: str) -> None:
        """Write the lines of a hint to stderr, unless advice.SETTING says no."""
        if self.config.flag(f"advice.{setting.lower()}", True):
            self.say("\n".join(f"hint: {line}" for line in text.split("\n")))
