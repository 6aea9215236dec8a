"""The house rules, read from the source: rooms, arrows, bans, sizes.

The package is a graph of modules. An arrow is any import: at the top of a module, inside a
function, or for types only. Arrows point from a room to a lower one or stay inside the room, and no
path of arrows leads back to where it began.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from agentsandbox.shell.builtins import NAMES as BUILTINS

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "agentsandbox"

LAYERS = {
    "errors": 0, "stats": 0, "version": 0,
    "limits": 1,
    "kernel": 2,
    "result": 3, "events": 3, "network": 3, "host_input": 3,
    "contract": 4,
    "git": 4.5,
    "shell": 5, "commands": 5, "wasm": 5,
    "policy": 6, "analysis": 6, "files": 6, "python": 6, "javascript": 6,
    "skills": 7, "review": 7,
    "runtime": 8,
    "options": 9, "isolation": 9.5,
    "sandbox": 10,
    "manager": 11, "profiles": 11,
    "integrations": 12, "cli": 13,
    "__init__": 14, "__main__": 15,
}  # fmt: skip
"""A module imports from lower layers or from its own room; neighbours never import each other."""

VAGUE = {"utils", "util", "helpers", "helper", "common", "core", "misc"}

MOST_ENTRIES = 100
"""Files and folders that one folder shows."""

MOST_ANCESTORS = 3
"""Classes of ours above a class of ours."""

MOST_LINES = 60
"""Lines of a function; a longer one says why in a comment that begins with `# long:`."""

BORDER = {
    "kernel/streams.py": "is the border",
    "javascript": "strings of the engine are UTF-8 in its memory",
    "commands/_json": "the length of a JSON text in UTF-8",
    "commands/jq": "the length of a JSON text in UTF-8",
}
"""Modules that may turn bytes into text."""

BANNED_IMPORTS = {
    "subprocess", "ctypes", "socket", "pickle", "marshal", "shelve", "multiprocessing", "threading",
    "code", "codeop", "pty",
    "runpy", "imp", "dbm", "webbrowser", "http.client", "urllib.request", "ftplib", "smtplib",
    "signal", "tempfile", "shutil",
}  # fmt: skip
ALLOWED_IMPORTS = {
    "socket": {"network/outside.py", "isolation"},
    "subprocess": {"isolation/supervisor.py"},
    "pickle": {"isolation/states.py", "isolation/guests.py"},
    "threading": {"manager.py", "python/runtime.py", "wasm", "isolation/supervisor.py"},
    "ctypes": {"wasm", "isolation"},
    "shutil": {"cli"},
    "signal": {"cli", "wasm/engine.py", "isolation"},
    "tempfile": {"cli", "wasm/engine.py"},
}
"""`isolation` starts processes of its own and talks to them over sockets (subprocess, socket), asks
the kernel to confine them (ctypes), ends them (signal), shares them between threads (threading).
Only these processes read pickles: the state of a shell, which they write themselves, and the
packages that the host gives to Python."""
BANNED_CALLS = {"eval", "exec", "compile", "__import__", "input", "breakpoint"}
ALLOWED_CALLS = {
    "commands/awk": {"exec"},
    # importing importlib would take longer than most modules of ours
    "__init__.py": {"__import__"}, "commands/__init__.py": {"__import__"},
    "shell/builtins/__init__.py": {"__import__"}, "shell/interpreter/dispatch.py": {"__import__"},
}  # fmt: skip
HOST_FILES = {
    "cli", "files/folders.py", "kernel/fs/host.py", "kernel/fs/overlay.py", "skills/catalog",
    "skills/sources",
    "commands/sqlite3/memory.py",
    "network/records.py",
    "isolation",
    "python/artifact.py", "python/index.py", "python/runtime.py", "wasm/engine.py",
}  # fmt: skip
"""Modules that may open files of the host: what the program names, and the size of its own
process."""
BANNED_OS = {
    "system", "popen", "fork", "forkpty", "kill", "execv", "execve", "spawnv", "startfile",
    "environ", "getenv", "putenv", "getcwd", "chdir",
}  # fmt: skip
DYNAMIC_GETATTR = {
    "analysis.py": "slots of nodes", "__init__.py": "lazy names",
    "skills/__init__.py": "lazy names", "cli": "lazy commands",
    "events.py": "slots", "limits.py": "slots", "options.py": "fields of the model",
    "stats.py": "slots", "isolation/states.py": "slots",
    "isolation/mounted.py": "methods by table",
    "isolation/host_network.py": "fields of errors",
    "commands/_files/compression.py": "parameters of zstd",
    "files/values.py": "fields of the values", "skills/config.py": "settings by table",
    "shell/syntax/nodes.py": "slots", "commands/awk": "fields of nodes",
    "commands/jq/nodes.py": "fields of nodes",
    "git/commands/logging.py": "options by table", "git/commands/parsing.py": "options by table",
    "git/diff/options.py": "options by table",
    "kernel/expressions.py": "methods of an expression",
    "kernel/formats/printf.py": "a method per conversion",
    "kernel/regexps/matcher.py": "methods of the engine",
    "wasm": "system calls and error numbers by table",
    "shell": "options and special variables by table", "commands/jq/options.py": "options by table",
    "commands/compress/gzip.py": "options by table", "commands/tar/options.py": "options by table",
    "commands/zip/zip.py": "options by table",
}  # fmt: skip
"""Modules that look attributes up by a computed name, and whose names those are: never a
script's."""


