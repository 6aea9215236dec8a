"""The house rules, read from the source: layers, bans, sizes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from agentsandbox.shell.builtins import NAMES as BUILTINS

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "agentsandbox"

LAYERS = {
    "caching": 0, "errors": 0,
    "manners": 0,
    "broken_streams": 1, "limits": 1, "streams": 1, "processes": 1, "usage": 1, "patterns": 1, "stars": 1, "globs": 1,
    "regexps": 1, "quoting": 1, "result": 1, "events": 1,
    "fs": 2, "syntax": 2, "network": 2,
    "analysis": 3, "command": 3, "host_input": 3, "expansion": 3, "files": 3, "languages": 3, "skills": 3,
    "commands": 4, "interpreter": 4, "validation": 4,
    "sandbox": 5, "options": 5, "driver": 5, "streaming": 5, "policy": 5, "observation": 5,
    "tools": 6, "manager": 6,
    "integrations": 7, "cli": 7, "__init__": 7, "__main__": 7,
}  # fmt: skip
"""A module imports from lower layers or from its own package."""

NEIGHBOURS = {
    "broken_streams": {"streams"},
    "streams": {"limits"},
    "result": {"streams"},
    "patterns": {"limits", "stars", "streams"},
    "globs": {"patterns"},
    "regexps": {"limits", "streams", "patterns"},
    "processes": {"limits", "streams"},
    "usage": {"limits", "streams"},
    "quoting": {"streams"},
    "files": {"expansion"},
    "interpreter": {"commands"},
    "skills": {"analysis"},
    "__main__": {"cli"},
    "cli": {"integrations"},
    "sandbox": {"driver", "observation", "options", "policy", "streaming"},
    "streaming": {"driver"},
}
"""In the layer of the single modules one may stand on another; the interpreter knows the table of commands,
the command line serves what is integrated."""

CIRCLES = {
    "interpreter": "a shell runs commands, and commands run shells: the circle is closed inside functions",
    "syntax": "the parser of `[[` reads words of the grammar that it is a part of",
}
"""Rooms whose modules may import each other in a circle, inside functions; at the top of modules none may."""

LIMIT = 600
LONG_FILES = {
    "shell/expansion/variables.py": "every kind of variable and its attributes",
    "shell/interpreter/shell.py": "the state of a shell",
    "commands/bc/program.py": "every statement and function of bc and dc",
    "commands/sed/parser.py": "the grammar of sed",
    "sandbox.py": "the public methods of a sandbox",
    "shell/syntax/parser.py": "the grammar of the shell",
}
"""Files that may be longer, and the one idea that makes them so."""

VAGUE = {"utils", "util", "helpers", "helper", "common", "core", "misc"}

BORDER = {
    "streams.py": "is the border",
    "commands/jq": "the length of a JSON text in UTF-8",
}
"""Modules that may turn bytes into text."""

BANNED_IMPORTS = {
    "subprocess", "ctypes", "socket", "pickle", "marshal", "shelve", "multiprocessing", "threading", "code", "codeop", "pty",
    "runpy", "imp", "dbm", "webbrowser", "http.client", "urllib.request", "ftplib", "smtplib", "signal", "tempfile", "shutil",
}  # fmt: skip
ALLOWED_IMPORTS = {
    "threading": {"manager.py", "sandbox.py", "interpreter/compiler.py"},
    "shutil": {"cli"},
    "signal": {"cli"},
    "tempfile": {"cli"},
}
BANNED_CALLS = {"eval", "exec", "compile", "__import__", "input", "breakpoint"}
ALLOWED_CALLS = {"commands/awk": {"exec", "compile"}}
HOST_FILES = {
    "files/folders.py", "skills/sources/files.py", "skills/catalog/catalog.py", "kernel/fs/overlay.py", "kernel/fs/host.py", "cli",
    "commands/sqlite3/memory.py",
}  # fmt: skip
"""Modules that may open files of the host: what the program names, and the size of its own process."""
BANNED_OS = {
    "system", "popen", "fork", "forkpty", "kill", "execv", "execve", "spawnv", "startfile",
    "environ", "getenv", "putenv", "getcwd", "chdir",
}  # fmt: skip
DYNAMIC_GETATTR = {
    "analysis.py": "slots of nodes", "__init__.py": "lazy names", "skills/__init__.py": "lazy names", "cli": "lazy commands",
    "events.py": "slots", "limits.py": "slots", "options.py": "fields of the model",
    "shell/syntax/nodes.py": "slots", "commands/awk": "fields of nodes", "commands/jq/dates.py": "fields of a date",
    "kernel/formats/printf.py": "a method per conversion", "kernel/regexps/matcher.py": "methods of the engine",
    "interpreter": "options and special variables by table", "commands/jq/options.py": "options by table",
    "commands/compress/gzip.py": "options by table", "commands/tar/options.py": "options by table", "commands/zip/zip.py": "options by table",
}  # fmt: skip
"""Modules that look attributes up by a computed name, and whose names those are: never a script's."""


