"""Mistakes of a hurried user: each gives one clear error that names the argument and says what is
accepted.

A row is a mistake, the error and a part of its message. Where a mistake needs a story, it is a test
of its own below.
"""

from __future__ import annotations

import asyncio
import io
import threading
from pathlib import Path

import pytest
import trio

from agentsandbox import (
    AgentSkill,
    ClosedError,
    InvalidSkillError,
    Limits,
    MountError,
    NetworkPolicy,
    Sandbox,
    SandboxError,
    SandboxManager,
    SandboxOptions,
    analyze,
)
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.kernel.fs.memory import MemoryFileSystem
from agentsandbox.policy import CommandRequest

FS = MemoryFileSystem
SKILL = AgentSkill.from_files({"SKILL.md": "---\nname: hello\ndescription: Says hello.\n---\n"})
OPTIONS = SandboxOptions(limits=Limits(timeout=1), on_command=lambda request: False)


@command("shout", usage="Usage: shout\nShout.\n")
def shout(ctx: CommandContext, args: Arguments) -> int:
    ctx.print("!")
    return 0


async def async_function(*_: object) -> None:
    raise AssertionError("nobody calls it")


class AsyncObserver:
    async def __call__(self, event: object) -> None:
        raise AssertionError("nobody calls it")


CONSTRUCTOR = [
    # what there is
    (lambda: Sandbox(limitz=Limits()), TypeError, "no option 'limitz'; did you mean 'limits'?"),
    (lambda: Sandbox(fiels={}, limits=3), TypeError, "no option 'fiels'; did you mean 'files'?"),
    (lambda: Sandbox(timeout=5), TypeError, "it is a limit, limits=Limits(timeout=…)"),
    (lambda: SandboxOptions(hostnam="a"), TypeError, "did you mean 'hostname'?"),
    (
        lambda: Sandbox(OPTIONS),
        TypeError,
        "id must be a str, not SandboxOptions: give them by name, options=…",
    ),
    (
        lambda: Sandbox(Limits(timeout=1)),
        TypeError,
        "id must be a str, not Limits: options are given by name",
    ),
    (lambda: Sandbox(5), TypeError, "id must be a str, not 5 (int)"),
    (lambda: Sandbox(""), ValueError, "id must not be empty"),
    (
        lambda: Sandbox(options={"env": {}}),
        TypeError,
        "options must be a SandboxOptions, not dict: SandboxOptions(**mapping)",
    ),
    (lambda: Sandbox(options=Limits()), TypeError, "options must be a SandboxOptions, not Limits"),
    # files
    (
        lambda: Sandbox(files={"a": Path("/etc/passwd")}),
        TypeError,
        "files['a'] must be str or bytes, not PosixPath: path.read_bytes()",
    ),
    (lambda: Sandbox(files={"a": 5}), TypeError, "files['a'] must be str or bytes, not 5 (int)"),
    (lambda: Sandbox(files={"a": None}), TypeError, "files['a'] must be str or bytes, not None"),
    (lambda: Sandbox(files={"a": io.BytesIO(b"x")}), TypeError, "file.read() has the content"),
    (
        lambda: Sandbox(files={"a": ["line"]}),
        TypeError,
        "files['a'] must be str or bytes, not list",
    ),
    (
        lambda: Sandbox(files=["a", "b"]),
        TypeError,
        "files must be a mapping of paths to contents, not list",
    ),
    (
        lambda: Sandbox(files="a"),
        TypeError,
        "files must be a mapping of paths to contents, not 'a' (str)",
    ),
    (
        lambda: Sandbox(files={Path("a"): "x"}),
        TypeError,
        "a path in files must be a str, not PosixPath",
    ),
    (
        lambda: Sandbox(files={"": "x"}),
        ValueError,
        "a path in files must be the path of a file, not ''",
    ),
    (
        lambda: Sandbox(files={"dir/": "x"}),
        ValueError,
        "a path in files must be the path of a file, not 'dir/'",
    ),
    (
        lambda: Sandbox(files={"a\0b": "x"}),
        ValueError,
        "a path in files must be the path of a file",
    ),
    (lambda: Sandbox(files={"a": "x", "a/b": "y"}), OSError, "files: File exists: '/workspace/a'"),
    (
        lambda: Sandbox(files={"a": "x" * 9}, limits=Limits(file_bytes=5)),
        OSError,
        "files: File too large",
    ),
    # mounts
    (
        lambda: Sandbox(mounts={"/data": "data"}),
        TypeError,
        "mounts['/data'] must be a FileSystem, not 'data' (str): HostFileSystem",
    ),
    (
        lambda: Sandbox(mounts={"/data": Path("data")}),
        TypeError,
        "mounts['/data'] must be a FileSystem, not PosixPath: HostFileSystem",
    ),
    (
        lambda: Sandbox(mounts={"/data": MemoryFileSystem}),
        TypeError,
        "not the class MemoryFileSystem",
    ),
    (
        lambda: Sandbox(mounts={"data": FS()}),
        ValueError,
        "a path in mounts must be an absolute path, not 'data'",
    ),
    (
        lambda: Sandbox(mounts={"/": FS()}),
        ValueError,
        "a path in mounts must be a directory below the root",
    ),
    (
        lambda: Sandbox(mounts={"/a/../b": FS()}),
        ValueError,
        "a path in mounts must be a path without '..'",
    ),
    (lambda: Sandbox(mounts={"/a": FS(), "/a/": FS()}), ValueError, "mounts has '/a' twice"),
    (lambda: Sandbox(mounts={"/etc": FS()}), MountError, "mounts: Directory not empty: '/etc'"),
    (lambda: Sandbox(mounts=FS()), TypeError, "mounts must be a mapping of paths to filesystems"),
    # variables and places
    (lambda: Sandbox(env={"PORT": 80}), TypeError, "env['PORT'] must be a str, not 80 (int)"),
    (lambda: Sandbox(env={"A": b"x"}), TypeError, "os.fsdecode(value)"),
    (
        lambda: Sandbox(env={"A=B": "x"}),
        ValueError,
        "a name in env must be not empty, without '=' and NUL",
    ),
    (lambda: Sandbox(env={"": "x"}), ValueError, "a name in env must be"),
    (lambda: Sandbox(env={"A": "x\0"}), ValueError, "env['A'] must not contain NUL"),
    (lambda: Sandbox(env=["A=B"]), TypeError, "env must be a mapping of names to values, not list"),
    (lambda: Sandbox(cwd="work"), ValueError, "cwd must be an absolute path, not 'work'"),
    (lambda: Sandbox(cwd=Path("/work")), TypeError, "cwd must be a str, not PosixPath"),
    (lambda: Sandbox(cwd="/etc/passwd"), OSError, "cwd: File exists"),
    (lambda: Sandbox(user="a/b"), ValueError, "user must be a name without '/'"),
    (lambda: Sandbox(user="a:b"), ValueError, "user must be a name without"),
    (lambda: Sandbox(user=""), ValueError, "user must be a name"),
    (lambda: Sandbox(user=1000), TypeError, "user must be a str, not 1000 (int)"),
    (lambda: Sandbox(hostname="a\nb"), ValueError, "hostname must be a name without"),
    (lambda: Sandbox(hostname="a\0b"), ValueError, "hostname must be a name without"),
    (lambda: Sandbox(hostname="x" * 256), ValueError, "hostname must have at most 255 characters"),
    # limits, network, switches
    (
        lambda: Sandbox(limits={"timeout": 5}),
        TypeError,
        "limits must be a Limits, not dict: Limits(**mapping)",
    ),
    (
        lambda: Sandbox(limits=3),
        TypeError,
        "limits must be a Limits, not 3 (int): Limits(timeout=5)",
    ),
    (lambda: Sandbox(limits=None), TypeError, "limits must be a Limits, not None"),
    (lambda: Sandbox(limits=Limits), TypeError, "limits must be a Limits, not the class Limits"),
    (
        lambda: Sandbox(network=True),
        TypeError,
        "network must be a NetworkPolicy, a mapping of hosts to functions, or None, not True: N",
    ),
    (
        lambda: Sandbox(network=["https://example.com"]),
        TypeError,
        "network must be a NetworkPolicy, a mapping of hosts to functions, or None, not list",
    ),
    (
        lambda: Sandbox(script_errexit=False),
        TypeError,
        "script_errexit must be 'sh', 'always' or 'never', not False",
    ),
    (lambda: Sandbox(sudo="yes"), TypeError, "sudo must be True or False, not 'yes' (str)"),
    (
        lambda: Sandbox(aliases={"bat": ["cat"]}),
        TypeError,
        "aliases['bat'] must be a str, not list: shlex.join(words)",
    ),
    (
        lambda: Sandbox(aliases={"a/b": "cat"}),
        ValueError,
        "a name in aliases must be a word without '/', not 'a/b'",
    ),
    (
        lambda: Sandbox(aliases={"cat": "cat -n"}),
        ValueError,
        "aliases['cat'] must be the words of another command, not 'cat -n'",
    ),
    (
        lambda: Sandbox(script_errexit="no"),
        ValueError,
        "script_errexit must be 'sh', 'always' or 'never', not 'no'",
    ),
    (
        lambda: Sandbox(skills_writable=1),
        TypeError,
        "skills_writable must be True or False, not 1 (int)",
    ),
    (
        lambda: Sandbox(jobs="kil"),
        ValueError,
        "jobs must be 'detach', 'wait' or 'kill', not 'kil'; did you mean 'kill'?",
    ),
    (
        lambda: Sandbox(isolation="proces"),
        ValueError,
        "isolation must be 'thread' or 'process', not 'proces'; did you mean 'process'?",
    ),
    (
        lambda: Sandbox(isolation=True),
        TypeError,
        "isolation must be 'thread' or 'process', not True",
    ),
    (lambda: Sandbox(jobs=None), TypeError, "jobs must be 'detach', 'wait' or 'kill', not None"),
    # skills and commands
    (
        lambda: Sandbox(skills="skills/hello"),
        TypeError,
        "skills must be a sequence of AgentSkill, not 'skills/hello' (str): AgentSkill",
    ),
    (
        lambda: Sandbox(skills=["skills/hello"]),
        TypeError,
        "skills[0] must be an AgentSkill, not 'skills/hello' (str): AgentSkill",
    ),
    (
        lambda: Sandbox(skills=[SKILL, Path("hello")]),
        TypeError,
        "skills[1] must be an AgentSkill, not PosixPath",
    ),
    (
        lambda: Sandbox(skills=SKILL),
        TypeError,
        "skills must be a sequence of AgentSkill, not AgentSkill: skills=[skill]",
    ),
    (lambda: Sandbox(skills=None), TypeError, "skills must be a sequence of AgentSkill, not None"),
    (lambda: Sandbox(skills=[SKILL, SKILL]), InvalidSkillError, "two skills are named 'hello'"),
    (
        lambda: SandboxOptions(skills=[SKILL, SKILL]),
        InvalidSkillError,
        "two skills are named 'hello'",
    ),
    (
        lambda: Sandbox(skills_mount_path="skills"),
        ValueError,
        "skills_mount_path must be an absolute path",
    ),
    (
        lambda: Sandbox(skills_mount_path="/"),
        ValueError,
        "skills_mount_path must be a directory below the root",
    ),
    (
        lambda: Sandbox(commands=[print]),
        TypeError,
        "commands[0] must be a command made by @command",
    ),
    (
        lambda: Sandbox(commands=shout),
        TypeError,
        "commands must be a sequence of commands, not Command: commands=[command]",
    ),
    (
        lambda: Sandbox(commands={"shout": shout}),
        TypeError,
        "commands[0] must be a command made by @command, not 'shout' (str)",
    ),
    (lambda: Sandbox(commands=[shout, shout]), ValueError, "two commands are named 'shout'"),
    (
        lambda: Sandbox(commands=[command("a/b", usage="Usage: a/b\n")(print)]),
        ValueError,
        "the name of commands[0] must be a word",
    ),
    # functions
    (
        lambda: Sandbox(on_command="rm"),
        TypeError,
        "on_command must be callable or None, not 'rm' (str)",
    ),
    (
        lambda: Sandbox(on_command=["rm"]),
        TypeError,
        "on_command must be callable or None, not list",
    ),
    (lambda: Sandbox(on_event=True), TypeError, "on_event must be callable or None, not True"),
    (
        lambda: Sandbox(on_event=async_function),
        TypeError,
        "on_event must be a plain function, not an async one",
    ),
    (
        lambda: Sandbox(on_event=AsyncObserver()),
        TypeError,
        "on_event must be a plain function, not an async one",
    ),
    (
        lambda: Sandbox(clock=1_700_000_000),
        TypeError,
        "clock must be callable or None, not 1700000000 (int)",
    ),
    (
        lambda: Sandbox(clock=lambda: "noon"),
        TypeError,
        "clock must return seconds since the epoch, not 'noon' (str)",
    ),
    (
        lambda: Sandbox(clock=lambda: float("nan")),
        ValueError,
        "clock must return a finite number of seconds",
    ),
    (lambda: Sandbox(clock=async_function), TypeError, "clock must be a plain function"),
    (lambda: Sandbox(seed="1"), TypeError, "seed must be an int or None, not '1' (str)"),
    (lambda: Sandbox(seed=True), TypeError, "seed must be an int or None, not True"),
    # options as a value
    (
        lambda: OPTIONS.model_copy(update={}),
        AttributeError,
        "options.clone(…) makes a changed copy",
    ),
    (lambda: OPTIONS.limit, AttributeError, "no attribute 'limit'; did you mean 'limits'?"),
    (
        lambda: setattr(OPTIONS, "limits", Limits()),
        AttributeError,
        "immutable: use options.clone(limits=…)",
    ),
    (lambda: OPTIONS.clone(limit=Limits()), TypeError, "no option 'limit'; did you mean 'limits'?"),
    (lambda: OPTIONS.clone(limits=None), TypeError, "limits must be a Limits, not None"),
    # their parts
    (lambda: Limits(timeout="5"), TypeError, "Limits.timeout takes a number, not '5'"),
    (
        lambda: Limits(timeout=float("inf")),
        ValueError,
        "Limits.timeout must be positive and finite",
    ),
    (lambda: Limits(timeout=10**400), ValueError, "Limits.timeout must be positive and finite"),
    (lambda: Limits(files=-1), ValueError, "Limits.files must be positive and finite"),
    (lambda: Limits(steps=True), TypeError, "Limits.steps takes an integer, not True"),
    (lambda: Limits(steps=1e6), TypeError, "Limits.steps takes an integer, not 1000000.0"),
    (lambda: Limits(memory=5), TypeError, "Limits has no limit 'memory': there are depth,"),
    (
        lambda: NetworkPolicy("https://example.com"),
        TypeError,
        "allow must be a sequence of str, not 'https://example.com': allow=[…]",
    ),
    (lambda: NetworkPolicy(None), TypeError, "allow must be a sequence of str, not None"),
    (lambda: NetworkPolicy([5]), TypeError, "allow must hold str, not 5"),
    (lambda: NetworkPolicy(["example.com"]), ValueError, "not an http or https URL: 'example.com'"),
    (lambda: NetworkPolicy(allow_private="no"), TypeError, "must be True, False or a list"),
    (lambda: NetworkPolicy(timeout="5"), TypeError, "timeout must be a number of seconds, not '5'"),
    (lambda: NetworkPolicy(timeout=float("nan")), ValueError, "must be positive and finite"),
    (
        lambda: NetworkPolicy(headers={"example.com": "secret"}),
        TypeError,
        "headers['example.com'] must map names to values, not str",
    ),
    (
        lambda: AgentSkill.from_files(["SKILL.md"]),
        TypeError,
        "files must be a mapping of paths to contents, not list",
    ),
    (
        lambda: AgentSkill.from_files({"SKILL.md": 5}),
        TypeError,
        "has a str for its path and str or bytes in it, not 'SKILL.md': 5",
    ),
    (lambda: analyze(b"echo"), TypeError, "script must be a str, not bytes"),
]

