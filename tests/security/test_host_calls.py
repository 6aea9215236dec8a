"""What a script leaves behind, the host can look at: its calls end in `OSError` and at once. And
what a host's command raises.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from agentsandbox import Sandbox
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.errors import Unwind
from agentsandbox.isolation.supervisor import missing
from agentsandbox.kernel.fs.host import HostFileSystem
from agentsandbox.kernel.fs.overlay import OverlayFileSystem
from agentsandbox.kernel.streams import ByteWriter


@pytest.fixture(autouse=True)
def _no_hanging() -> Iterator[None]:
    def give_up(*_: object) -> None:
        raise TimeoutError("a call of the host hangs")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, 60)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


PLANTED = """
mkfifo fifo fifo_with_reader fifo_with_writer
cat fifo_with_reader >got &
sleep 60 >fifo_with_writer &
exec 3>&1 4</dev/zero 5<>fifo 6>written 7< <(sleep 60)
for name in zero full random urandom null tty stdin stdout stderr fd fd/0 fd/1 fd/2 fd/3 fd/4 fd/5 fd/6 fd/7 fd/63 fd/x; do
    ln -s /dev/$name "link_${name/\\//_}"
done
for number in 0 1 2 3 4 5 6 7 99; do ln -s /proc/self/fd/$number proc_$number; done
ln -s self self; ln -s none dangling; ln -s fifo to_fifo; ln -s . here; ln -s /dev/zero/x through
ln fifo hard_fifo; mkdir d; mkfifo d/p; ln -s /dev d/dev; ln -s /proc d/proc
"""

SPECIAL = [f"/dev/fd/{number}" for number in (*range(9), 63, 255, 999_999)] + [
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "/proc/self/fd/9",
]


def paths_of(sandbox: Sandbox) -> list[str]:
    found = [*SPECIAL]
    for top in ("/dev", "/proc", "/workspace"):
        for here, directories, others in sandbox.fs.walk(top):
            found += [f"{here}/{name}" for name in directories + others]
    return sorted({*found, *(f"{path}/" for path in found), *(f"{path}/x" for path in found)})


def calls_on(sandbox: Sandbox, path: str) -> dict[str, Callable[[], object]]:
    fs = sandbox.fs

    def use(mode: str, use: Callable[[Any], object]) -> object:
        with fs.open(path, mode) as file:  # type: ignore[arg-type]
            return use(file)

    readers: dict[str, Callable[[Any], object]] = {
        "read": lambda file: file.read(),
        "read some": lambda file: file.read(10),
        "readline": lambda file: file.readline(),
        "lines": lambda file: next(file.lines(), b""),
        "blocks": lambda file: next(file.blocks(), b""),
        "line_blocks": lambda file: next(file.line_blocks(), b""),
        "seek": lambda file: file.seek(0, 2),
        "stat": lambda file: file.stat(),
    }
    writers: dict[str, Callable[[Any], object]] = {
        "write": lambda file: file.write(b"x" * 100_000),
        "truncate": lambda file: file.truncate(1 << 60),
    }
    calls: dict[str, Callable[[], object]] = {
        f"r {name}": partial(use, "r", reader) for name, reader in readers.items()
    }
    calls |= {
        f"r+ {name}": partial(use, "r+", each) for name, each in {**readers, **writers}.items()
    }
    calls |= {
        f"{mode} {name}": partial(use, mode, writer)
        for mode in ("a", "x")
        for name, writer in writers.items()
    }
    names = (
        "stat",
        "listdir",
        "realpath",
        "readlink",
        "read_bytes",
        "read_text",
        "scan",
        "contents",
        "is_file",
        "is_dir",
        "exists",
        "program",
    )
    calls |= {name: partial(getattr(fs, name), path) for name in names}
    return calls | {
        "access": lambda: fs.access(path, 4),
        "at_hand": lambda: fs.at_hand("/workspace", [path]),
        "examine": lambda: fs.examine(path, ["x"]),
        "marks": lambda: fs.marks(path, ["x"]),
        "walk": lambda: list(fs.walk(path)),
        "copy_tree": lambda: fs.copy_tree(path, "/copy"),
        "link": lambda: fs.link(path, "/linked"),
        "chmod": lambda: fs.chmod(path, 0o600),
        "utime": lambda: fs.utime(path, 1.0),
        "write_bytes": lambda: fs.write_bytes(path, b"x"),
        "mkfifo": lambda: fs.mkfifo(path),
        "mkdir": lambda: fs.mkdir(path),
        "symlink": lambda: fs.symlink("x", path),
    }


def try_all(sandbox: Sandbox, path: str) -> dict[str, object]:
    """What each call came to; an `OSError` is the only error there is."""
    outcome: dict[str, object] = {}
    before = sandbox.fs.snapshot()
    for name, call in calls_on(sandbox, path).items():
        try:
            outcome[name] = call()
        except OSError as error:
            outcome[name] = error
        except BaseException as error:
            raise AssertionError(f"{name} of {path} ends in {error!r}") from error
        sandbox.fs.restore(before)
    return outcome


# TM-OUT-4
def test_every_call_of_the_host_ends_in_an_oserror_at_once() -> None:
    with Sandbox() as sandbox:
        assert sandbox.execute(PLANTED).exit_code == 0
        paths = paths_of(sandbox)
        assert len(paths) > 150
        for path in paths:
            try_all(sandbox, path)
        for path in ("/dev/zero", "/dev/urandom", "/workspace/link_zero", "/workspace/d/dev/full"):
            outcome = try_all(sandbox, path)
            assert outcome["r read some"]
            assert [
                getattr(outcome[name], "errno", None)
                for name in ("read_bytes", "r read", "r+ read")
            ] == [27, 27, 27], path  # EFBIG
        for path in (
            "/workspace/fifo",
            "/workspace/to_fifo",
            "/workspace/fifo_with_reader",
            "/workspace/fifo_with_writer",
        ):
            outcome = try_all(sandbox, path)
            assert {
                getattr(outcome[name], "errno", None)
                for name in ("read_bytes", "r read", "write_bytes", "a write")
            } == {6}, path  # ENXIO
        for path in ("/dev/stdin", "/dev/fd/1", "/proc/self/fd/2", "/workspace/link_stdout"):
            assert {
                type(error)
                for name, error in try_all(sandbox, path).items()
                if name.endswith("read_bytes")
            } <= {
                OSError,
                FileNotFoundError,
            }
        assert sandbox.execute("mkfifo q; cat q & echo alive >q; wait $!").stdout == "alive\n"


def test_scripts_still_meet_their_limits() -> None:
    with Sandbox() as sandbox:
        sandbox.execute("ln -s /dev/zero result.csv")
        with pytest.raises(OSError, match="File too large"):
            sandbox.fs.read_bytes("/workspace/result.csv")
        assert sandbox.execute("sort result.csv").limit == "value_bytes"
        assert (
            sandbox.execute("head -c 3 result.csv | od -An -tx1; echo a | cat /dev/stdin").stdout
            == " 00 00 00\na\n"
        )


def test_a_host_task_beside_a_script_that_waits() -> None:
    """While the script of an `aexecute` waits, it is the host that calls."""

    async def run() -> None:
        with Sandbox() as sandbox:
            task = asyncio.ensure_future(
                sandbox.aexecute(
                    "mkfifo p; exec 5<>p; (sleep 0.5; echo line >p) & read x <p; echo got $x"
                )
            )
            while not sandbox.fs.exists("/workspace/p"):
                await asyncio.sleep(0.01)
            for path in ("/workspace/p", "/dev/stdin", "/dev/fd/5", "/dev/zero"):
                try_all(sandbox, path)
            assert (await task).stdout == "got line\n"

    asyncio.run(run())


# TM-OUT-4
def test_special_files_below_mounts(tmp_path: Any) -> None:
    inner = Sandbox()
    inner.execute(PLANTED)
    with Sandbox(
        mounts={
            "/inner": inner.fs,
            "/over": OverlayFileSystem(inner.fs),
            "/host": HostFileSystem(tmp_path),
        }
    ) as sandbox:
        for top in ("/inner", "/over"):
            for name in (
                "/dev/zero",
                "/dev/stdin",
                "/workspace/fifo",
                "/workspace/link_zero",
                "/proc/self/fd/1",
                "/workspace/d/p",
            ):
                try_all(sandbox, top + name)
        result = sandbox.execute(
            "cat /inner/workspace/fifo; head -c 1 /over/dev/zero | wc -c; sort /inner/dev/zero"
        )
        assert result.exit_code != 70
        assert "No such device or address" in result.stderr


# what a host's command raises


@command("fail", usage="Usage: fail\nRaise an error.\n")
def fail(ctx: CommandContext, args: Arguments) -> int:
    raise RuntimeError("a bug of the host")


@command("leave", usage="Usage: leave\nLeave Python.\n")
def leave(ctx: CommandContext, args: Arguments) -> int:
    raise SystemExit(3)


@command("unwind", usage="Usage: unwind\nRaise what no command raises.\n")
def unwind(ctx: CommandContext, args: Arguments) -> int:
    raise Unwind


@command("interrupt", usage="Usage: interrupt\nPress Ctrl-C.\n")
def interrupt(ctx: CommandContext, args: Arguments) -> int:
    raise KeyboardInterrupt


AROUND = [
    "{}",
    "echo a; {} 2>/dev/full",
    "exec 2>/dev/full; {}",
    "exec 2>&-; {}",
    "exec 2</dev/null; {}",
    "exec 2> >(true); sleep 0.1; {}",
    "{{ sleep 0.1; {}; }} 2> >(true)",
    "{} | cat",
    "yes | {} | cat",
    "cat /dev/zero | {}",
    "({}) & wait",
    "x=$({}); echo $x",
    "f() {{ {}; }}; f",
    "coproc {}; wait",
    "trap {} EXIT",
    "trap {} USR1; kill -USR1 $$",
    "yes > >({})",
    "find . -exec {} \\;",
    "echo a | xargs {}",
    "bash -c {}",
    "eval {}",
    "while :; do {} ; done | cat > /dev/full",
    "exec >/dev/full 2>&1; {}",
    "printf no_newline >&2; {}",
]
MESSAGE = "bash: internal error; the host's log has the details\n"


def _collect(chunks: list[bytes], stream: str, data: bytes) -> None:
    chunks.append(data)


# TM-OUT-1, TM-OUT-2
@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("name", ["fail", "leave", "unwind"])
def test_an_internal_error_stays_inside(
    around: str, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    with Sandbox(commands=[fail, leave, unwind]) as sandbox:
        for state in ("keep", "new"):
            chunks: list[bytes] = []
            result = sandbox.execute(
                around.format(name), state=state, timeout=5, on_output=partial(_collect, chunks)
            )
            assert (result.exit_code, result.limit) == (70, None)
            assert result.stderr.endswith(MESSAGE)
            assert result.stderr.count(MESSAGE) == 1
            assert chunks[-1].endswith(MESSAGE.encode())
        assert {RuntimeError: "a bug of the host", SystemExit: "3"}.get(
            type(caplog.records[0].exc_info[1]), ""
        ) in caplog.text  # type: ignore[index]
        assert len(caplog.records) == 2
        after = sandbox.execute("trap - EXIT USR1; echo alive", state="new")
        assert after.stdout == "alive\n"


@pytest.mark.parametrize("around", [text for text in AROUND if "2> >(true); sleep" not in text])
def test_an_interrupt_reaches_the_host_and_the_sandbox_lives(around: str) -> None:
    with Sandbox(commands=[interrupt]) as sandbox:
        with pytest.raises(KeyboardInterrupt):
            sandbox.execute(around.format("interrupt"), timeout=5)
        assert not sandbox.stats().is_executing
        assert sandbox.execute("echo alive; echo err >&2", state="new").stdout == "alive\n"


class _Own(ByteWriter):
    """A writer of the host that is no stream of ours."""

    def __init__(self) -> None:
        self.data = b""

    def write(self, data: bytes) -> None:
        self.data += data


# TM-OUT-1
@pytest.mark.parametrize("isolation", ["thread", "process"])
def test_a_writer_of_the_host_may_be_held_by_processes(isolation: Any) -> None:
    if isolation == "process" and missing() is not None:
        pytest.skip("needs Linux")
    script = "(echo a) & wait; cat <(echo b); exec 3>&1; echo c >&3; yes | head -n 90000 | tail -n 1"

    @command("collect", usage="Usage: collect\nRun a script and print its output twice.\n")
    def collect(ctx: CommandContext, args: Arguments) -> int:
        own = _Own()
        status = ctx.run(["bash", "-c", script], stdout=own, stderr=own)
        ctx.stdout.write(2 * own.data)
        return status

    with Sandbox(commands=[collect], isolation=isolation) as sandbox:
        result = sandbox.execute("collect")
    assert (result.stdout, result.stderr, result.exit_code) == (2 * "a\nb\nc\ny\n", "", 0)


# TM-OUT-3
def test_what_an_async_command_raises_stays_inside_too() -> None:
    @command("aleave", usage="Usage: aleave\nLeave Python.\n")
    async def aleave(ctx: CommandContext, args: Arguments) -> int:
        await asyncio.sleep(0)
        raise SystemExit(3)

    async def run() -> None:
        with Sandbox(commands=[aleave, fail, leave]) as sandbox:
            for script in (
                "aleave",
                "aleave | cat",
                "(aleave) & wait",
                "exec 2>/dev/full; leave",
                "fail",
            ):
                result = await sandbox.aexecute(script, state="new")
                assert (result.exit_code, result.stderr) == (70, MESSAGE)
            assert (await sandbox.aexecute("echo alive")).stdout == "alive\n"

    asyncio.run(run())


def test_a_log_that_fails_breaks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    import logging

    class Broken(logging.Handler):
        def handle(self, record: logging.LogRecord) -> bool:
            raise ValueError("no log")

    logger = logging.getLogger("agentsandbox")
    handler = Broken()
    logger.addHandler(handler)
    try:
        with Sandbox(commands=[fail]) as sandbox:
            assert sandbox.execute("fail").exit_code == 70
    finally:
        logger.removeHandler(handler)


def test_a_decoder_that_loses_its_state_is_no_internal_error() -> None:
    with Sandbox() as sandbox:
        sandbox.fs.write_bytes("/workspace/f", b'\x1b$B$"\xff$"\x1b(B\xffa\n')
        assert sandbox.execute("iconv -c -f iso-2022-jp -t utf-8 f").stdout == "ああa\n"
        sandbox.fs.write_bytes("/workspace/f", b"\xff\xfe\xfda" * 500_000)
        assert (
            sandbox.execute("iconv -c -f utf-8 -t latin1 f >g; iconv -c f >g", timeout=0.3).limit
            == "timeout"
        )
