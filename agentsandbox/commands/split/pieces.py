"""The outputs of `split`: files named one after the other, or a command for each."""

from __future__ import annotations

from agentsandbox.commands._text.lines import shown_name
from agentsandbox.commands._text.quoting import quote_always
from agentsandbox.errors import CommandError
from agentsandbox.kernel.fs.base import File
from agentsandbox.kernel.streams import BytesReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.streams import ByteReader


class Names:
    """Yields xaa, xab, …; without a fixed length xyz is followed by xzaaa, to sort after it."""

    __slots__ = ("additional", "alphabet", "grows", "number", "prefix", "size")

    def __init__(
        self,
        prefix: str,
        alphabet: str,
        additional: str,
        *,
        size: int | None,
        start: str | None,
        chunks: int,
    ) -> None:
        self.alphabet = alphabet
        self.additional = additional
        self.prefix = prefix
        base = len(alphabet)
        first = int(start, base) if start else 0
        needed = 0
        if chunks:
            last = chunks - 1 + (first if first < chunks else 0)
            needed = 1
            while last := last // base:
                needed += 1
        self.grows = not size and start is None and not chunks
        if size:
            if size < needed:
                raise CommandError(f"the suffix length needs to be at least {needed}")
            self.size = size
        else:
            self.size = max(2, needed, len(start or ""))
        self.number = first

    def next(self) -> str:
        """Return the next name."""
        base = len(self.alphabet)
        if self.grows and self.number >= base**self.size - base ** (self.size - 1):
            self.prefix += self.alphabet[-1]
            self.number = 0
            self.size += 1
        digits = []
        number = self.number
        for _ in range(self.size):
            number, digit = divmod(number, base)
            digits.append(self.alphabet[digit])
        if number:
            raise CommandError("output file suffixes exhausted")
        self.number += 1
        return self.prefix + "".join(reversed(digits)) + self.additional


class Pieces:
    """Writes one piece after the other."""

    __slots__ = (
        "ctx", "file", "filter_command", "name", "names", "parts", "size", "source", "verbose"
    )  # fmt: skip

    def __init__(
        self,
        ctx: CommandContext,
        names: Names,
        source: ByteReader,
        *,
        filter_command: str | None,
        verbose: bool,
    ) -> None:
        self.ctx = ctx
        self.names = names
        self.source = source.stat() if isinstance(source, File) else None
        """What is split: no piece may overwrite it."""
        self.filter_command = filter_command
        self.verbose = verbose
        self.file: File | None = None
        self.name: str | None = None
        self.parts: list[bytes] = []
        self.size = 0

    def open_next(self) -> None:
        """End a piece and begin the next one."""
        self.close()
        self.name = self.names.next()
        if self.filter_command is not None:
            if self.verbose:
                self.ctx.print(f"executing with FILE={shown_name(self.name)}")
            return
        if self.verbose:
            self.ctx.print(f"creating file {quote_always(self.name)}")
        path = self.ctx.path(self.name)
        try:
            if self.source is not None and self.ctx.fs.exists(path):
                if self.ctx.fs.stat(path).ino == self.source.ino:
                    name = quote_always(self.name)
                    raise CommandError(f"{name} would overwrite input; aborting")
            self.file = self.ctx.fs.open(path, "w", permissions=0o666 & ~self.ctx.umask)
        except OSError as error:
            raise CommandError(f"{shown_name(self.name)}: {error.strerror}") from None

    def write(self, data: bytes) -> None:
        """Write to the piece."""
        if self.file is not None:
            self.file.write(data)
        elif self.filter_command is not None:
            self.size += len(data)
            self.ctx.budget.charge(self.size)
            self.parts.append(data)

    def close(self) -> None:
        """End the piece that is open."""
        if self.file is not None:
            self.file.release()
            self.file = None
        elif self.filter_command is not None and self.name is not None:
            data, name = b"".join(self.parts), self.name
            self.parts, self.size, self.name = [], 0, None
            status = self.ctx.run(
                ["sh", "-c", self.filter_command],
                stdin=BytesReader(data),
                env={**self.ctx.env, "FILE": name},
            )
            if status:
                raise CommandError(
                    f"with FILE={name}, exit {status} from command: {self.filter_command}", status
                )