EXECUTION = [
    (lambda s: s.execute(b"echo"), TypeError, "script must be a str, not b'echo' (bytes)"),
    (
        lambda s: s.execute(["echo", "a"]),
        TypeError,
        "script must be a str, not list: shlex.join(words)",
    ),
    (
        lambda s: s.execute(Path("run.sh")),
        TypeError,
        "script must be a str, not PosixPath: path.read_text()",
    ),
    (lambda s: s.execute(None), TypeError, "script must be a str, not None"),
    (lambda s: s.execute("", tmeout=1), TypeError, "no option 'tmeout'; did you mean 'timeout'?"),
    (
        lambda s: s.execute("", isolated=True),
        TypeError,
        "no option 'isolated'; write state='discard'",
    ),
    (lambda s: s.execute("", fresh=True), TypeError, "no option 'fresh'; write state='new'"),
    (
        lambda s: s.execute("", timeout="5"),
        TypeError,
        "timeout must be a number of seconds, not '5' (str)",
    ),
    (
        lambda s: s.execute("", timeout=True),
        TypeError,
        "timeout must be a number of seconds, not True",
    ),
    (
        lambda s: s.execute("", timeout=-1),
        ValueError,
        "timeout must be positive and finite, not -1",
    ),
    (lambda s: s.execute("", timeout=0), ValueError, "timeout must be positive and finite, not 0"),
    (
        lambda s: s.execute("", timeout=float("nan")),
        ValueError,
        "timeout must be positive and finite, not nan",
    ),
    (
        lambda s: s.execute("", timeout=float("inf")),
        ValueError,
        "timeout must be positive and finite, not inf",
    ),
    (lambda s: s.execute("", timeout=10**400), ValueError, "timeout must be positive and finite"),
    (
        lambda s: s.execute("", args="abc"),
        TypeError,
        "args must be a sequence of str, not 'abc' (str): args=[word]",
    ),
    (lambda s: s.execute("", args=""), TypeError, "args must be a sequence of str, not '' (str)"),
    (lambda s: s.execute("", args=["a", 5]), TypeError, "args[1] must be a str, not 5 (int)"),
    (lambda s: s.execute("", args=[Path("a")]), TypeError, "args[0] must be a str, not PosixPath"),
    (
        lambda s: s.execute("", args=(word for word in "ab")),
        TypeError,
        "args must be a sequence of str, not generator",
    ),
    (lambda s: s.execute("", args={"a": 1}), TypeError, "args must be a sequence of str, not dict"),
    (lambda s: s.execute("", args=["a\0b"]), ValueError, "args[0] must not contain NUL"),
    (
        lambda s: s.execute("", stdin=5),
        TypeError,
        "stdin must be str, bytes, a HostInput or None, not 5 (int)",
    ),
    (
        lambda s: s.execute("", stdin=["a"]),
        TypeError,
        "stdin must be str, bytes, a HostInput or None, not list",
    ),
    (
        lambda s: s.execute("", stdin=io.StringIO("a")),
        TypeError,
        "stdin must be str, bytes, a HostInput or None, not StringIO",
    ),
    (lambda s: s.execute("", env={"A": 1}), TypeError, "env['A'] must be a str, not 1 (int)"),
    (lambda s: s.execute("", env={"A=": "1"}), ValueError, "a name in env must be not empty"),
    (lambda s: s.execute("", env="A=1"), TypeError, "env must be a mapping of names to values"),
    (
        lambda s: s.execute("", cwd="nowhere"),
        FileNotFoundError,
        "No such file or directory: 'nowhere'",
    ),
    (
        lambda s: s.execute("", cwd="/etc/passwd"),
        NotADirectoryError,
        "Not a directory: '/etc/passwd'",
    ),
    (lambda s: s.execute("", cwd=""), ValueError, "cwd must be the path of a directory, not ''"),
    (lambda s: s.execute("", cwd=Path("/tmp")), TypeError, "cwd must be a str, not PosixPath"),
    (
        lambda s: s.execute("", state="isolated"),
        ValueError,
        "state must be 'keep', 'discard' or 'new', not 'isolated'",
    ),
    (lambda s: s.execute("", state="discrad"), ValueError, "did you mean 'discard'?"),
    (
        lambda s: s.execute("", state=True),
        TypeError,
        "state must be 'keep', 'discard' or 'new', not True",
    ),
    (
        lambda s: s.execute("", on_output=[]),
        TypeError,
        "on_output must be callable or None, not list",
    ),
    (
        lambda s: s.execute("", on_output=async_function),
        TypeError,
        "on_output must be a plain function, not an async one",
    ),
    (lambda s: s.execute("", on_command="rm"), TypeError, "on_command must be callable or None"),
    (
        lambda s: s.execute("", on_command=async_function),
        TypeError,
        "on_command is async: use `await sandbox.aexecute(…)`",
    ),
    (lambda s: s.stream("", on_output=print), TypeError, "no option 'on_output'"),
    (lambda s: s.stream(b""), TypeError, "script must be a str"),
    (lambda s: next(s.stream("", cwd="nowhere")), FileNotFoundError, "nowhere"),
    (lambda s: s.stream("").result, SandboxError, "the script has not ended"),
    (lambda s: s.astream("", timeout="5"), TypeError, "timeout must be a number of seconds"),
    (
        lambda s: s.restore(None),
        TypeError,
        "snapshot must be what Sandbox.snapshot() returned, not NoneType",
    ),
    (
        lambda s: s.restore(s.fs.snapshot()),
        TypeError,
        "snapshot must be what Sandbox.snapshot() returned",
    ),
    (
        lambda s: s.restore(Sandbox().snapshot()),
        SandboxError,
        "this snapshot is of another sandbox",
    ),
    (lambda s: s.diff(Sandbox().snapshot()), SandboxError, "this snapshot is of another sandbox"),
    (
        lambda s: s.diff("before"),
        TypeError,
        "snapshot must be what Sandbox.snapshot() returned, not str",
    ),
    (
        lambda s: s.mount_skill("hello"),
        TypeError,
        "skill must be an AgentSkill, not 'hello' (str): AgentSkill.from_path",
    ),
    (
        lambda s: s.mount_skill(SKILL, "hello"),
        ValueError,
        "path must be an absolute path, not 'hello'",
    ),
]

