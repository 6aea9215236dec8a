"""Parses sed scripts, in the pieces of -e and -f, with GNU sed's rules and messages."""

from __future__ import annotations

from agentsandbox.commands.sed.escapes import (
    read_characters,
    read_replacement,
    unescape,
    with_characters,
)
from agentsandbox.commands.sed.nodes import Address, Command, Script, SedError, Substitution
from agentsandbox.commands.sed.reader import BLANK, Reader
from agentsandbox.kernel.regexps import PosixRegex, RegexError, compile_posix
from agentsandbox.kernel.streams import decode, encode

_SPACE = " \t\r\f\v"
_COMMANDS = frozenset("{}=acdDghGHilnNpPqQrsTtwxyzb:#")
_ONE_ADDRESS = frozenset("qQ")


class Parser(Reader):
    """Parses one piece after the other with `feed`, then `finish`."""

    def __init__(self, *, extended: bool, bytewise: bool = False) -> None:
        super().__init__(bytewise=bytewise)
        self.extended = extended
        self.commands: list[Command] = []
        self.blocks: list[tuple[int, str]] = []
        """Open blocks: index of the command, where it was opened."""
        self.quiet = False
        self.pending: Command | None = None
        """An a, i or c whose text begins the next piece."""
        self.where = ""

    def feed(self, text: str, file: str | None = None) -> None:
        """Read one piece: the argument of -e, or a file's content."""
        self.file = file
        if file is None:
            self.pieces += 1
        self.text = text
        self.position = 0
        if (
            not self.commands
            and self.pending is None
            and text.startswith("#n")
            and self.pieces <= 1
        ):
            self.quiet = True
        if self.pending is not None:
            command, self.pending = self.pending, None
            self._read_text(command)
        while self._command():
            pass

    def finish(self) -> Script:
        """Return the whole script; raises `SedError`."""
        self.pending = None
        if self.blocks:
            self.where = self.blocks[-1][1]
            raise SedError(f"{self.where}: unmatched `{{'")
        labels: dict[str, int] = {}
        for index, command in enumerate(self.commands):
            if command.name == ":":
                labels[command.label] = index
        for command in self.commands:
            if command.name in "btT":
                if command.label and command.label not in labels:
                    raise SedError(f"can't find label for jump to `{command.label}'", 4)
                command.target = labels.get(command.label, len(self.commands))
        return Script(self.commands, self._place(position=0), quiet=self.quiet)

    # commands

    def _command(self) -> bool:
        """Read one command; false at the end of the piece."""
        character = self._skip(_SPACE + "\n;")
        if not character:
            return False
        if character == "#":
            self._comment()
            return True
        first = self._address(character, second=False)
        second: Address | None = None
        if first is not None:
            character = self._skip(BLANK)
            if character == ",":
                character = self._skip(BLANK)
                second = self._address(character, second=True)
                if second is None:
                    raise self._error("unexpected `,'")
                character = self._skip(BLANK)
        self._check_zero(first, second)
        negated = False
        if character == "!":
            negated = True
            character = self._skip(BLANK)
            if character == "!":
                raise self._error("multiple `!'s")
        if not character:
            raise self._error("missing command")
        if character not in _COMMANDS:
            raise self._unknown(character)
        command = Command(character, first, second, negated=negated)
        self._check_addresses(command)
        self._arguments(command)
        return True

    def _unknown(self, character: str) -> SedError:
        """Return the error for a character that is no command: it names its first byte."""
        data = encode(character)
        place = self._place(further=1 - len(data))
        return SedError(f"{place}: unknown command: `{decode(data[:1])}'")

    def _comment(self) -> None:
        end = self.text.find("\n", self.position)
        self.position = len(self.text) if end < 0 else end + 1

    def _check_zero(self, first: Address | None, second: Address | None) -> None:
        if first is not None and first.kind == "line" and first.number == 0:
            if second is None or second.kind != "regex":
                raise self._error("invalid usage of line address 0")
            first.kind = "zero"

    def _check_addresses(self, command: Command) -> None:
        name = command.name
        if command.first is None:
            return
        if name == ":":
            raise self._error(": doesn't want any addresses")
        if name == "}":
            raise self._error("} doesn't want any addresses" if self.blocks else "unexpected `}'")
        if name == "#":
            raise self._error("comments don't accept any addresses")
        if command.second is not None and name in _ONE_ADDRESS:
            raise self._error("command only uses one address")

    def _arguments(self, command: Command) -> None:
        """Read what comes after a command's letter, and keep it."""
        name = command.name
        if name == "{":
            self.blocks.append((len(self.commands), self._place(position=0)))
            self.commands.append(command)
        elif name == "}":
            self._close_block()
        elif name in "aic":
            self._text_command(command)
        elif name in ":btT":
            command.label = self._label()
            if name == ":" and not command.label:
                raise self._error('":" lacks a label')
            self.commands.append(command)
        elif name in "rw":
            command.text = self._file_name()
            self.commands.append(command)
        elif name == "s":
            self._substitute(command)
            self.commands.append(command)
        elif name == "y":
            self._transliterate(command)
            self.commands.append(command)
        else:
            self._simple_arguments(command)

    def _simple_arguments(self, command: Command) -> None:
        name = command.name
        if name in "qQl":
            character = self._skip(BLANK)
            if character and character in "0123456789":
                command.number = self._number(character)
            else:
                self._back(character)
        self._end_of_command()
        self.commands.append(command)

    def _close_block(self) -> None:
        if not self.blocks:
            raise self._error("unexpected `}'")
        index, _ = self.blocks.pop()
        self.commands[index].target = len(self.commands)
        self._end_of_command()

    def _label(self) -> str:
        """Read a label; another command may follow at once."""
        character = self._skip(BLANK)
        start = self.position - len(character)
        text = self.text
        self.position = start
        while self.position < len(text) and text[self.position] not in BLANK + "\n;}":
            self.position += 1
        return text[start : self.position]

    def _file_name(self) -> str:
        character = self._skip(BLANK)
        self._back(character)
        end = self.text.find("\n", self.position)
        end = len(self.text) if end < 0 else end
        name = self.text[self.position : end]
        self.position = min(end + 1, len(self.text))
        if not name:
            raise self._error("missing filename in r/R/w/W commands")
        return name

    # addresses

    def _address(self, character: str, *, second: bool) -> Address | None:
        """Read the address that begins with `character`; None if it does not begin one."""
        if character and character in "0123456789":
            number = self._number(character)
            following = self._skip(BLANK)
            if following == "~":
                digit = self._skip(BLANK)
                step = 0
                if digit and digit in "0123456789":
                    step = self._number(digit)
                else:
                    self._back(digit)
                return Address("step", number, step) if step else Address("line", number)
            self._back(following)
            return Address("line", number)
        if character == "+":
            digit = self._skip(BLANK)
            number = 0
            if digit and digit in "0123456789":
                number = self._number(digit)
            else:
                self._back(digit)
            if not second:
                raise self._error("invalid usage of +N or ~N as first address")
            return Address("plus", number)
        if character == "$":
            return Address("last")
        if character in ("/", "\\"):
            return self._regex_address(character)
        return None

    def _regex_address(self, character: str) -> Address:
        if character == "\\":
            character = self._next()
            self._check_delimiter(character)
            if character in ("", "\n"):
                raise self._error("unterminated address regex")
        source = self._delimited(character, regex=True)
        if source is None:
            raise self._error("unterminated address regex")
        ignore_case = False
        while (flag := self._skip(BLANK)) == "I":
            ignore_case = True
        self._back(flag)
        return Address("regex", regex=self._compile(source, ignore_case=ignore_case))

    def _compile(self, source: str, *, ignore_case: bool) -> PosixRegex | None:
        """Return the pattern; None for an empty one, which means the last one used."""
        if not source and ignore_case:
            raise self._error("cannot specify modifiers on empty regexp")
        if not source:
            return None
        source = with_characters(source)
        if not self.bytewise:
            source = decode(encode(source))  # bytes that make a character
        try:
            return compile_posix(
                source,
                extended=self.extended,
                ignore_case=ignore_case,
                dialect="sed",
                bytewise=self.bytewise,
            )
        except RegexError as error:
            if error.message.startswith("character class syntax"):
                raise SedError(error.message, 4) from None
            raise self._error(error.message) from None

    # s and y

    def _substitute(self, command: Command) -> None:
        delimiter = self._next()
        self._check_delimiter(delimiter)
        left = self._delimited(delimiter, regex=True) if delimiter not in ("", "\n") else None
        right = self._delimited_right(delimiter) if left is not None else None
        if left is None or right is None:
            raise self._error("unterminated `s' command")
        substitution = Substitution(None, read_replacement(right, bytewise=self.bytewise))
        command.substitution = substitution
        ignore_case = self._flags(substitution)
        substitution.regex = self._compile(left, ignore_case=ignore_case)
        highest = substitution.replacement.highest_group
        if substitution.regex is not None and highest > substitution.regex.groups:
            raise self._error(f"invalid reference \\{highest} on `s' command's RHS")

    def _flags(self, substitution: Substitution) -> bool:
        """Read the flags of `s`; return whether case is ignored."""
        ignore_case = False
        while True:
            flag = self._next()
            if flag in ("i", "I"):
                ignore_case = True
            elif flag == "p":
                if substitution.prints:
                    raise self._error("multiple `p' options to `s' command")
                substitution.prints = True
            elif flag == "g":
                if substitution.everywhere:
                    raise self._error("multiple `g' options to `s' command")
                substitution.everywhere = True
            elif flag == "w":
                substitution.file = self._file_name()
                return ignore_case
            elif flag and flag in "0123456789":
                self._number_flag(flag, substitution)
            elif flag and flag in BLANK:
                continue
            elif flag == "\r" and self._next() == "\n":
                return ignore_case
            elif flag in ("", "\n", ";", "}", "#"):
                if flag in ("}", "#"):
                    self._back(flag)
                return ignore_case
            else:
                raise SedError(
                    f"{self._place(further=1 - len(encode(flag)))}: unknown option to `s'"
                )

    def _number_flag(self, flag: str, substitution: Substitution) -> None:
        if substitution.number:
            raise self._error("multiple number options to `s' command")
        substitution.number = self._number(flag)
        if not substitution.number:
            raise self._error("number option to `s' command may not be zero")

    def _transliterate(self, command: Command) -> None:
        delimiter = self._next()
        self._check_delimiter(delimiter)
        left = self._delimited(delimiter, regex=False) if delimiter not in ("", "\n") else None
        right = self._delimited(delimiter, regex=False) if left is not None else None
        if left is None or right is None:
            raise self._error("unterminated `y' command")
        source, target = read_characters(left), read_characters(right)
        if len(source) != len(target):
            raise self._error("strings for `y' command are different lengths")
        for before, after in zip(source, target, strict=True):
            command.table.setdefault(ord(before), after)
        self._end_of_command()

    # text

    def _text_command(self, command: Command) -> None:
        """Read the text of a, i or c: on this line, or after a backslash and a newline."""
        character = self._skip(BLANK)
        if not character:
            raise self._error("expected \\ after `a', `c' or `i'")
        self.commands.append(command)
        if character == "\\":
            following = self._next()
            if not following:
                self.pending = command
                return
            if following != "\n":
                self._back(following)
                self.position += (
                    self.text.startswith("\\\n", self.position)
                    or self.text[self.position :] == "\\"
                )
            self._read_text(command)
            return
        self._back(character)
        self._read_text(command)

    def _read_text(self, command: Command) -> None:
        r"""Read text up to a newline without a backslash before it."""
        text, position = self.text, self.position
        out: list[str] = []
        while position < len(text):
            character = text[position]
            position += 1
            if character == "\n":
                break
            if character == "\\":
                if position >= len(text):  # the text continues in the next piece
                    self.pending = command
                    break
                if text[position] == "\n":
                    out.append("\n")
                    position += 1
                elif text[position] == "c" and text[position + 1 : position + 2] in ("", "\n"):
                    self.position = position + 2
                    command.text += "".join([*out, "J"])  # control and the newline
                    return
                else:
                    piece, position = unescape(self.text, position)
                    out.append(piece)
            else:
                out.append(character)
        self.position = position
        command.text += "".join(out) + "\n"