BROAD_HANDLERS = {
    "shell/interpreter/boundary.py": "an error of ours does not reach the program through a script",
    "kernel/stacks.py": "what ends a task is raised where the caller waits",
    "kernel/processes.py": "what ends a process is kept and raised in the first one",
    "runtime/event_loop.py": "what the event loop raises is raised where the script waits",
    "events.py": "an observer's error is logged, not raised",
    "commands/sqlite3/database.py": "SQLite drops what a callback raises, so it is kept",
    "network/outside.py": "what ends a thread's work is raised where the process waits",
    "wasm/guest.py": "what ends a guest's thread is raised in its home",
    "isolation/session.py": "an error of the host's function ends the script, not the program",
    "isolation/operations.py": "an error of the host's function ends the script, not the program",
    "isolation/host_commands.py": "what the event loop raises is raised where the command waits",
}


TREATED_BY_NAME = {"sh", "bash", "env", "time"}
"""The shells, what is before their names in "#!/usr/bin/env bash", and a keyword of bash."""

OTHER_MEANINGS = {
    "cli": (
        "diff file git id script timeout",
        "an argument, parts of a proposal, a scheme of addresses, a limit",
    ),
    "git": (
        (
            "cat chmod clear column date diff false file git grep head mv patch rename rm sort "
            "stat sync tar tree true yes zip"
        ),
        "subcommands and options of git, kinds of objects, formats, booleans",
    ),
    "kernel/fs": ("tty", "a device"),
    "shell/interpreter/boundary.py": ("timeout", "a limit"),
    "shell/builtins/complete.py": ("file hostname", "what bash's `complete -A` offers"),
    "shell/builtins/type.py": ("file", "what bash's `type -t` says"),
    "shell/interpreter/prompts.py": ("tty", "what the escape \\l shows"),
    "errors.py": ("timeout", "a limit"),
    "kernel/budget.py": ("timeout", "a limit"),
    "kernel/expressions.py": ("split", "a method of an expression"),
    "limits.py": ("timeout", "a limit"),
    "network": ("base64 gzip timeout", "encodings of bodies, an option"),
    "options.py": ("hostname id kill", "options of a sandbox"),
    "kernel/processes.py": ("timeout", "a limit"),
    "kernel/regexps": (
        "awk grep sed timeout",
        "GNU's syntaxes of regular expressions bear these names; a kind of node; a limit",
    ),
    "skills": (
        "base64 diff ed false file link make more timeout true truncate watch which who",
        "options, kinds of entries, YAML's booleans, stop words and endings of a search",
    ),
    "skills/session/allowed_tools.py": (
        "",
        "policy: which commands a tool of `allowed-tools` stands for, reviewed in one place",
    ),
    "skills/trust/audit.py": (
        "",
        "what programs do, most of which are not here, that a stranger's scripts call",
    ),
    "profiles": ("curl diff git timeout wget", "arguments of tools; what may be absent"),
    "files": ("file link tar timeout zip", "kinds of entries and of archives, a limit"),
    "manager.py": ("id", "an argument"),
    "review.py": ("git head", "the name in a context, an argument"),
    "isolation": (
        (
            "chmod file git head hostname id link lzma mkdir mkfifo more readlink realpath rename "
            "rmdir sqlite3 stat timeout truncate unlink"
        ),
        "streams, options of a sandbox, modules, a limit, methods of filesystems, a number",
    ),
    "runtime/arguments.py": ("hostname kill script timeout", "options and arguments of a sandbox"),
    "runtime/session.py": ("kill", "an option"),
    "javascript/node.py": ("file hostname", "what a program is told"),
    "javascript/door.py": (
        (
            "chmod find gzip link mkdir readlink realpath rename rmdir sleep stat timeout "
            "truncate unlink which"
        ),
        "operations of node's `fs`",
    ),
    "javascript/guest.py": ("more script", "a request and an answer of the prelude"),
    "wasm/descriptors.py": ("stat", "a method of streams"),
    "python": (
        "chmod cp file hostname install kill mkfifo script stat sync tree which yes",
        "requests of a guest and their fields, subcommands and options of pip and uv",
    ),
}
"""Where a word that is also a command's name means something else. "" is a module that may know
commands by name."""