CLOSED = [
    (lambda s: s.execute("echo"), "this sandbox is closed"),
    (lambda s: next(s.stream("echo")), "this sandbox is closed"),
    (lambda s: asyncio.run(s.aexecute("echo")), "this sandbox is closed"),
    (lambda s: s.fork(), "this sandbox is closed"),
    (lambda s: s.snapshot(), "this sandbox is closed"),
    (lambda s: s.mount_skill(SKILL), "this sandbox is closed"),
    (lambda s: s.env, "this sandbox is closed"),
]

MANAGER = [
    (lambda: SandboxManager({"env": {}}), TypeError, "options must be a SandboxOptions, not dict"),
    (
        lambda: SandboxManager(inactivity_timeout="60"),
        TypeError,
        "inactivity_timeout must be a number of seconds",
    ),
    (
        lambda: SandboxManager(inactivity_timeout=-1),
        ValueError,
        "inactivity_timeout must be positive and finite",
    ),
    (lambda: SandboxManager(max_sandboxes=0), ValueError, "max_sandboxes must be positive, not 0"),
    (
        lambda: SandboxManager(max_sandboxes=1.5),
        TypeError,
        "max_sandboxes must be an int, not 1.5 (float)",
    ),
    (
        lambda: SandboxManager().create(OPTIONS),
        TypeError,
        "id must be a str, not SandboxOptions: give them by name, options=…",
    ),
    (
        lambda: SandboxManager().create("a", Limits()),
        TypeError,
        "options must be a SandboxOptions, not Limits",
    ),
    (lambda: SandboxManager().create(5), TypeError, "id must be a str, not 5 (int)"),
    (lambda: SandboxManager().get(5), TypeError, "id must be a str, not 5 (int)"),
    (
        lambda: SandboxManager().get_or_create(OPTIONS),
        TypeError,
        "id must be a str, not SandboxOptions",
    ),
    (
        lambda: SandboxManager().get_or_create("a", {"env": {}}),
        TypeError,
        "options must be a SandboxOptions",
    ),
    (lambda: SandboxManager().destroy(None), TypeError, "id must be a str, not None"),
]


