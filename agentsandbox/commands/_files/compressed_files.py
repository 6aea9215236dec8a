"""What `gzip`, `bzip2`, `xz` and `zstd` have in common: a run over files that get a suffix when
they are compressed, and lose it when they are expanded.

The output is all or nothing. It is created exclusively, so that nothing is written through a link;
it is removed again if the input turns out to be damaged or the run is stopped; and the input goes
only when the output is complete.
"""

from __future__ import annotations

import os

from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.fs.base import Stat
    from agentsandbox.kernel.streams import ByteReader, ByteWriter

LEVELS = "".join([f"  -{level}                  a level between\n" for level in range(2, 9)])
"""The options of the levels between --fast and --best, for a usage text."""


class CompressionRun:
    """One run over all operands. A tool brings the messages and what happens to each file."""

    def __init__(self, ctx: CommandContext) -> None:
        self.ctx = ctx
        self.expand = self.test = self.stdout = self.keep = self.force = False
        self.ended = False
        """Whether a file was so damaged that no further operand is read."""
        self.left = 0
        """How many operands follow the current one."""

    def tell(self, text: str, status: int = 0) -> None:
        """Write to stderr; the exit status becomes `status` if that is higher."""
        self.ctx.stderr.write(encode(text))
        self.ctx.status = max(self.ctx.status, status)

    def run(self, operands: Sequence[str]) -> int:
        """Work on every operand, on stdin for "-" or none."""
        for number, name in enumerate(operands or ["-"], 1):
            self.ctx.budget.step()
            self.left = len(operands) - number
            if name == "-":
                self.standard_input()
            else:
                try:
                    self.operand(name)
                except OSError as error:
                    self.report(name, error)
            if self.ended:
                break
        return self.ctx.status

    def standard_input(self) -> None:
        """Work on stdin."""
        self.stream(self.ctx.stdin, None if self.test else self.ctx.stdout, "(stdin)", "(stdout)")

    def operand(self, name: str) -> None:
        """Work on one file."""
        raise NotImplementedError

    def report(self, name: str, error: OSError) -> None:
        """Report a file that cannot be read or written."""
        shown = name if error.filename in (None, self.ctx.path(name)) else error.filename
        self.tell(f"{self.ctx.name}: {shown}: {os.strerror(error.errno or 5)}\n", 1)

    def report_existing(self, output: str) -> None:
        """Report an output that exists and is not overwritten."""
        raise NotImplementedError

    def stream(self, reader: ByteReader, target: ByteWriter | None, name: str, output: str) -> bool:
        """Compress or expand one stream; return whether it succeeded. Messages show the names."""
        raise NotImplementedError

    def convert(self, name: str, info: Stat, output: str) -> bool:
        """Compress or expand a file; return whether `output` was made (not with -c or -t)."""
        file = self.ctx.fs.open(self.ctx.path(name), "r")
        try:
            if self.stdout or self.test:
                self.stream(file, None if self.test else self.ctx.stdout, name, output)
                return False
            if not self.vacate(output):
                return False
            done = self.make(
                output,
                info.permissions & 0o777,
                info.mtime,
                lambda target: self.stream(file, target, name, output),
            )
        finally:
            file.release()
        if done and not self.keep:
            self.ctx.fs.unlink(self.ctx.path(name))
        return done

    def vacate(self, output: str) -> bool:
        """Remove an existing output with -f, else report it; whether the name is free."""
        path = self.ctx.path(output)
        if self.ctx.fs.exists(path, follow=False):
            if not self.force:
                self.report_existing(output)
                return False
            self.ctx.fs.unlink(path)
        return True

    def make(
        self, output: str, permissions: int, mtime: float, write: Callable[[ByteWriter], bool]
    ) -> bool:
        """Create a file; remove it unless `write` returns true."""
        fs, path = self.ctx.fs, self.ctx.path(output)
        target = fs.open(path, "x", permissions=permissions)
        done = False
        try:
            done = write(target)
        finally:
            target.release()
            if not done:
                fs.unlink(path)
        if done:
            fs.chmod(path, permissions)
            fs.utime(path, mtime)
        return done


def find_obstacle(info: Stat, obstacles: Mapping[str, str], *, links: bool) -> str:
    """Return why a file is left alone, "" for most: one of the `obstacles` directory, link,
    special and (if `links`) names, where COUNT stands for the number of further names.
    """
    if info.is_dir:
        return obstacles["directory"]
    if info.is_link:
        return obstacles["link"]
    if not info.is_file:
        return obstacles["special"]
    if links and info.nlink > 1:
        count = f"{info.nlink - 1} other link{'s' if info.nlink > 2 else ''}"
        return obstacles["names"].replace("COUNT", count)
    return ""


def split_suffix(name: str, suffixes: Mapping[str, str]) -> tuple[str, str] | None:
    """Return (name without its suffix, suffix or None); `suffixes` maps ".tgz" to ".tar"."""
    base = name.rpartition("/")[2]
    for suffix, instead in suffixes.items():
        if base.endswith(suffix) and len(base) > len(suffix):
            return name[: -len(suffix)] + instead, suffix
    return None