@cache
def modules() -> dict[str, ast.Module]:
    """Every module by its path in the package."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        if "prelude" in path.parts:  # it runs in the guest
            continue
        found[path.relative_to(PACKAGE).as_posix()] = ast.parse(
            path.read_text(encoding="utf-8"), str(path)
        )
    return found


def is_for_types(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
    )


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


def test_every_module_has_a_layer() -> None:
    assert {room_of(path) for path in modules()} == set(LAYERS)


@cache
def arrows() -> dict[str, set[str]]:
    """Which module imports which, wherever the import stands and whatever it is for."""
    names = {
        ".".join(("agentsandbox", *Path(path).with_suffix("").parts)).removesuffix(
            ".__init__"
        ): path
        for path in modules()
    }
    found: dict[str, set[str]] = {path: set() for path in modules()}
    for path, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                module = node.module or ""
                found[path] |= {
                    names.get(f"{module}.{alias.name}") or names.get(module) or path
                    for alias in node.names
                }
            elif isinstance(node, ast.Import):
                found[path] |= {names.get(alias.name) or path for alias in node.names}
    return {path: targets - {path} for path, targets in found.items()}


def test_arrows_point_down() -> None:
    up = [
        f"{path} imports {target}"
        for path, targets in arrows().items()
        for target in targets
        if room_of(path) != room_of(target) and LAYERS[room_of(target)] >= LAYERS[room_of(path)]
    ]
    assert not up


def circles(arrows: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules that reach each other, found by Tarjan's walk."""
    found: list[list[str]] = []
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []

    def walk(path: str) -> None:
        number[path] = lowest[path] = len(number)
        stack.append(path)
        for target in sorted(arrows[path]):
            if target not in number:
                walk(target)
                lowest[path] = min(lowest[path], lowest[target])
            elif target in stack:
                lowest[path] = min(lowest[path], number[target])
        if lowest[path] == number[path]:
            at = stack.index(path)
            group = sorted(stack[at:])
            del stack[at:]
            if len(group) > 1:
                found.append(group)

    for path in sorted(arrows):
        if path not in number:
            walk(path)
    return found


def test_the_walk_finds_circles() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]
    assert not circles({"a": {"b", "c"}, "b": {"c"}, "c": set()})


def test_imports_make_no_circles() -> None:
    assert not circles(arrows())


def family_of(path: str) -> str | None:
    """Return the package of `commands/` that a module belongs to."""
    parts = path.split("/")
    return parts[1] if parts[0] == "commands" and len(parts) > 2 else None


def test_families_of_commands_keep_their_modules_to_themselves() -> None:
    """What two families need is in a package whose name begins with an underscore."""
    broken = [
        f"{path} imports {target}"
        for path, targets in arrows().items()
        for target in targets
        if (family := family_of(target))
        and not family.startswith("_")
        and family_of(path) != family
    ]
    assert not broken


def test_shared_rooms_of_commands_know_no_command() -> None:
    broken = [
        f"{path} imports {target}"
        for path, targets in arrows().items()
        for target in targets
        if path.startswith("commands/_")
        and room_of(target) == "commands"
        and not target.startswith("commands/_")
    ]
    assert not broken


def test_the_table_of_commands_is_true() -> None:
    """Every name leads to a command of that name, and every package brings at least one."""
    from agentsandbox.commands import FAMILIES, find_command, names

    for name in sorted({*names(), "["}):
        command = find_command(name)
        assert command is not None and command.name in (name, "awk", "grep"), name
    assert all((PACKAGE / "commands" / family / "__init__.py").is_file() for family in FAMILIES)


def test_folders_are_small() -> None:
    shown: Counter[str] = Counter()
    for folder in {(PACKAGE / path).parent for path in modules()}:
        shown[str(folder.relative_to(PACKAGE))] = sum(
            1 for entry in folder.iterdir() if not entry.name.startswith("__pycache__")
        )
    assert not {folder: count for folder, count in shown.items() if count > MOST_ENTRIES}