def number(value: object) -> str:
    return str(value) if isinstance(value, str) else ""


@pytest.mark.parametrize(("mistake", "error", "message"), CONSTRUCTOR + MANAGER, ids=number)
def test_making_one(mistake, error, message) -> None:
    with pytest.raises(error) as raised:
        mistake()
    assert message in str(raised.value)


@pytest.mark.parametrize(("mistake", "error", "message"), EXECUTION, ids=number)
def test_using_one(mistake, error, message) -> None:
    with Sandbox() as sandbox:
        sandbox.execute("x=1; cd /tmp")
        with pytest.raises(error) as raised:
            mistake(sandbox)
        assert message in str(raised.value)
        assert sandbox.execute("echo $x; pwd").stdout == "1\n/tmp\n"


@pytest.mark.parametrize(("mistake", "message"), CLOSED)
def test_a_closed_sandbox(mistake, message) -> None:
    sandbox = Sandbox(files={"a": "kept"})
    sandbox.execute("cd /tmp")
    before = sandbox.snapshot()
    sandbox.close()
    with pytest.raises(ClosedError, match=message):
        mistake(sandbox)
    with pytest.raises(ClosedError):
        sandbox.restore(before)
    assert not sandbox.cancel()
    assert (sandbox.fs.read_bytes("/workspace/a"), sandbox.cwd, sandbox.stats().executions) == (
        b"kept",
        "/tmp",
        1,
    )


