"""Files that are edited in place (-i)."""

from __future__ import annotations

import errno
import os
import posixpath

from agentsandbox.commands._text.lines import short_blocks
from agentsandbox.commands.sed.editing import make_editor
from agentsandbox.commands.sed.editor import Editor, Input
from agentsandbox.commands.sed.nodes import Script, SedError
from agentsandbox.commands.sed.output import Output, Settings
from agentsandbox.contract.command import Arguments, CommandContext, describe_os_error
from agentsandbox.errors import LimitReached
from agentsandbox.kernel.streams import BLOCK, Buffer, BytesReader, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.commands.sed.blocks import Kernel
    from agentsandbox.commands.sed.files import Files
    from agentsandbox.kernel.fs.base import Stat
    from agentsandbox.kernel.streams import ByteReader, Stream

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


class Original:
    """A file that is edited in place, open for reading. `info` is its `stat`, behind links."""

    __slots__ = ("info", "is_link", "name", "path", "reader")

    def __init__(self, name: str, path: str, info: Stat, reader: Stream, *, is_link: bool) -> None:
        self.name = name
        self.path = path
        self.info = info
        self.reader = reader
        self.is_link = is_link


class InPlace:
    """Opens the files of one run for editing, and puts the new texts in their places."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._result: Buffer | None = None
        self._writable = ""
        """The directory of the file that was edited last."""

    def open(self, name: str) -> Original | None:
        """Open a file for editing; return None after a message if it cannot be edited."""
        files, ctx = self._files, self._files.ctx
        try:
            path = ctx.path(name)
            info = ctx.fs.stat(path, follow=False)
            is_link = info.is_link
            if is_link:
                info = ctx.fs.stat(path)
            if not info.is_file:
                ctx.stderr.write(encode(f"{ctx.name}: couldn't edit {name}: not a regular file\n"))
                files.status = 4
                return None
            reader = (
                BytesReader(ctx.fs.read_bytes(path))
                if info.size <= BLOCK
                else ctx.fs.open(path, "r")
            )
            original = Original(name, path, info, reader, is_link=is_link)
        except OSError as error:
            ctx.stderr.write(
                encode(f"{ctx.name}: can't read {name}: {describe_os_error(error, '')}\n")
            )
            files.status = 2
            return None
        above = path[: path.rfind("/")] or "/"
        if above != self._writable and not ctx.fs.access(above, os.W_OK | os.X_OK):
            directory = posixpath.dirname(name) or "."
            letters = "".join(ctx.host.random.choices(_LETTERS, k=6))
            reason = os.strerror(errno.EACCES)
            raise SedError(f"couldn't open temporary file {directory}/sed{letters}: {reason}", 4)
        self._writable = above
        return original

    def start_result(self) -> Output:
        """Return the output for the edited text of the next file."""
        files = self._files
        self._result = Buffer(files.ctx.budget.limits.file_bytes)
        files.edited = Output(self._result, files.end)
        return files.edited

    def finish_result(self) -> bytes:
        """Return what was written to the output of `start_result`."""
        files = self._files
        assert self._result is not None
        assert files.edited is not None
        files.edited.flush()
        data = self._result.getvalue()
        self._result = files.edited = None
        return data

    def replace(self, original: Original, data: bytes, suffix: str) -> None:
        """Put the edited text in the file's place, after a backup if a suffix is given."""
        ctx = self._files.ctx
        path, fs = original.path, ctx.fs
        failed = "couldn't open file"
        if len(data) > ctx.budget.limits.file_bytes:
            raise LimitReached("value_bytes")
        try:
            if suffix:
                name = original.name  # with its directories: `b_*` of `d/f` means `b_d/f`
                backup = suffix.replace("*", name) if "*" in suffix else name + suffix
                failed = "cannot rename"
                fs.rename(path, ctx.path(backup))
                failed = "couldn't open file"
            elif (
                original.is_link or original.info.nlink > 1 or not original.info.permissions & 0o200
            ):
                fs.unlink(path)
            with fs.open(path, "w", permissions=original.info.permissions) as file:
                file.write(data)
        except OSError as error:
            raise SedError(f"{failed} {describe_os_error(error, original.name)}", 4) from None


def edit_in_place(
    ctx: CommandContext,
    args: Arguments,
    script: Script,
    settings: Settings,
    files: Files,
    kernel: Kernel | None,
) -> int:
    """Edit each operand in place; return the exit status."""
    if not args.operands:
        raise SedError("no input files", 4)
    suffix = args.value("in-place") or ""
    places = InPlace(files)
    editor: Editor | None = None
    for name in args.operands:
        ctx.budget.step()
        original = places.open(name)
        if original is None:
            continue
        done = False
        try:
            if kernel is not None:
                edited = _edit_blocks(ctx, kernel, original.reader, places)
            else:
                editor = editor or make_editor(files, script, settings)
                editor.begin(
                    Input(_one(name, original.reader), settings, files.flush, ctx.budget),
                    places.start_result(),
                )
                done = editor.run()
                edited = places.finish_result()
        finally:
            original.reader.release()
        places.replace(original, edited, suffix)
        if done:
            break
    files.flush()
    return (editor.status if editor is not None else 0) or files.status


def _edit_blocks(ctx: CommandContext, kernel: Kernel, reader: Stream, places: InPlace) -> bytes:
    """Return one file as `kernel` edits it."""
    if isinstance(reader, BytesReader) and reader.data.endswith(b"\n"):  # one block
        text, complete = kernel(reader.data)
        ctx.budget.breathe()
        return b"" if text is None else encode(text + "\n" if complete else text)
    result = places.start_result()
    for block in short_blocks(ctx.budget, reader):
        text, complete = kernel(block)
        if text is not None:
            result.line(text, complete=complete)
    return places.finish_result()


def _one(name: str, reader: ByteReader) -> Iterator[tuple[str, ByteReader]]:
    yield name, reader
