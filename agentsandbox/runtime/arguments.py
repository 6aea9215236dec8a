"""What the public API accepts: each check names the argument, says what it takes, and offers the
nearest name.

A value of the wrong kind raises `TypeError`, one that cannot be right `ValueError`. Nothing is
converted silently: the number 5 is not a file of five bytes, and `True` is not one second. This
module is imported when there is something to check, so that a sandbox with default options does not
pay for it.
"""

from __future__ import annotations

import math
import posixpath
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

from agentsandbox.errors import InvalidSkillError
from agentsandbox.limits import Limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

STATES = ("keep", "discard", "new")
JOBS = ("detach", "wait", "kill")
ISOLATION = ("thread", "process")
SCRIPT_ERREXIT = ("sh", "always", "never")
NAME_MAX = 255
SHOWN = 40
"""Characters of a refused text that a message shows."""
CO_COROUTINE = 0x80
"""The flag of `async def` in a code object, as in `inspect`, which is slow to import."""

RENAMED = {"isolated": "state='discard'", "fresh": "state='new'"}
"""Arguments of `execute` until version 0.1, and what says the same."""


# wording


def wrong_type(argument: str, accepted: str, value: object, hint: str = "") -> TypeError:
    """The error for a value of the wrong kind."""
    return TypeError(
        f"{argument} must be {accepted}, not {_described(value)}{f': {hint}' if hint else ''}"
    )


def wrong_value(argument: str, accepted: str, value: object) -> ValueError:
    """The error for a value of the right kind that is not accepted."""
    return ValueError(f"{argument} must be {accepted}, not {_quoted(value)}")


def nearest(name: object, names: Iterable[str]) -> str:
    """Return "; did you mean …?" with the nearest of `names`, or "" when none is near."""
    import difflib

    near = difflib.get_close_matches(str(name), list(names), 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _described(value: object) -> str:
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, (int, float, str, bytes)):
        return f"{_quoted(value)} ({type(value).__name__})"
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__