def test_a_closed_manager() -> None:
    manager = SandboxManager()
    sandbox = manager.create("a")
    manager.close()
    manager.close()
    assert sandbox.closed
    for use in (manager.create, lambda: manager.get("a"), lambda: manager.get_or_create("a")):
        with pytest.raises(ClosedError, match="this SandboxManager is closed"):
            use()
    assert (manager.list(), manager.destroy("a"), len(manager)) == ((), False, 0)


def test_no_option_gets_lost() -> None:
    refused = Sandbox(options=OPTIONS).execute("echo never")
    assert (refused.exit_code, refused.stdout) == (126, "")
    assert Sandbox("a", OPTIONS).execute("echo never").exit_code == 126
    allowed = Sandbox("a", OPTIONS, on_command=None).execute("while [ 1 ]; do :; done")
    assert (allowed.exit_code, allowed.limit) == (124, "timeout")
    assert SandboxManager(OPTIONS).create("a").execute("echo never").exit_code == 126
    assert SandboxManager().get_or_create("a", OPTIONS).execute("echo never").exit_code == 126


def test_what_is_given_may_change_afterwards() -> None:
    files: dict[str, str | bytes] = {"a": bytearray(b"1")}
    env = {"A": "1"}
    skills = [SKILL]
    options = SandboxOptions(files=files, env=env, skills=skills)
    files.clear(), env.clear(), skills.clear()
    sandbox = Sandbox(options=options)
    assert sandbox.execute("cat a; echo $A; ls /.sandbox/skills").stdout == "11\nhello\n"
    with pytest.raises(TypeError):
        options.env["A"] = "2"  # type: ignore[index]


