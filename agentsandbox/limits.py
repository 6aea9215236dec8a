"""`Limits`: the ceilings of one sandbox."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Never

__all__ = ["DEFAULT_LIMITS", "Limits"]

_MIB = 1024 * 1024


# TM-LIMIT-1
class Limits:
    """The ceilings of one sandbox; immutable. Every value must be positive and finite.

    timeout       seconds one `execute` may take                       → status 124
    steps         loop iterations, calls and lines of one `execute`    → 137
    depth         nesting of functions, substitutions, eval, sourcing  → 137
    output_bytes  stdout and stderr of one `execute` together          → 137
    file_bytes    one file                                             → EFBIG in the script
    total_bytes   all files of the sandbox together                    → ENOSPC in the script
    files         files, directories and links of the sandbox          → ENOSPC in the script
    value_bytes   one value: a variable, a word, a line, a string      → 137
                  (all variables together six times as much)
    """

    __slots__ = (
        "depth", "file_bytes", "files", "output_bytes", "steps", "timeout", "total_bytes",
        "value_bytes",
    )  # fmt: skip

    def __init__(
        self,
        *,
        timeout: float = 30.0,
        steps: int = 50_000_000,
        depth: int = 1000,
        output_bytes: int = 16 * _MIB,
        file_bytes: int = 64 * _MIB,
        total_bytes: int = 128 * _MIB,
        files: int = 100_000,
        value_bytes: int = 16 * _MIB,
        **unknown: Never,
    ) -> None:
        for name in unknown:
            raise TypeError(
                f"Limits has no limit {name!r}: there are {', '.join(sorted(self.__slots__))}"
            )
        given = {
            "timeout": timeout,
            "steps": steps,
            "depth": depth,
            "output_bytes": output_bytes,
            "file_bytes": file_bytes,
            "total_bytes": total_bytes,
            "files": files,
            "value_bytes": value_bytes,
        }
        for name, value in given.items():
            whole = name != "timeout"
            if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
                raise TypeError(
                    f"Limits.{name} takes {'an integer' if whole else 'a number'}, not {value!r}"
                )
            if not 0 < value <= sys.float_info.max:  # which NaN is not, either
                raise ValueError(f"Limits.{name} must be positive and finite, not {value!r}")
            object.__setattr__(self, name, value)

    if TYPE_CHECKING:
        timeout: float
        steps: int
        depth: int
        output_bytes: int
        file_bytes: int
        total_bytes: int
        files: int
        value_bytes: int

    def __reduce__(self) -> tuple[Callable[..., Limits], tuple[dict[str, float]]]:
        return _remade, (self.as_dict(),)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Limits are immutable: use limits.replace({name}=…)")

    def replace(self, **changes: float) -> Limits:
        """Return the same limits with `changes`."""
        return Limits(**{**self.as_dict(), **changes})  # type: ignore[arg-type]

    def as_dict(self) -> dict[str, float]:
        """Return every limit by name."""
        return {name: getattr(self, name) for name in self.__slots__}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Limits) and self.as_dict() == other.as_dict()

    def __hash__(self) -> int:
        return hash(tuple(self.as_dict().items()))

    def __repr__(self) -> str:
        return f"Limits({', '.join(f'{name}={value}' for name, value in self.as_dict().items())})"


def _remade(ceilings: dict[str, float]) -> Limits:
    """Unpickle limits."""
    return DEFAULT_LIMITS.replace(**ceilings)


DEFAULT_LIMITS = Limits()