BROAD_HANDLERS = {
    "shell/interpreter/boundary.py": "an error of ours does not reach the program through a script",
    "processes.py": "what ends a process is kept and raised in the first one",
    "driver.py": "what the event loop raises is raised where the script waits",
    "events.py": "an observer's error is logged, not raised",
}

TREATED_BY_NAME = {"sh", "bash", "env"}
"""The shells, and what stands before their names in "#!/usr/bin/env bash"."""

OTHER_MEANINGS = {
    "cli": ("diff file id timeout", "parts of a proposal, a scheme of addresses, a limit"),
    "fs": ("tty", "a device"),
    "shell/interpreter/boundary.py": ("timeout", "a limit"),
    "shell/builtins/complete.py": ("file hostname", "what bash's `complete -A` offers"),
    "shell/builtins/type.py": ("file", "what bash's `type -t` says"),
    "shell/interpreter/prompts.py": ("tty", "what the escape \\l shows"),
    "limits.py": ("timeout", "a limit"),
    "network.py": ("timeout", "an option"),
    "options.py": ("kill", "what becomes of background jobs"),
    "processes.py": ("timeout", "a limit"),
    "regexps": ("awk grep look sed timeout", "GNU's syntaxes of regular expressions bear these names; a kind of node; a limit"),
    "sandbox.py": ("hostname id kill", "options and attributes of a sandbox"),
    "settings.py": ("hostname kill", "options of a sandbox"),
    "skills": ("base64 diff false file more timeout true truncate watch which who", "options, YAML's booleans, stop words of a search"),
    "skills/session/allowed_tools.py": ("", "policy: which commands a tool of `allowed-tools` stands for, reviewed in one place"),
    "skills/trust/audit.py": ("", "what programs do, most of which are not here, that a stranger's scripts call"),
    "tools": ("diff dir timeout", "arguments of an agent's tools"),
}
"""Where a word that is also a command's name means something else. "" is a module that may know commands by name."""


@cache
def modules() -> dict[str, ast.Module]:
    """Every module by its path in the package."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        found[path.relative_to(PACKAGE).as_posix()] = ast.parse(path.read_text(encoding="utf-8"), str(path))
    return found


def is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def at_run_time(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those that stand under `if TYPE_CHECKING`."""
    pending = [tree]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(child for child in ast.iter_child_nodes(node) if not is_for_types(child))


def imports(nodes: Iterable[ast.AST]) -> list[tuple[str, int]]:
    found = []
    for node in nodes:
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"a relative import in line {node.lineno}"
            found.append((node.module or "", node.lineno))
    return found


def room_of(path: str) -> str:
    return path.split("/")[0].removesuffix(".py")


def allowed(path: str, table: Iterable[str]) -> bool:
    return any(path == entry or path.startswith(f"{entry}/") for entry in table)


def test_layers() -> None:
    broken = []
    for path, tree in modules().items():
        room = room_of(path)
        assert room in LAYERS, f"{path}: which layer is that?"
        for name, line in imports(at_run_time(tree)):
            parts = name.split(".")
            if parts[0] != "agentsandbox" or len(parts) == 1:
                continue
            target = parts[1]
            lower = LAYERS[target] < LAYERS[room] or target == room or target in NEIGHBOURS.get(room, ())
            if not lower:
                broken.append(f"{path}:{line} imports {name}")
    assert not broken