def _quoted(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


# options


def checked_options(given: Mapping[str, Any]) -> dict[str, object]:
    """Return the options in `given` as they are stored; refuse unknown ones and wrong values."""
    values: dict[str, object] = {}
    for name, value in given.items():
        check = CHECKS.get(name)
        if check is None:
            raise TypeError(_unknown_option(name))
        values[name] = check(name, value)
    return values


def _unknown_option(name: str) -> str:
    if name in Limits.__slots__:
        return f"Sandbox has no option {name!r}: it is a limit, limits=Limits({name}=…)"
    return f"Sandbox has no option {name!r}{nearest(name, CHECKS)}"


def _text(argument: str, value: object) -> str:
    if not isinstance(value, str):
        raise wrong_type(argument, "a str", value)
    return value


def _flag(argument: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise wrong_type(argument, "True or False", value)
    return value


def _one_of(names: tuple[str, ...], argument: str, value: object) -> str:
    if isinstance(value, str) and value in names:
        return value
    accepted = " or ".join((", ".join(map(repr, names[:-1])), repr(names[-1])))
    if not isinstance(value, str):
        raise wrong_type(argument, accepted, value)
    raise ValueError(f"{argument} must be {accepted}, not {_quoted(value)}{nearest(value, names)}")


def _absolute_path(argument: str, value: object) -> str:
    path = _text(argument, value)
    if not path.startswith("/") or "\0" in path:
        raise wrong_value(argument, "an absolute path", path)
    return path


def _mount_point(argument: str, value: object) -> str:
    """An absolute path without "..", not the root; returned without needless slashes and dots."""
    path = _absolute_path(argument, value)
    if ".." in path.split("/"):
        raise wrong_value(argument, "a path without '..'", path)
    normal = "/" + posixpath.normpath(path).strip("/")
    if normal == "/":
        raise wrong_value(argument, "a directory below the root", path)
    return normal


def _account_name(argument: str, value: object) -> str:
    """A name that may stand in /etc/passwd, /etc/hosts and in a path."""
    name = _text(argument, value)
    if (
        not name
        or not name.isprintable()
        or any(character in name for character in "/: ")
        or name in (".", "..")
        or name.startswith("-")
    ):
        raise wrong_value(argument, "a name without '/', ':', spaces and control characters", name)
    if len(name) > NAME_MAX:
        raise ValueError(f"{argument} must have at most {NAME_MAX} characters, not {len(name)}")
    return name


def _mapping(argument: str, accepted: str, value: object) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise wrong_type(argument, f"a mapping of {accepted}", value)
    return value


def _environment(argument: str, value: object) -> Mapping[str, str]:
    variables = dict(_mapping(argument, "names to values", value))
    for name, text in variables.items():
        if not isinstance(name, str):
            raise wrong_type(f"a name in {argument}", "a str", name)
        if not name or "=" in name or "\0" in name:
            raise wrong_value(f"a name in {argument}", "not empty, without '=' and NUL", name)
        if not isinstance(text, str):
            hint = (
                "os.fsdecode(value) makes a str of bytes"
                if isinstance(text, bytes)
                else "str(value) makes one"
            )
            raise wrong_type(f"{argument}[{name!r}]", "a str", text, hint)
        if "\0" in text:
            raise ValueError(f"{argument}[{name!r}] must not contain NUL")
    return MappingProxyType(variables)


def _files(argument: str, value: object) -> Mapping[str, str | bytes]:
    files: dict[str, str | bytes] = {}
    for path, content in _mapping(argument, "paths to contents", value).items():
        if not isinstance(path, str):
            raise wrong_type(f"a path in {argument}", "a str", path)
        if "\0" in path or posixpath.basename(path) in ("", ".", ".."):
            raise wrong_value(f"a path in {argument}", "the path of a file", path)
        if isinstance(content, (bytearray, memoryview)):
            content = bytes(content)
        elif not isinstance(content, (str, bytes)):
            hint = (
                "path.read_bytes() has the content of a file of the host"
                if hasattr(content, "read_bytes")
                else ""
            )
            hint = "file.read() has the content" if hasattr(content, "read") else hint
            raise wrong_type(f"{argument}[{path!r}]", "str or bytes", content, hint)
        files[path] = content
    return MappingProxyType(files)


def _mounts(argument: str, value: object) -> Mapping[str, object]:
    from agentsandbox.kernel.fs.base import FileSystem

    mounts: dict[str, object] = {}
    for path, filesystem in _mapping(argument, "paths to filesystems", value).items():
        point = _mount_point(f"a path in {argument}", path)
        if not isinstance(filesystem, FileSystem):
            folder = isinstance(filesystem, str) or hasattr(filesystem, "__fspath__")
            hint = (
                "HostFileSystem(folder, read_only=True) has a folder of the host" if folder else ""
            )
            raise wrong_type(f"{argument}[{path!r}]", "a FileSystem", filesystem, hint)
        if point in mounts:
            raise ValueError(f"{argument} has {point!r} twice")
        mounts[point] = filesystem
    return MappingProxyType(mounts)


def _items(argument: str, accepted: str, value: object, hint: str) -> tuple[object, ...]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise wrong_type(argument, f"a sequence of {accepted}", value, hint)
    return tuple(value)


def _skills(argument: str, value: object) -> tuple[object, ...]:
    if type(value) is tuple and not value:
        return value
    from agentsandbox.skills import AgentSkill

    hint = "AgentSkill.from_path(folder) reads one, catalog.skills() has those of a catalog"
    if isinstance(value, AgentSkill):
        hint = f"{argument}=[skill]"
    skills = _items(argument, "AgentSkill", value, hint)
    names = []
    for number, skill in enumerate(skills):
        if not isinstance(skill, AgentSkill):
            raise wrong_type(f"{argument}[{number}]", "an AgentSkill", skill, hint)
        names.append(skill.name)
    problems = [f"two skills are named {name!r}" for name in _repeated(names)]
    if problems:
        raise InvalidSkillError("; ".join(problems), problems)
    return skills


def _commands(argument: str, value: object) -> tuple[object, ...]:
    from agentsandbox.contract.command import Command

    commands = _items(
        argument, "commands", value, f"{argument}=[command]" if isinstance(value, Command) else ""
    )
    names = []
    for number, item in enumerate(commands):
        if not isinstance(item, Command):
            hint = (
                f"@command(name, usage=…) makes one of {getattr(item, '__name__', 'a function')}"
                if callable(item)
                else ""
            )
            raise wrong_type(f"{argument}[{number}]", "a command made by @command", item, hint)
        if not item.name or any(character in item.name for character in "/\0 \t\n"):
            raise wrong_value(f"the name of {argument}[{number}]", "a word without '/'", item.name)
        names.append(item.name)
    for name in _repeated(names):
        raise ValueError(f"two {argument} are named {name!r}")
    return commands


def _aliases(argument: str, value: object) -> Mapping[str, str]:
    """Return names of commands with the words that they are for."""
    import shlex

    found = dict(_mapping(argument, "names to commands", value))
    for name, text in found.items():
        if not isinstance(name, str):
            raise wrong_type(f"a name in {argument}", "a str", name)
        if not name or any(character in name for character in "/\0 \t\n"):
            raise wrong_value(f"a name in {argument}", "a word without '/'", name)
        if not isinstance(text, str):
            hint = "shlex.join(words) makes one of words" if isinstance(text, (list, tuple)) else ""
            raise wrong_type(f"{argument}[{name!r}]", "a str", text, hint)
        try:
            words = shlex.split(text)
        except ValueError:
            words = []
        if not words or words[0] == name or "\0" in text:
            raise wrong_value(f"{argument}[{name!r}]", "the words of another command", text)
    return MappingProxyType(found)


def _python(argument: str, value: object) -> object:
    """Return the runtime: the default one for True."""
    if value is None or value is False:
        return None
    from agentsandbox.python.runtime import PythonRuntime, default_runtime

    if value is True:
        return default_runtime()
    if not isinstance(value, PythonRuntime):
        raise wrong_type(argument, "a PythonRuntime, True or False", value)
    return value


def _javascript(argument: str, value: object) -> object:
    """Return the runtime: the default one for True."""
    if value is None or value is False:
        return None
    from agentsandbox.javascript.runtime import JavaScriptRuntime, default_runtime

    if value is True:
        return default_runtime()
    if not isinstance(value, JavaScriptRuntime):
        raise wrong_type(argument, "a JavaScriptRuntime, True or False", value)
    return value


def _repeated(names: list[str]) -> list[str]:
    if len(set(names)) == len(names):
        return []
    return sorted({name for name in names if names.count(name) > 1})


def _limits(argument: str, value: object) -> Limits:
    if not isinstance(value, Limits):
        hint = (
            "Limits(timeout=5)"
            if not isinstance(value, Mapping)
            else "Limits(**mapping) makes one of a mapping"
        )
        raise wrong_type(argument, "a Limits", value, hint)
    return value


def _network(argument: str, value: object) -> object:
    if value is None:
        return None
    from agentsandbox.network import NetworkPolicy

    if isinstance(value, Mapping):
        return NetworkPolicy(hosts=value)
    if not isinstance(value, NetworkPolicy):
        raise wrong_type(
            argument,
            "a NetworkPolicy, a mapping of hosts to functions, or None",
            value,
            "NetworkPolicy(allow=['https://…']) says what is allowed",
        )
    return value


def _callable(argument: str, value: object) -> object:
    if value is not None and not callable(value):
        raise wrong_type(argument, "callable or None", value)
    return value


def _plain_function(argument: str, value: object) -> object:
    if _callable(argument, value) is not None and is_async(value):
        raise TypeError(f"{argument} must be a plain function, not an async one: nothing awaits it")
    return value


def is_async(function: object) -> bool:
    """Whether calling it returns a coroutine, as far as can be seen without calling it."""
    while isinstance(function, partial):
        function = function.func
    code = getattr(function, "__code__", None)
    if code is None:  # an object that can be called
        code = getattr(vars(type(function)).get("__call__"), "__code__", None)
    return bool(code is not None and code.co_flags & CO_COROUTINE)


def _clock(argument: str, value: object) -> object:
    if _plain_function(argument, value) is not None:
        now = value()  # type: ignore[operator]
        if isinstance(now, bool) or not isinstance(now, (int, float)):
            raise TypeError(
                f"{argument} must return seconds since the epoch, not {_described(now)}"
            )
        if not math.isfinite(now):
            raise ValueError(f"{argument} must return a finite number of seconds, not {now!r}")
    return value


def _seed(argument: str, value: object) -> object:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise wrong_type(argument, "an int or None", value)
    return value


CHECKS: dict[str, Callable[[str, object], object]] = {
    "skills": _skills,
    "skills_mount_path": _mount_point,
    "skills_writable": _flag,
    "files": _files,
    "mounts": _mounts,
    "env": _environment,
    "cwd": _absolute_path,
    "user": _account_name,
    "hostname": _account_name,
    "commands": _commands,
    "python": _python,
    "javascript": _javascript,
    "limits": _limits,
    "network": _network,
    "aliases": _aliases,
    "sudo": _flag,
    "script_errexit": partial(_one_of, SCRIPT_ERREXIT),
    "jobs": partial(_one_of, JOBS),
    "isolation": partial(_one_of, ISOLATION),
    "on_command": _callable,
    "on_event": _plain_function,
    "clock": _clock,
    "seed": _seed,
}


def check_skill(skill: object, path: object) -> None:
    """Refuse what `Sandbox.mount_skill` does not take."""
    from agentsandbox.skills import AgentSkill

    if not isinstance(skill, AgentSkill):
        raise wrong_type("skill", "an AgentSkill", skill, "AgentSkill.from_path(folder) reads one")
    if path is not None:
        _mount_point("path", path)


# one execution


def check_call(
    script: object,
    stdin: object,
    timeout: object,
    env: object,
    cwd: object,
    args: object,
    state: object,
    on_output: object,
    on_command: object,
    unknown: Mapping[str, object],
) -> None:
    """Refuse arguments of `execute`, `aexecute`, `stream` and `astream` that are not accepted."""
    for name in unknown:
        instead = f"; write {RENAMED[name]}" if name in RENAMED else nearest(name, CALL)
        raise TypeError(f"an execution has no option {name!r}{instead}")
    if not isinstance(script, str):
        hint = "shlex.join(words) makes one of words" if isinstance(script, (list, tuple)) else ""
        hint = "path.read_text() has the text of a file" if hasattr(script, "read_text") else hint
        raise wrong_type("script", "a str", script, hint)
    if not (stdin is None or isinstance(stdin, (str, bytes, bytearray, memoryview))):
        _check_input(stdin)
    if timeout is not None:
        check_seconds("timeout", timeout)
    if env is not None:
        _environment("env", env)
    if cwd is not None and (not _text("cwd", cwd) or "\0" in _text("cwd", cwd)):
        raise wrong_value("cwd", "the path of a directory", cwd)
    if args != ():
        _words("args", args)
    _one_of(STATES, "state", state)
    if on_output is not None:
        _plain_function("on_output", on_output)
    if on_command is not None:
        _callable("on_command", on_command)


def _check_input(stdin: object) -> None:
    from agentsandbox.host_input import HostInput

    if not isinstance(stdin, HostInput):
        hint = (
            "file.read() has the content, HostInput(file.fileno()) reads it as the script does"
            if hasattr(stdin, "read")
            else ""
        )
        raise wrong_type("stdin", "str, bytes, a HostInput or None", stdin, hint)


CALL = ("stdin", "timeout", "env", "cwd", "args", "state", "on_output", "on_command")


def check_seconds(argument: str, value: object, *, zero: bool = False) -> None:
    """Refuse what is not a positive and finite number of seconds; 0 is accepted with `zero`."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise wrong_type(argument, "a number of seconds", value)
    # NaN is not in between, either
    if not 0 <= value <= sys.float_info.max or (value == 0 and not zero):
        raise wrong_value(argument, "positive and finite", value)


def check_count(argument: str, value: object) -> None:
    """Refuse what is not a positive integer."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise wrong_type(argument, "an int", value)
    if value <= 0:
        raise wrong_value(argument, "positive", value)


def _words(argument: str, value: object) -> None:
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        raise wrong_type(
            argument,
            "a sequence of str",
            value,
            f"{argument}=[word]" if isinstance(value, str) else "",
        )
    for number, word in enumerate(value):
        if not isinstance(word, str):
            raise wrong_type(f"{argument}[{number}]", "a str", word)
        if "\0" in word:
            raise ValueError(f"{argument}[{number}] must not contain NUL")