# in the middle of an execution


def refused_inside(*, asynchronous: bool, attempt) -> str:
    """What an attempt from inside a command of the host raises."""
    seen: list[str] = []

    def note(ctx: CommandContext, args: Arguments) -> int:
        with pytest.raises(SandboxError) as raised:
            attempt(sandbox)
        seen.append(str(raised.value))
        return 0

    sandbox = Sandbox(commands=[command("attempt", usage="Usage: attempt\n")(note)])
    result = (
        asyncio.run(sandbox.aexecute("attempt")) if asynchronous else sandbox.execute("attempt")
    )
    assert (result.exit_code, sandbox.execute("echo alive").stdout) == (0, "alive\n")
    return seen[0]


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize(
    "attempt",
    [
        lambda sandbox: sandbox.execute("echo"),
        lambda sandbox: next(sandbox.stream("echo")),
        lambda sandbox: sandbox.restore(sandbox.snapshot()),
    ],
)
def test_from_inside_a_command(asynchronous, attempt) -> None:
    message = refused_inside(asynchronous=asynchronous, attempt=attempt)
    assert "this sandbox is executing a script: inside a command use `ctx.run(…)`" in message


def test_from_a_policy_and_from_on_output() -> None:
    def policy(request: CommandRequest) -> None:
        with pytest.raises(
            SandboxError, match="a policy, an observer and on_output have to wait for the end"
        ):
            sandbox.execute("echo")

    sandbox = Sandbox(on_command=policy)
    assert (
        sandbox.execute("echo fine", on_output=lambda stream, data: policy(None)).stdout == "fine\n"
    )