def arrows(*, inner: bool) -> dict[str, set[str]]:
    """Which module imports which at run time: at its top, or inside functions as well."""
    names = {f"agentsandbox.{path.removesuffix('.py').removesuffix('/__init__').replace('/', '.')}": path for path in modules()}
    found: dict[str, set[str]] = {path: set() for path in modules()}
    for path, tree in modules().items():
        for node in at_run_time(tree) if inner else tree.body:
            if isinstance(node, ast.ImportFrom):
                targets = [names.get(f"{node.module}.{alias.name}", names.get(node.module or "")) for alias in node.names]
                found[path] |= {target for target in targets if target and target != path}
    return found


def in_circles(arrows: dict[str, set[str]]) -> set[str]:
    """The modules from which the arrows lead back."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        pending = [*arrows[start]]
        while pending:
            here = pending.pop()
            if here not in seen:
                seen.add(here)
                pending += arrows[here]
        return seen

    return {path for path in arrows if path in reached(path)}


def test_imports_make_no_circles() -> None:
    assert not in_circles(arrows(inner=False))
    assert not {path for path in in_circles(arrows(inner=True)) if room_of(path) not in CIRCLES}


def exported(tree: ast.Module) -> set[str] | None:
    """The names in `__all__`; None where there is none."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets):
            return set(ast.literal_eval(node.value))
    return None


def test_what_others_import_is_exported() -> None:
    names = {f"agentsandbox.{path.removesuffix('.py').replace('/', '.')}": path for path in modules()}
    broken = []
    for path, tree in modules().items():
        for node in at_run_time(tree):
            if isinstance(node, ast.ImportFrom) and (owner := names.get(node.module or "")):
                listed = exported(modules()[owner])
                hidden = set() if listed is None else {alias.name for alias in node.names} - listed
                broken += [f"{path} imports {name} from {owner}" for name in hidden]
    assert not broken


def test_commands_know_no_shell() -> None:
    broken = [
        f"{path}:{line}"
        for path, tree in modules().items()
        if room_of(path) == "commands"
        for name, line in imports(ast.walk(tree))
        if name.startswith(("agentsandbox.shell.interpreter", "agentsandbox.sandbox"))
    ]
    assert not broken


def words_of(tree: ast.Module) -> Iterator[str]:
    """The string constants of a module, and the words of those that are lists; not docstrings, `__slots__` and `__all__`."""
    skipped: set[ast.AST] = set()
    lists: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            skipped.add(node.value)
        elif isinstance(node, ast.Assign) and {getattr(target, "id", "") for target in node.targets} & {"__slots__", "__all__"}:
            skipped |= set(ast.walk(node.value))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "split":
            lists.add(node.func.value)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in skipped:
            yield node.value
            words = re.split(r"[\s,/|:;]+", node.value)
            names = command_names().intersection(words)
            if node in lists or (len(names) > 1 and 2 * len(names) >= len(words)):
                yield from words


@cache
def command_names() -> frozenset[str]:
    return frozenset(Path(path).stem for path in modules() if room_of(path) == "commands" and not Path(path).name.startswith("_"))


def test_nothing_but_a_commands_own_file_knows_it_by_name() -> None:
    unknown, used = [], set()
    for path, tree in modules().items():
        if room_of(path) in ("commands", "languages"):
            continue
        here = [place for place in (room_of(path), path) if place in OTHER_MEANINGS]
        allowed_here = TREATED_BY_NAME | (BUILTINS if room_of(path) == "interpreter" else set())
        for word in command_names().intersection(words_of(tree)) - allowed_here:
            places = [place for place in here if word in OTHER_MEANINGS[place][0].split() or not OTHER_MEANINGS[place][0]]
            used |= {(place, word if OTHER_MEANINGS[place][0] else "") for place in places}
            if not places:
                unknown.append(f"{path}: {word}")
    assert not unknown
    listed = {(place, word) for place, (words, _) in OTHER_MEANINGS.items() for word in words.split() or [""]}
    assert not listed - used, "listed, but not there any more"


