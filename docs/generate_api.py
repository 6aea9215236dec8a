"""Write docs/api.md from the docstrings of the public names. Run: python docs/generate_api.py"""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from pathlib import Path

import agentsandbox

PACKAGE = Path(agentsandbox.__file__).parent
PAGE = Path(__file__).with_name("api.md")

INTRODUCTION = """\
# API reference

Made by `docs/generate_api.py` (`make docs`) from the docstrings of what `agentsandbox` exports;
do not edit. [Embedding](embedding.md) shows how the parts are used together.
"""


def definition_of(name: str) -> tuple[str, ast.stmt]:
    """Return the module that defines a public name, below the package, and the definition
    itself.
    """
    value = getattr(agentsandbox, name)
    module = importlib.import_module(value.__module__)
    assert module.__file__ is not None
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == value.__name__:
            return module.__name__, node
    raise LookupError(f"{name} is not defined in {module.__name__}")


def signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Return a function's parameters and result as they are written, without `self`."""
    arguments = ast.parse(ast.unparse(node)).body[0]
    assert isinstance(arguments, (ast.FunctionDef, ast.AsyncFunctionDef))
    positional = arguments.args.args
    if positional and positional[0].arg in ("self", "cls"):
        del positional[0]
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    prefix = "async " if isinstance(node, ast.AsyncFunctionDef) else ""
    return f"{prefix}{node.name}({ast.unparse(arguments.args)}){result}"


def is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a method is read as an attribute."""
    return any(
        ast.unparse(decorator) in ("property", "cached_property")
        for decorator in node.decorator_list
    )


def text_of(node: ast.AST) -> str:
    """Return a docstring as Markdown: tables of arguments keep their columns."""
    assert isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
    text = ast.get_docstring(node) or ""
    shown = []
    for paragraph in text.split("\n\n"):
        lines = paragraph.splitlines()
        aligned = any("   " in line.strip() for line in lines)
        shown.append("```text\n" + paragraph + "\n```" if aligned else paragraph)
    return "\n\n".join(shown)


def members(node: ast.ClassDef) -> list[str]:
    """Return an entry for each public method and property of a class, in the order of the
    source.
    """
    entries = []
    for inner in node.body:
        if not isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if inner.name.startswith("_") and inner.name != "__init__":
            continue
        if any(ast.unparse(each).endswith(".setter") for each in inner.decorator_list):
            continue
        if inner.name == "__init__":
            entries.append(
                "```text\n"
                f"{node.name}"
                f"{signature(inner).removeprefix('__init__').removesuffix(' -> None')}\n```"
            )
            continue
        shown = inner.name if is_property(inner) else signature(inner)
        entries.append(f"#### `{shown}`\n\n{text_of(inner)}".rstrip())
    return entries


def page() -> str:
    """Return the whole page."""
    sections = [INTRODUCTION]
    for name in sorted(agentsandbox.__all__, key=str.lower):
        value = getattr(agentsandbox, name)
        if not (inspect.isclass(value) or inspect.isfunction(value)):
            continue
        module, node = definition_of(name)
        sections.append(f"## {name}\n\nDefined in `{module}`.")
        if isinstance(node, ast.ClassDef):
            sections += [text_of(node), *members(node)]
        else:
            assert isinstance(node, ast.FunctionDef)
            sections += [f"```text\n{signature(node)}\n```", text_of(node)]
    return "\n\n".join(section for section in sections if section) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"wrote {PAGE.name}\n")
