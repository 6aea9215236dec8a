"""Editing line by line: what an editor reads and writes."""

from __future__ import annotations

from agentsandbox.commands.sed.compiler import compile_script
from agentsandbox.commands.sed.editor import Editor, Input
from agentsandbox.kernel.fs.base import File

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.commands.sed.files import Files
    from agentsandbox.commands.sed.nodes import Script
    from agentsandbox.commands.sed.output import Settings


def edit_streams(
    script: Script, settings: Settings, files: Files, groups: Sequence[Sequence[str]]
) -> int:
    """Edit each group of operands as one stream; return the exit status."""
    editor = make_editor(files, script, settings)
    for group in groups:
        source = Input(files.sources(group), settings, files.flush, files.ctx.budget)
        editor.begin(source, files.standard_output)
        if editor.run():
            editor.input.give_back()
            break
    files.flush()
    return editor.status or files.status


def make_editor(files: Files, script: Script, settings: Settings) -> Editor:
    """Return an editor that uses these files; `Editor.begin` sets its input and output."""
    editor = Editor(compile_script(script, settings), settings, files.ctx.budget)
    editor.standard_output = files.standard_output
    editor.outputs = files.outputs
    editor.flush_all = files.flush
    editor.read_file = lambda name: _read_file(files, name)
    return editor


def _read_file(files: Files, name: str) -> bytes:
    """Return what r adds: a file's content, nothing if it cannot be read."""
    output = files.outputs.get(name)
    if output is not None:
        output.flush()
    try:
        if name == "/dev/stdin":
            stdin = files.ctx.stdin
            # a file is read from its beginning
            again = stdin.reopened("r") if isinstance(stdin, File) else stdin
            return b"".join(list(again.blocks()))
        path = files.ctx.path(name)
        files.ctx.budget.charge(files.ctx.fs.stat(path).size)
        return files.ctx.fs.read_bytes(path)
    except OSError:
        return b""