def test_no_broad_handlers() -> None:
    broken = []
    for path, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ExceptHandler):
                names = {name.id for name in ast.walk(node.type) if isinstance(name, ast.Name)} if node.type else {"everything"}
                ends = any(isinstance(inner, ast.Raise) for inner in ast.walk(node))
                if names & {"everything", "BaseException", "Exception"} and not ends and path not in BROAD_HANDLERS:
                    broken.append(f"{path}:{node.lineno}")
    assert not broken


def test_text_and_bytes_meet_in_streams() -> None:
    broken = []
    for path, tree in modules().items():
        if allowed(path, BORDER):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("decode", "encode"):
                codec = node.args[0] if node.args else ast.Constant("utf-8")
                if isinstance(codec, ast.Constant) and codec.value not in ("ascii", "latin-1"):
                    broken.append(f"{path}:{node.lineno}")
    assert not broken


def test_banned_imports() -> None:
    broken = []
    for path, tree in modules().items():
        for name, line in imports(ast.walk(tree)):
            banned = {banned for banned in BANNED_IMPORTS if name == banned or name.startswith(f"{banned}.")}
            broken += [f"{path}:{line} imports {name}" for entry in banned if not allowed(path, ALLOWED_IMPORTS.get(entry, set()))]
    assert not broken


def test_banned_calls() -> None:
    broken = []
    for path, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                name = node.func.id
                if name in BANNED_CALLS and not any(allowed(path, {room}) and name in calls for room, calls in ALLOWED_CALLS.items()):
                    broken.append(f"{path}:{node.lineno} calls {name}")
                if name == "open" and not allowed(path, HOST_FILES):
                    broken.append(f"{path}:{node.lineno} opens a file of the host")
                computed = name in ("getattr", "setattr", "delattr") and not isinstance(node.args[1], ast.Constant)
                if computed and not allowed(path, DYNAMIC_GETATTR):
                    broken.append(f"{path}:{node.lineno} {name} with a computed name")
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os":
                if node.attr in BANNED_OS and not allowed(path, HOST_FILES):
                    broken.append(f"{path}:{node.lineno} os.{node.attr}")
    assert not broken


TEMPLATES = {"self", "_USAGE", "_PROMPT", "shape"}
"""Receivers of `.format` that are ours: a constant of the module, or an object's own method."""


def test_no_formatting_with_templates_from_data() -> None:
    broken = []
    for path, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("format", "format_map"):
                receiver = node.func.value
                if isinstance(receiver, (ast.Name, ast.Subscript, ast.Call, ast.BinOp)) and ast.unparse(receiver) not in TEMPLATES:
                    broken.append(f"{path}:{node.lineno}")
    assert not broken


def test_names_say_something() -> None:
    assert not [path for path in modules() if set(Path(path).with_suffix("").parts) & VAGUE]


def test_root_holds_what_the_architecture_names() -> None:
    rooms = {room_of(path) for path in modules()}
    assert rooms <= set(LAYERS)


def test_files_are_short() -> None:
    long = {
        path: lines
        for path in modules()
        if (lines := len((PACKAGE / path).read_text(encoding="utf-8").splitlines())) > LIMIT and path not in LONG_FILES
    }
    assert not long


def test_every_module_says_what_it_is() -> None:
    silent = [path for path, tree in modules().items() if room_of(path) != "commands" and not ast.get_docstring(tree)]
    assert not silent


@pytest.mark.parametrize("word", ["# TO" + "DO", "# FIX" + "ME", "# XX" + "X"])
def test_nothing_is_left_open(word: str) -> None:
    assert not [path for path in modules() if word in (PACKAGE / path).read_text(encoding="utf-8")]


def test_light_rooms_do_not_import_what_is_slow() -> None:
    """What a first `execute` needs must not load `typing`, `dataclasses`, `enum`, `pathlib`, `asyncio` and their like."""
    slow = {"typing", "dataclasses", "enum", "pathlib", "asyncio", "pydantic", "yaml", "regex", "logging", "json", "decimal", "fractions"}
    heavy = {"skills", "commands", "languages", "regexps", "tools", "manager", "integrations", "cli", "__main__"}
    broken = []
    for path, tree in modules().items():
        if room_of(path) not in heavy:
            for name, line in imports(tree.body):
                if name.split(".")[0] in slow:
                    broken.append(f"{path}:{line} imports {name}")
    assert not broken
