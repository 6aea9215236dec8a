"""Words that an option takes from a fixed list: `--sort=WORD`, `--backup=CONTROL`."""

from __future__ import annotations

from agentsandbox.commands._text.quoting import quote
from agentsandbox.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def choose(value: str, option: str, choices: Sequence[Sequence[str]]) -> str:
    """Return the first spelling of the choice that `value` names or abbreviates.

    `choices` are lists of synonyms.
    """
    candidates = []
    for synonyms in choices:
        if value in synonyms:
            return synonyms[0]
        if any(name.startswith(value) for name in synonyms):
            candidates.append(synonyms[0])
    if len(candidates) == 1:
        return candidates[0]
    problem = "ambiguous" if candidates else "invalid"
    listed = "".join(
        ["\n  - " + ", ".join([quote(name) for name in synonyms]) for synonyms in choices]
    )
    raise UsageError(
        f"{problem} argument {quote(value)} for {quote(option)}\nValid arguments are:{listed}", 1
    )


def choice_of(option: str, choices: Sequence[Sequence[str]]) -> Callable[[str], str]:
    """Return a reader of the option's value, for `@command(values=…)`."""
    return lambda value: choose(value, option, choices)
