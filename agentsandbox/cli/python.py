"""`agentsandbox python`: prepare the runtime of python3, show and remove what was compiled."""

from __future__ import annotations

import json
import sys

from agentsandbox.cli.printing import complain
from agentsandbox.python.runtime import PythonRuntime
from agentsandbox.wasm.errors import UnavailableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from agentsandbox.python.runtime import PythonStatus

_MIB = 1 << 20


def run_python(options: argparse.Namespace) -> int:
    """Run `prepare`, `status` or `clean` and return the exit status."""
    runtime = PythonRuntime(cache=options.cache)
    try:
        if options.action == "clean":
            freed = runtime.clean()
            print(f"removed {freed / _MIB:.0f} MiB from {runtime.cache_folder()}")
            return 0
        if options.action == "prepare":
            if (options.force or not runtime.status().ready) and sys.stderr.isatty():
                print("compiling CPython, which takes about a minute …", file=sys.stderr)
            status = runtime.prepare(force=options.force)
        else:
            status = runtime.status()
    except (UnavailableError, OSError, ImportError) as error:
        complain(error)
        return 1
    print(_json(status) if options.json else _text(status))
    return 0 if status.ready else 1


def _json(status: PythonStatus) -> str:
    facts = {name: getattr(status, name) for name in status.__dataclass_fields__}
    return json.dumps({**facts, "cache": str(status.cache)})


def _text(status: PythonStatus) -> str:
    if not status.ready:
        return f"python3 is not available: {status.reason}"
    return (
        f"python3 is ready: CPython {status.python} with {status.packages} packages, "
        f"wasmtime {status.wasmtime}\n{status.bytes / _MIB:.0f} MiB in {status.cache}"
    )