def test_inheritance_is_shallow() -> None:
    bases: dict[str, set[str]] = {}
    for tree in modules().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                named = {
                    inner.id
                    for base in node.bases
                    for inner in ast.walk(base)
                    if isinstance(inner, ast.Name)
                }
                bases[node.name] = bases.get(node.name, set()) | named

    def ancestors(name: str, seen: frozenset[str] = frozenset()) -> int:
        above = [base for base in bases[name] if base in bases and base not in seen]
        return max((1 + ancestors(base, seen | {name}) for base in above), default=0)

    assert not {name: depth for name in bases if (depth := ancestors(name)) > MOST_ANCESTORS}


def test_functions_are_short() -> None:
    long = []
    for path, tree in modules().items():
        lines = (PACKAGE / path).read_text(encoding="utf-8").splitlines()
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first, last = node.lineno, node.end_lineno or node.lineno
                if last - first >= MOST_LINES and not any(
                    "# long:" in line for line in lines[first - 1 : last]
                ):
                    long.append(f"{path}:{first} {node.name}: {last - first + 1} lines")
    assert not long


TRICKS = {
    "_getframe",
    "f_locals",
    "f_back",
    "gi_frame",
    "getrefcount",
    "setrecursionlimit",
    "purge",
}
"""Ways into the host's interpreter: a sandbox leaves it as it is."""


def test_the_interpreter_of_the_host_is_left_alone() -> None:
    used = [
        f"{path}:{node.lineno} {node.attr}"
        for path, tree in modules().items()
        if path != "isolation/states.py"  # in a process of its own
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in TRICKS
    ]
    assert not used


def test_a_shell_has_few_attributes() -> None:
    from agentsandbox.shell.interpreter.shell import Shell

    assert len(Shell.__slots__) <= 25


def exported(tree: ast.Module) -> set[str] | None:
    """The names in `__all__`; None where there is none."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets
        ):
            return set(ast.literal_eval(node.value))
    return None


def test_what_others_import_is_exported() -> None:
    names = {
        f"agentsandbox.{path.removesuffix('.py').replace('/', '.')}": path for path in modules()
    }
    broken = []
    for path, tree in modules().items():
        for node in at_run_time(tree):
            if isinstance(node, ast.ImportFrom) and (owner := names.get(node.module or "")):
                listed = exported(modules()[owner])
                hidden = set() if listed is None else {alias.name for alias in node.names} - listed
                broken += [f"{path} imports {name} from {owner}" for name in hidden]
    assert not broken


def test_no_broad_handlers() -> None:
    broken = []
    for path, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ExceptHandler):
                names = (
                    {name.id for name in ast.walk(node.type) if isinstance(name, ast.Name)}
                    if node.type
                    else {"everything"}
                )
                ends = any(isinstance(inner, ast.Raise) for inner in ast.walk(node))
                if (
                    names & {"everything", "BaseException", "Exception"}
                    and not ends
                    and path not in BROAD_HANDLERS
                ):
                    broken.append(f"{path}:{node.lineno}")
    assert not broken


def test_text_and_bytes_meet_in_streams() -> None:
    broken = []
    for path, tree in modules().items():
        if allowed(path, BORDER):
            continue
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in ("decode", "encode")
            ):
                codec = node.args[0] if node.args else ast.Constant("utf-8")
                if isinstance(codec, ast.Constant) and codec.value not in ("ascii", "latin-1"):
                    broken.append(f"{path}:{node.lineno}")
    assert not broken


# TM-HOST-1, TM-NET-1
def test_banned_imports() -> None:
    broken = []
    for path, tree in modules().items():
        for name, line in imports(ast.walk(tree)):
            banned = {
                banned
                for banned in BANNED_IMPORTS
                if name == banned or name.startswith(f"{banned}.")
            }
            broken += [
                f"{path}:{line} imports {name}"
                for entry in banned
                if not allowed(path, ALLOWED_IMPORTS.get(entry, set()))
            ]
    assert not broken


# TM-GUEST-1
def test_guests_have_no_system_of_the_host() -> None:
    """wasmtime's own WASI would open files of the host; guests get ours only."""
    banned = {"WasiConfig", "define_wasi", "set_wasi", "set_wasi_http", "preopen_dir"}
    found = [
        f"{path}:{node.lineno}"
        for path, tree in modules().items()
        for node in ast.walk(tree)
        if (isinstance(node, ast.Attribute) and node.attr in banned)
        or (isinstance(node, ast.Name) and node.id in banned)
        or (isinstance(node, ast.alias) and node.name in banned)
    ]
    assert not found


