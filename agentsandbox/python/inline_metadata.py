"""What a script or a project says that it requires: PEP 723 and `pyproject.toml`.

    # /// script
    # requires-python = ">=3.11"
    # dependencies = ["requests<3"]
    # ///

The specification gives a regular expression for such blocks, which takes quadratic time on some
texts; this module reads line by line.
"""

from __future__ import annotations

import posixpath

from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentsandbox.contract.command import CommandContext

__all__ = ["MetadataError", "Needs", "find_project", "needs_of_script"]

_BLOCK_BYTES = 65536
_PROJECT_BYTES = 1 << 18
_SCRIPT_BYTES = 8 << 20


class MetadataError(Exception):
    """The metadata of a script or a project cannot be used."""


class Needs:
    """What a script or a project requires.

    dependencies     requirements, as written
    requires_python  the specifier of Python versions, "" for any
    root             the directory of the project, "" for a script
    is_package       whether the project itself is a package that would have to be built
    programs         the names in `project.scripts`
    """

    __slots__ = ("dependencies", "is_package", "programs", "requires_python", "root")

    def __init__(
        self,
        dependencies: list[str],
        requires_python: str,
        *,
        root: str = "",
        is_package: bool = False,
        programs: tuple[str, ...] = (),
    ) -> None:
        self.dependencies = dependencies
        self.requires_python = requires_python
        self.root = root
        self.is_package = is_package
        self.programs = programs


def needs_of_script(ctx: CommandContext, source: bytes, name: str) -> Needs | None:
    """Return what the block in a script says, None without one; raises `MetadataError`."""
    if len(source) > _SCRIPT_BYTES or b"# /// script" not in source:
        return None
    ctx.budget.step(len(source) >> 6)
    block = _block(decode(source), name)
    if block is None:
        return None
    table = _parsed(block, _BLOCK_BYTES, name)
    return Needs(_texts(table, "dependencies", name), _text(table, "requires-python", name))


def _block(text: str, name: str) -> str | None:
    """Return the lines of the block `script` without their "# ", None without one.

    A block of any type reaches to the last "# ///" of the comment that it stands in, and what it
    holds begins no other block.
    """
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    last = _last_ends(lines)
    found: str | None = None
    here = 0
    while here + 1 < len(lines):
        kind = lines[here].removeprefix("# /// ")
        end = last[here + 1]
        is_start = kind != lines[here] and kind.isascii() and kind.replace("-", "a").isalnum()
        if not is_start or end < here + 2:
            here += 1
            continue
        if kind == "script":
            if found is not None:
                raise MetadataError(f"{name} has several blocks of script metadata")
            found = "\n".join([line[2:] for line in lines[here + 1 : end]])
        here = end + 1
    return found


def _last_ends(lines: list[str]) -> list[int]:
    """Return for each line the number of the last "# ///" in the comment from there on, or -1."""
    found = [-1] * (len(lines) + 1)
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number]
        if line == "#" or line.startswith("# "):
            after = found[number + 1]
            found[number] = number if after < 0 and line == "# ///" else after
    return found


def _parsed(text: str, most: int, name: str) -> Mapping[str, object]:
    from tomllib import TOMLDecodeError, loads

    if len(text) > most:
        raise MetadataError(f"{name} has more metadata than {most} characters")
    try:
        return loads(text)
    except (TOMLDecodeError, RecursionError) as error:
        reason = str(error).partition("\n")[0][:200]
        raise MetadataError(f"the metadata of {name} is not TOML: {reason}") from None


def _text(table: Mapping[str, object], key: str, name: str) -> str:
    value = table.get(key, "")
    if not isinstance(value, str):
        raise MetadataError(f"{key} of {name} must be a text")
    return value


def _texts(table: Mapping[str, object], key: str, name: str) -> list[str]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise MetadataError(f"{key} of {name} must be a list of texts")
    return value


def _table(table: Mapping[str, object], key: str, name: str) -> Mapping[str, object]:
    value = table.get(key, {})
    if not isinstance(value, dict):
        raise MetadataError(f"{key} of {name} must be a table")
    return value


def find_project(ctx: CommandContext) -> Needs | None:
    """Return what the project around the working directory requires, None without a project.

    That is the nearest `pyproject.toml` with a table `project`: its dependencies and the group
    `dev`. Raises `MetadataError`.
    """
    here = posixpath.normpath(ctx.cwd)
    while True:
        ctx.budget.step(4)
        path = posixpath.join(here, "pyproject.toml")
        if ctx.fs.is_file(path):
            found = _project(ctx, path, here)
            if found is not None:
                return found
        if here == "/":
            return None
        here = posixpath.dirname(here)


def _project(ctx: CommandContext, path: str, root: str) -> Needs | None:
    if ctx.fs.stat(path).size > _PROJECT_BYTES:
        raise MetadataError(f"{path} is too large")
    ctx.budget.step(_PROJECT_BYTES >> 8)
    name = posixpath.basename(path)
    table = _parsed(decode(ctx.fs.read_bytes(path)), _PROJECT_BYTES, name)
    if "project" not in table:
        return None
    project = _table(table, "project", name)
    sources = _table(_table(_table(table, "tool", name), "uv", name), "sources", name)
    if sources:
        raise MetadataError(
            f"tool.uv.sources of {name} is not possible here: use 'uv run --no-project --with PKG'"
        )
    dependencies = [*_texts(project, "dependencies", name)]
    groups = _table(table, "dependency-groups", name)
    for one in _list(groups, "dev", name):
        if not isinstance(one, str):
            raise MetadataError(f"include-group in {name} is not possible here: list the packages")
        dependencies.append(one)
    return Needs(
        dependencies,
        _text(project, "requires-python", name),
        root=root,
        is_package="build-system" in table,
        programs=tuple(_table(project, "scripts", name)),
    )


def _list(table: Mapping[str, object], key: str, name: str) -> list[object]:
    value = table.get(key, [])
    if not isinstance(value, list):
        raise MetadataError(f"{key} of {name} must be a list")
    return value