def test_from_an_observer() -> None:
    messages = []

    def observer(event: object) -> None:
        if type(event).__name__ == "CommandExecuted":
            with pytest.raises(SandboxError) as raised:
                sandbox.execute("echo again")
            messages.append(str(raised.value))

    sandbox = Sandbox(on_event=observer)
    assert sandbox.execute("echo fine").stdout == "fine\n"
    assert sandbox.execute("echo fine").stdout == "fine\n"
    assert (
        messages
        == [
            (
                "an observer must not use the sandbox that it observes: note the event and act "
                "on it later"
            )
        ]
        * 2
    )


@pytest.mark.parametrize(
    "run", [asyncio.run, lambda main: trio.run(lambda: main)], ids=["asyncio", "trio"]
)
def test_awaiting_the_sandbox_that_waits(run) -> None:
    """An async command that awaits its own sandbox would wait for itself."""
    seen = []

    @command("again", usage="Usage: again\n")
    async def again(ctx: CommandContext, args: Arguments) -> int:
        with pytest.raises(SandboxError) as raised:
            await sandbox.aexecute("echo")
        seen.append(str(raised.value))
        return 0

    async def main() -> str:
        return (await sandbox.aexecute("again && echo fine")).stdout

    sandbox = Sandbox(commands=[again])
    assert run(main()) == "fine\n"
    assert seen == [
        "this sandbox is executing the command or policy that waits here: use `ctx.run(…)`"
    ]


