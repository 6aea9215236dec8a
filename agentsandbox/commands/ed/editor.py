"""The commands of `ed`.

A command is a letter behind up to two addresses. `Editor.execute` reads the addresses, then the
method of the letter reads what follows and does the work. What a command may leave out is filled in
by its method, because it differs: `w` means all lines, `p` the current one, `r` the last.
"""

from __future__ import annotations

from agentsandbox.commands.ed.errors import EdError, ModifiedError, Quit
from agentsandbox.commands.ed.files import Files
from agentsandbox.commands.ed.patterns import Patterns, read_pattern
from agentsandbox.commands.ed.source import Input, Words
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.commands.ed.buffer import Buffer
    from agentsandbox.contract.command import CommandContext

_SCREEN = 22
_COLUMNS = 72
_ESCAPES = {7: "a", 8: "b", 12: "f", 10: "n", 13: "r", 9: "t", 11: "v"}


class Editor:
    """An editor at work.

    traditional  the ways of older versions (`-G`)
    """

    def __init__(
        self,
        ctx: CommandContext,
        buffer: Buffer,
        files: Files,
        *,
        extended: bool,
        traditional: bool,
        verbose: bool,
        prompt: str | None,
    ) -> None:
        # long: what the editor remembers from command to command
        self.ctx = ctx
        self.buffer = buffer
        self.files = files
        self.traditional = traditional
        self.verbose = verbose
        self.input = Input(ctx)
        self.patterns = Patterns(ctx.budget, extended=extended, bytewise=ctx.is_bytewise())
        self.prompt = "*" if prompt is None else prompt
        self.prompts = prompt is not None
        self.message = ""
        """The last error."""
        self.warned = False
        """Whether the last command was refused because the buffer is modified."""
        self.window = _SCREEN
        self.first = self.second = 0
        self.given = 0
        """The number of addresses before the command."""
        self.flags = ""
        self.in_global = False
        self._which = 1
        self._printed = ""
        self._toggled = "p"

    # running

    def execute(self, words: Words) -> None:
        """Execute the next command. Raises `EdError` and `Quit`."""
        self.read_addresses(words)
        words.skip_blanks()
        letter = words.take()
        method = _COMMANDS.get(letter)
        if method is None:
            raise EdError("Unknown command")
        self.flags = ""
        method(self, words, letter)
        if self.flags:
            self.show(self.buffer.current, self.buffer.current, self.flags)

    # addresses

    def read_addresses(self, words: Words) -> None:
        """Read the addresses before a command; only the last two count."""
        first, second = -1, -1
        fresh = True
        words.skip_blanks()
        while True:
            character = words.next
            if character.isdigit() and character.isascii():
                number = words.number()
                second = number if fresh else second + number
                fresh = False
            elif character and character in " \t":
                words.skip_blanks()
            elif character and character in "+-":
                second = (self.buffer.current if fresh else second) + self._offset(words)
                fresh = False
            elif character and character in ".$/?'":
                if not fresh:
                    raise EdError("Invalid address")
                second = self._line(words, character)
                fresh = False
            elif character and character in "%,;":
                words.take()
                if not fresh:
                    self._check_last(second)
                    if character == ";":
                        self.buffer.current = second
                    first, fresh = second, True
                elif first < 0:
                    first = self.buffer.current if character == ";" else 1
                    second = self.buffer.last
                else:
                    first = second
            else:
                break
        if not fresh:
            self._check_last(second)
        self.given = 0 if second < 0 else 2 if first >= 0 else 1
        self.second = second if self.given else self.buffer.current
        self.first = first if self.given == 2 else self.second

    def _check_last(self, number: int) -> None:
        if not 0 <= number <= self.buffer.last:
            raise EdError("Invalid address")

    def _offset(self, words: Words) -> int:
        following = words.text[words.at + 1 : words.at + 2]
        if following.isdigit() and following.isascii():
            return words.number()
        return 1 if words.take() == "+" else -1

    def _line(self, words: Words, character: str) -> int:
        if character in "/?":
            return self._search(words)
        words.take()
        if character == ".":
            return self.buffer.current
        if character == "$":
            return self.buffer.last
        mark = words.take()
        if not ("a" <= mark <= "z"):
            raise EdError("Invalid mark character")
        line = self.buffer.marks.get(mark)
        if line is None:
            raise EdError("Invalid address")
        return self.buffer.number_of(line)

    def _search(self, words: Words) -> int:
        """Return the next or previous line that matches, around the end of the buffer."""
        step = 1 if words.next == "/" else -1
        regex = self.patterns.read(words)
        buffer, lines = self.buffer, self.buffer.lines
        places = buffer.last + 1
        number = buffer.current
        for _ in range(places):
            self.ctx.budget.step()
            number = (number + step) % places
            if number and regex.test(lines[number - 1].text, self.ctx.budget):
                return number
        raise EdError("No match")

    def check_range(self, first: int, second: int) -> None:
        """Take these lines if no address was given; refuse what is no range."""
        if not self.given:
            self.first, self.second = first, second
        if not 1 <= self.first <= self.second <= self.buffer.last:
            raise EdError("Invalid address")

    def check_current(self) -> None:
        """Take the current line if no address was given."""
        self.check_range(self.buffer.current, self.buffer.current)

    def check_line(self, number: int) -> None:
        """Take this line if no address was given."""
        if not self.given:
            self.second = number
        if not 1 <= self.second <= self.buffer.last:
            raise EdError("Invalid address")

    def no_address(self) -> None:
        """Refuse addresses."""
        if self.given:
            raise EdError("Unexpected address")

    # suffixes

    def read_suffix(self, words: Words) -> None:
        """Read the suffixes l, n and p up to the end of the line."""
        while words.next and words.next in "lnp" and words.next not in self.flags:
            self.flags += words.take()
        if words.take() != "\n":
            raise EdError("Invalid command suffix")

    def begin(self) -> None:
        """Start what `u` takes back; a global command is one change."""
        if not self.in_global:
            self.buffer.begin()

    # printing

    def show(self, first: int, last: int, flags: str) -> None:
        """Print lines."""
        if not first:
            raise EdError("Invalid address")
        out = self.ctx.stdout
        for number in range(first, last + 1):
            self.ctx.budget.step()
            self.buffer.current = number
            text = self.buffer.lines[number - 1].text
            start = f"{number}\t" if "n" in flags else ""
            if "l" in flags:
                text = self._unambiguous(text, 8 if start else 0)
            out.write(encode(f"{start}{text}\n"))

    def _unambiguous(self, text: str, column: int) -> str:
        data = encode(text)
        self.ctx.budget.charge(5 * len(data))
        self.ctx.budget.step(len(data) // 16)
        parts: list[str] = []
        for byte in data:
            column += 1
            if column > _COLUMNS:
                column = 1
                parts.append("\\\n")
            if 32 <= byte <= 126:
                shown = f"\\{chr(byte)}" if byte in b"$\\" else chr(byte)
            else:
                shown = f"\\{_ESCAPES.get(byte) or format(byte, '03o')}"
            column += len(shown) - 1
            parts.append(shown)
        return "".join(parts) + ("" if self.traditional else "$")

    def say(self, text: str) -> None:
        """Print a line."""
        self.ctx.stdout.write(encode(f"{text}\n"))

    # commands: lines

    def _texts(self, words: Words) -> list[str]:
        """Read the lines of `a`, `c` and `i` up to a lone dot."""
        texts: list[str] = []
        size = 0
        while True:
            if self.in_global:
                if not words.next:
                    return texts
                end = words.text.index("\n", words.at)
                line, words.at = words.text[words.at : end + 1], end + 1
            else:
                line = self.input.line()
            if line in ("", ".\n"):
                return texts
            size += len(line) + 64
            self.ctx.budget.charge(size)
            texts.append(line[:-1])

    def _append(self, words: Words, at: int) -> None:
        self.buffer.current = at
        texts = self._texts(words)
        if texts:
            self.buffer.insert(at, texts)
            self.buffer.modified = True

    def append(self, words: Words, letter: str) -> None:
        self.read_suffix(words)
        self.begin()
        at = self.second
        if letter == "i":
            self.buffer.current = at
            texts = self._texts(words)
            if texts:
                self.buffer.insert(max(at - 1, 0), texts)
                self.buffer.modified = True
            return
        self._append(words, at)

    def change(self, words: Words, letter: str) -> None:
        self.check_current()
        self.read_suffix(words)
        self.begin()
        self.buffer.delete(self.first, self.second, in_global=self.in_global)
        at = self.buffer.current
        if at >= self.first:
            texts = self._texts(words)
            if texts:
                self.buffer.insert(at - 1, texts)
            return
        self._append(words, at)

    def delete(self, words: Words, letter: str) -> None:
        self.check_current()
        self.read_suffix(words)
        self.begin()
        self.buffer.delete(self.first, self.second, in_global=self.in_global)

    def join(self, words: Words, letter: str) -> None:
        self.check_range(self.buffer.current, self.buffer.current + 1)
        self.read_suffix(words)
        self.begin()
        first, last = self.first, self.second
        if first < last:
            lines = self.buffer.lines[first - 1 : last]
            self.ctx.budget.charge(sum(len(line.text) for line in lines))
            self.buffer.delete(first, last, in_global=self.in_global)
            self.buffer.insert(first - 1, ["".join(line.text for line in lines)])

    def _destination(self, words: Words) -> int:
        saved = self.first, self.second
        self.read_addresses(words)
        if self.traditional and not self.given:
            raise EdError("Destination expected")
        at = self.second
        self._check_last(at)
        self.first, self.second = saved
        return at

    def move(self, words: Words, letter: str) -> None:
        self.check_current()
        at = self._destination(words)
        if letter == "m" and self.first <= at < self.second:
            raise EdError("Invalid destination")
        self.read_suffix(words)
        self.begin()
        if letter == "m":
            self.buffer.move(self.first, self.second, at)
            return
        texts = [line.text for line in self.buffer.lines[self.first - 1 : self.second]]
        self.ctx.budget.charge(sum(map(len, texts)))
        self.buffer.insert(at, texts)
        self.buffer.modified = True

    def put(self, words: Words, letter: str) -> None:
        self._check_last(self.second)
        self.read_suffix(words)
        self.begin()
        if not self.buffer.cut:
            raise EdError("Nothing to put")
        self.buffer.insert(self.second, self.buffer.cut)
        self.buffer.modified = True

    def yank(self, words: Words, letter: str) -> None:
        self.check_current()
        self.read_suffix(words)
        self.buffer.yank(self.first, self.second)

    def undo(self, words: Words, letter: str) -> None:
        self.no_address()
        self.read_suffix(words)
        if self.in_global:
            self.buffer.deactivate()
        self.buffer.undo()

    # commands: the rest of the buffer

    def mark(self, words: Words, letter: str) -> None:
        name = words.take()
        if self.second == 0:
            raise EdError("Invalid address")
        self.read_suffix(words)
        if not ("a" <= name <= "z"):
            raise EdError("Invalid mark character")
        self.buffer.marks[name] = self.buffer.lines[self.second - 1]

    def print(self, words: Words, letter: str) -> None:
        self.check_current()
        self.read_suffix(words)
        flags, self.flags = self.flags + letter, ""
        self.show(self.first, self.second, flags)

    def next_line(self, words: Words, letter: str) -> None:
        self.check_line(self.buffer.current + (self.traditional or not self.in_global))
        self.show(self.second, self.second, "")

    def scroll(self, words: Words, letter: str) -> None:
        self.check_line(self.buffer.current + (not self.in_global))
        if words.next and words.next in "123456789":
            self.window = words.number()
        self.read_suffix(words)
        flags, self.flags = self.flags, ""
        self.show(self.second, min(self.buffer.last, self.second + self.window - 1), flags)

    def number(self, words: Words, letter: str) -> None:
        self.read_suffix(words)
        self.say(str(self.second if self.given else self.buffer.last))

    def comment(self, words: Words, letter: str) -> None:
        words.at = words.text.index("\n", words.at) + 1

    # commands: substitution

    def substitute(self, words: Words, letter: str) -> None:
        self.check_current()
        if words.next in ("\n", "g", "p", "r") or words.next in "123456789":
            self._repeat(words)
        else:
            self._read_substitution(words)
        self.flags = self._printed
        self.begin()
        self._replace(self.first, self.second)

    def _repeat(self, words: Words) -> None:
        """Read what the last substitution is repeated with."""
        seen = ""
        toggles = False
        while words.next != "\n":
            kind = "g" if words.next in "123456789" else words.next
            if kind not in ("g", "p", "r") or kind in seen:
                raise EdError("Invalid command suffix")
            seen += kind
            if words.next in "123456789":
                self._which = words.number()
                continue
            words.take()
            if kind == "g":
                self._which = 0 if self._which else 1
            toggles = toggles or kind == "p"
        if self.patterns.substituted is None:
            raise EdError("No previous substitution")
        if "r" in seen:
            self.patterns.repeat_last()
        if toggles:
            self._printed = "".join(
                flag for flag in "lnp" if (flag in self._printed) != (flag in self._toggled)
            )

    def _read_substitution(self, words: Words) -> None:
        delimiter = words.take()
        if delimiter in " \n":
            raise EdError("Invalid pattern delimiter")
        if words.next == delimiter and self.patterns.last is None:
            raise EdError("No previous pattern")
        source = read_pattern(words, delimiter)
        if words.next != delimiter:
            raise EdError("Missing pattern delimiter")
        words.take()
        self._read_replacement(words, delimiter)
        self._printed, self._which = "", 1
        ignore_case = False
        if words.next == "\n":
            self._printed = "p"  # the newline is left: in a list it prints the line again
        else:
            words.skip(delimiter)
            ignore_case = self._read_flags(words)
        self._toggled = self._printed or "p"
        self.patterns.choose(source, ignore_case=ignore_case)

    def _read_replacement(self, words: Words, delimiter: str) -> None:
        def is_last_newline(at: int) -> bool:
            return words.text[at] == "\n" and (not self.in_global or at + 1 == len(words.text))

        if words.next == "%" and (
            words.text[words.at + 1] == delimiter or is_last_newline(words.at + 1)
        ):
            words.take()
            if self.patterns.replacement is None:
                raise EdError("No previous substitution")
            return
        parts: list[str] = []
        size = 0
        while words.next != delimiter and not is_last_newline(words.at):
            self.ctx.budget.step()
            part = words.take()
            if part == "\\":
                part += words.take()
                if part[1] == "\n" and not self.in_global:
                    line = self.input.line()
                    if not line:
                        raise EdError("Unexpected end-of-file")
                    words.text, words.at = line, 0
            size += len(part)
            self.ctx.budget.charge(size)
            parts.append(part)
        self.patterns.replacement = "".join(parts)

    def _read_flags(self, words: Words) -> bool:
        """Read the suffixes of `s`; return whether letter case is ignored."""
        seen = ""
        while True:
            character = words.next
            if character and character in "123456789" and "g" not in seen:
                self._which = words.number()
                seen += "g"
                continue
            kind = "i" if character == "I" else character
            if not kind or kind not in "gilnp" or kind in seen:
                break
            words.take()
            seen += kind
            if kind == "g":
                self._which = 0
            elif kind != "i":
                self._printed += kind
        if words.take() != "\n":
            raise EdError("Invalid command suffix")
        return "i" in seen

    def _replace(self, first: int, last: int) -> None:
        """Substitute in lines; a newline in the new text makes several of one."""
        buffer = self.buffer
        number, left = first, last - first + 1
        found = False
        while left:
            left -= 1
            text = self.patterns.substitute(buffer.lines[number - 1].text, self._which)
            if text is not None:
                found = True
                buffer.delete(number, number, in_global=self.in_global)
                buffer.insert(number - 1, text.split("\n"))
                number = buffer.current
            number += 1
        if not found and not self.in_global:
            raise EdError("No match")

    # commands: files and commands of the shell

    def _read_name(self, words: Words, *, may_lack: bool = False) -> str:
        """Read the name of a file, or `!` and a command; "" for the default name."""
        if words.next and words.next not in " \t\n\r\f\v":
            raise EdError("Unexpected command suffix")
        words.skip_blanks()
        if words.next != "\n":
            self.input.extend(words, join=True)
            if words.skip("!"):
                return self._read_command(words)
        elif not may_lack and not self.files.name:
            raise EdError("No current filename")
        name = words.rest()
        self.files.check(name)
        return name

    def _read_command(self, words: Words) -> str:
        """Read a command of the shell; return it behind `!`."""
        self.files.check("!")
        self.input.extend(words, join=True)
        command, replaced = self.files.expand(words.rest())
        if replaced:
            self.say(command)
        return f"!{command}"

    def edit(self, words: Words, letter: str) -> None:
        if letter == "e" and self.buffer.modified and not self.warned:
            raise ModifiedError
        self.no_address()
        name = self._read_name(words)
        buffer = self.buffer
        if buffer.last:
            buffer.delete(1, buffer.last, in_global=self.in_global)
        buffer.cut = []
        buffer.forget()
        buffer.modified = buffer.binary = False
        if name and name[0] != "!":
            self.files.name = name
        self.files.read(name or self.files.name, 0)
        buffer.forget()

    def file_name(self, words: Words, letter: str) -> None:
        self.no_address()
        name = self._read_name(words, may_lack=self.traditional)
        if name[:1] == "!":
            raise EdError("Invalid redirection")
        self.files.name = name or self.files.name
        self.say(self.files.name)

    def read_file(self, words: Words, letter: str) -> None:
        if not self.given:
            self.second = self.buffer.last
        name = self._read_name(words)
        if not self.files.name and name[:1] != "!":
            self.files.name = name
        self.begin()
        if self.files.read(name or self.files.name, self.second):
            self.buffer.modified = True

    def write_file(self, words: Words, letter: str) -> None:
        ending = words.next if words.next in ("q", "Q") else ""
        words.at += len(ending)
        name = self._read_name(words)
        buffer = self.buffer
        if not self.given and not buffer.last:
            self.first = self.second = 0
        else:
            self.check_range(1, buffer.last)
        if not self.files.name and name[:1] != "!":
            self.files.name = name
        count = self.files.write(
            name or self.files.name, self.first, self.second, append=letter == "W"
        )
        if count == buffer.last and name[:1] != "!":
            buffer.modified = False
        elif ending == "q" and buffer.modified and not self.warned:
            raise ModifiedError
        if ending:
            raise Quit

    def shell(self, words: Words, letter: str) -> None:
        self.no_address()
        self.files.system(self._read_command(words)[1:])

    # commands: the editor

    def repeat(self, words: Words, letter: str) -> None:
        """`g`, `v`, `G` and `V`."""
        if self.in_global:
            raise EdError("Cannot nest global commands")
        self.check_range(1, self.buffer.last)
        regex = self.patterns.read(words)
        wanted = letter in "gG"
        found = []
        for line in self.buffer.lines[self.first - 1 : self.second]:
            self.ctx.budget.step()
            if regex.test(line.text, self.ctx.budget) == wanted:
                found.append(line)
        self.buffer.activate(found)
        asks = letter in "GV"
        if asks:
            self.read_suffix(words)
        flags, self.flags = self.flags, ""
        text = "" if asks else self._command_list(words)
        self.buffer.begin()
        self.in_global = True
        try:
            self._visit(text, flags, asks=asks)
        finally:
            self.in_global = False
        self.flags = flags
        words.at = len(words.text)

    def _command_list(self, words: Words) -> str:
        if self.traditional and words.text[words.at :] == "\n":
            return "p\n"
        self.input.extend(words, join=False)
        return words.text[words.at :]

    def _visit(self, text: str, flags: str, *, asks: bool) -> None:
        """Execute a command list, or one that is read, for each line of a global command."""
        self.warned = False
        while (line := self.buffer.next_active()) is not None:
            self.ctx.budget.step()
            self.buffer.current = self.buffer.number_of(line)
            if asks:
                self.show(self.buffer.current, self.buffer.current, flags)
                given = self.input.line()
                if not given:
                    raise EdError("Unexpected end-of-file")
                if given == "\n":
                    continue
                if given != "&\n":
                    words = Words(given)
                    self.input.extend(words, join=False)
                    text = words.text[words.at :]
                elif not text:
                    raise EdError("No previous command")
            words = Words(text)
            while words.next:
                self.execute(words)

    def help(self, words: Words, letter: str) -> None:
        self.no_address()
        self.read_suffix(words)
        if letter == "H":
            self.verbose = not self.verbose
        if self.message and (letter == "h" or self.verbose):
            self.say(self.message)

    def toggle_prompt(self, words: Words, letter: str) -> None:
        self.no_address()
        self.read_suffix(words)
        self.prompts = not self.prompts

    def quit(self, words: Words, letter: str) -> None:
        self.no_address()
        self.read_suffix(words)
        if letter == "q" and self.buffer.modified and not self.warned:
            raise ModifiedError
        raise Quit


_COMMANDS: dict[str, Callable[[Editor, Words, str], None]] = {
    "a": Editor.append, "i": Editor.append, "c": Editor.change, "d": Editor.delete,
    "j": Editor.join, "m": Editor.move, "t": Editor.move, "x": Editor.put, "y": Editor.yank,
    "u": Editor.undo, "k": Editor.mark, "z": Editor.scroll, "=": Editor.number,
    "#": Editor.comment, "\n": Editor.next_line, "s": Editor.substitute, "f": Editor.file_name,
    "r": Editor.read_file, "!": Editor.shell, "P": Editor.toggle_prompt,
    **dict.fromkeys("lnp", Editor.print), **dict.fromkeys("eE", Editor.edit),
    **dict.fromkeys("wW", Editor.write_file), **dict.fromkeys("gvGV", Editor.repeat),
    **dict.fromkeys("hH", Editor.help), **dict.fromkeys("qQ", Editor.quit),
}  # fmt: skip