# TM-HOST-3
def test_banned_calls() -> None:
    broken = []
    for path, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                name = node.func.id
                if name in BANNED_CALLS and not any(
                    allowed(path, {room}) and name in calls for room, calls in ALLOWED_CALLS.items()
                ):
                    broken.append(f"{path}:{node.lineno} calls {name}")
                if name == "open" and not allowed(path, HOST_FILES):
                    broken.append(f"{path}:{node.lineno} opens a file of the host")
                computed = name in ("getattr", "setattr", "delattr") and not isinstance(
                    node.args[1], ast.Constant
                )
                if computed and not allowed(path, DYNAMIC_GETATTR):
                    broken.append(f"{path}:{node.lineno} {name} with a computed name")
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id == "os"
            ):
                if node.attr in BANNED_OS and not allowed(path, HOST_FILES):
                    broken.append(f"{path}:{node.lineno} os.{node.attr}")
    assert not broken


TEMPLATES = {"self", "_USAGE", "_PROMPT", "shape"}
"""Receivers of `.format` that are ours: a constant of the module, or an object's own method."""


# TM-HOST-4
def test_no_formatting_with_templates_from_data() -> None:
    broken = []
    for path, tree in modules().items():
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in ("format", "format_map")
            ):
                receiver = node.func.value
                if (
                    isinstance(receiver, (ast.Name, ast.Subscript, ast.Call, ast.BinOp))
                    and ast.unparse(receiver) not in TEMPLATES
                ):
                    broken.append(f"{path}:{node.lineno}")
    assert not broken


def test_names_say_something() -> None:
    assert not [path for path in modules() if set(Path(path).with_suffix("").parts) & VAGUE]


def test_every_module_says_what_it_is() -> None:
    silent = [
        path
        for path, tree in modules().items()
        if room_of(path) != "commands" and not ast.get_docstring(tree)
    ]
    assert not silent


@pytest.mark.parametrize("word", ["# TO" + "DO", "# FIX" + "ME", "# XX" + "X"])
def test_nothing_is_left_open(word: str) -> None:
    assert not [path for path in modules() if word in (PACKAGE / path).read_text(encoding="utf-8")]


def test_light_rooms_do_not_import_what_is_slow() -> None:
    """What a first `execute` needs must not load `typing`, `dataclasses`, `enum`, `pathlib`,
    `asyncio` and their like.
    """
    slow = {
        "typing",
        "dataclasses",
        "enum",
        "pathlib",
        "asyncio",
        "pydantic",
        "yaml",
        "regex",
        "logging",
        "json",
        "decimal",
        "fractions",
    }
    heavy = {
        "skills",
        "commands",
        "python",
        "wasm",
        "profiles",
        "manager",
        "integrations",
        "cli",
        "files",
        "javascript",
        "isolation",
        "git",
        "review",
        "__main__",
    }
    broken = []
    for path, tree in modules().items():
        if room_of(path) not in heavy:
            for name, line in imports(tree.body):
                if name.split(".")[0] in slow:
                    broken.append(f"{path}:{line} imports {name}")
    assert not broken


def words_of(tree: ast.Module) -> Iterator[str]:
    """The string constants of a module, and the words of those that are lists; not docstrings,
    `__slots__` and `__all__`.
    """
    skipped: set[ast.AST] = set()
    lists: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            skipped.add(node.value)
        elif isinstance(node, ast.Assign) and {
            getattr(target, "id", "") for target in node.targets
        } & {"__slots__", "__all__"}:
            skipped |= set(ast.walk(node.value))
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "split"
        ):
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
    from agentsandbox.commands import names

    return names()


def test_nothing_but_a_commands_own_file_knows_it_by_name() -> None:
    unknown, used = [], set()
    for path, tree in modules().items():
        if room_of(path) == "commands":
            continue
        here = [place for place in OTHER_MEANINGS if path == place or path.startswith(f"{place}/")]
        allowed_here = TREATED_BY_NAME | (set(BUILTINS) if path.startswith("shell/") else set())
        for word in command_names().intersection(words_of(tree)) - allowed_here:
            places = [
                place
                for place in here
                if word in OTHER_MEANINGS[place][0].split() or not OTHER_MEANINGS[place][0]
            ]
            used |= {(place, word if OTHER_MEANINGS[place][0] else "") for place in places}
            if not places:
                unknown.append(f"{path}: {word}")
    assert not unknown
    listed = {
        (place, word)
        for place, (words, _) in OTHER_MEANINGS.items()
        for word in words.split() or [""]
    }
    assert not listed - used, "listed, but not there any more"