def test_execute_beside_aexecute_in_one_thread() -> None:
    """It cannot wait, because the other one goes on only when the loop does."""

    async def main() -> str:
        sandbox = Sandbox()
        task = asyncio.create_task(sandbox.aexecute("sleep 0.2; echo first"))
        await asyncio.sleep(0.05)
        with pytest.raises(
            SandboxError, match=r"beside other tasks `await sandbox\.aexecute\(…\)`, which waits"
        ):
            sandbox.execute("echo second")
        second = await sandbox.aexecute("echo second")
        return (await task).stdout + second.stdout

    assert asyncio.run(main()) == "first\nsecond\n"


def test_execute_in_a_running_loop_and_loops_in_loops() -> None:
    async def main() -> str:
        sandbox = Sandbox()
        coroutine = sandbox.aexecute("echo")
        with pytest.raises(RuntimeError, match="running event loop"):
            asyncio.run(coroutine)
        coroutine.close()
        with pytest.raises(TypeError, match="ExecutionResult"):
            await sandbox.execute("echo")  # type: ignore[misc]
        return sandbox.execute("echo fine").stdout

    assert asyncio.run(main()) == "fine\n"


def test_aexecute_without_a_loop() -> None:
    with pytest.raises(RuntimeError, match="no running event loop"):
        Sandbox().aexecute("echo").send(None)


def test_an_async_policy_needs_a_loop() -> None:
    async def policy(request: CommandRequest) -> bool:
        return True

    sandbox = Sandbox(on_command=policy)
    with pytest.raises(TypeError, match="on_command is async"):
        sandbox.execute("echo")
    with pytest.raises(TypeError, match="on_command is async"):
        sandbox.stream("echo")
    assert asyncio.run(sandbox.aexecute("echo fine")).stdout == "fine\n"


def test_a_stream_belongs_to_its_thread() -> None:
    sandbox = Sandbox()
    chunks = sandbox.stream("echo a; echo b")
    assert next(chunks) == ("stdout", b"a\n")
    raised: list[BaseException] = []

    def elsewhere() -> None:
        try:
            next(chunks)
        except SandboxError as error:
            raised.append(error)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert "in the thread that began to read it" in str(raised[0])
    assert list(chunks) == [("stdout", b"b\n")]
