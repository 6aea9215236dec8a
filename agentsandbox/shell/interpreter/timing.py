"""`time`: what a pipeline took, in the form of TIMEFORMAT or of POSIX."""

from __future__ import annotations

import re
from time import monotonic, thread_time

from agentsandbox.errors import Return

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Run, Shell


def timed(run: Run, form: str) -> Run:
    """Compile a timed pipeline; `form` is "time" or "time -p"."""

    def run_timed(shell: Shell) -> int:
        began, used = monotonic(), thread_time()
        returned = False
        try:
            return run(shell)
        except Return:
            returned = True  # bash forgets the report then, and only then
            raise
        finally:
            if not returned:
                report(shell, form, monotonic() - began, thread_time() - used)

    return run_timed


def report(shell: Shell, form: str, real: float, user: float) -> None:
    """Print what `time` measured, in the form of TIMEFORMAT or POSIX."""
    template = shell.variables.get("TIMEFORMAT")
    if form == "time -p":
        shell.show(f"real {real:.2f}\nuser {user:.2f}\nsys 0.00\n")
        return
    if template is None:
        shell.show(f"\nreal\t{_minutes(real)}\nuser\t{_minutes(user)}\nsys\t{_minutes(0.0)}\n")
        return
    if template:
        wrong = (
            re.sub(r"%(?:%|[0-9]?l?[RUS]|P)", "", template)
            .partition("%")[2]
            .lstrip("0123456789l")[:1]
        )
        if wrong:
            shell.complain(f"TIMEFORMAT: `{wrong}': invalid format character")
            return
        shell.show(_format(template, real, user) + "\n")


def _minutes(seconds: float) -> str:
    return f"{int(seconds // 60)}m{seconds % 60:.3f}s"


def _format(template: str, real: float, user: float) -> str:
    values = {"R": real, "U": user, "S": 0.0}

    def replace(match: re.Match[str]) -> str:
        precision, long, letter = match.groups()
        if letter == "%":
            return "%"
        if letter == "P":
            return f"{100 * user / real if real else 0:.2f}"
        digits = min(int(precision), 3) if precision else 3
        seconds = values[letter]
        if long:
            return f"{int(seconds // 60)}m{seconds % 60:.{digits}f}s"
        return f"{seconds:.{digits}f}"

    return re.sub(r"%([0-9])?(l)?([RUSP%])", replace, template)
