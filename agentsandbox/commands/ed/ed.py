"""`ed` (GNU ed 1.19): edit a file line by line, by commands from standard input."""

from __future__ import annotations

from agentsandbox.commands._text.lines import is_regular
from agentsandbox.commands.ed.buffer import Buffer
from agentsandbox.commands.ed.editor import Editor
from agentsandbox.commands.ed.errors import EdError, ModifiedError, Quit
from agentsandbox.commands.ed.files import FatalReadError, Files
from agentsandbox.commands.ed.source import Words
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners, Release
from agentsandbox.kernel.streams import encode

_USAGE = """
Usage: ed [OPTION]... [FILE]
Edit FILE line by line, by commands from standard input.

  -E, --extended-regexp      use extended regular expressions
  -G, --traditional          run in compatibility mode
  -l, --loose-exit-status    exit with status 0 even if a command fails
  -p, --prompt=STRING        use STRING as a prompt
  -q, --quiet, --silent      suppress reasons on standard error
  -r, --restricted           no files of other directories, no commands of the shell
  -s, --script               suppress byte counts and the `!' prompt
  -v, --verbose              print messages, as after the command H
      --strip-trailing-cr    strip carriage returns at the ends of lines

FILE may be `!COMMAND', whose output is read. If standard input is a file,
the first error ends the editor.
"""


class _Session:
    """A run of the editor.

    goes_on  whether it goes on after errors: its commands do not come from a file
    loose    whether errors leave the status 0
    """

    def __init__(self, ctx: CommandContext, editor: Editor, *, loose: bool) -> None:
        self.ctx = ctx
        self.editor = editor
        self.loose = loose
        self.goes_on = not is_regular(ctx.stdin)
        self.status = 0
        self._failed = False

    def open(self, names: list[str]) -> bool:
        """Read the file that is named; false if that ends the editor."""
        files = self.editor.files
        while names and names[0] == "-":
            files.scripted = True
            names = names[1:]
        if not names:
            return True
        try:
            files.check(names[0])
        except EdError as error:
            return self._complain(str(error))
        fatal = ""
        try:
            files.read(names[0], 0)
        except EdError as error:
            self.editor.message = str(error)
            if not self.goes_on:
                return False
            fatal = str(error) if isinstance(error, FatalReadError) else ""
        self.editor.buffer.forget()
        if names[0][:1] != "!":
            files.name = names[0]
        return self._complain(fatal) if fatal else True

    def _complain(self, message: str) -> bool:
        """Note an error before the first command."""
        self.editor.message = message
        if not self.goes_on:
            return False
        self.ctx.print("?")
        self.status = 1
        self._failed = True
        return True

    def run(self) -> int:
        """Execute the commands; return the exit status."""
        editor, ctx = self.editor, self.ctx
        while True:
            if self._failed and editor.verbose:
                editor.say(editor.message)
            if editor.prompts:
                ctx.stdout.write(encode(editor.prompt))
            self._failed = False
            line = editor.input.line()
            try:
                if not line:
                    if not editor.buffer.modified or editor.warned:
                        return self.status
                    self.status = self.status if self.loose else 2
                    raise ModifiedError
                editor.execute(Words(line))
                editor.warned = False
            except Quit:
                return self.status
            except EdError as error:
                editor.message = str(error)
                editor.warned = isinstance(error, ModifiedError)
                ctx.print("?")
                self._failed = True
                if not self.loose and not self.status:
                    self.status = 1
                if not self.goes_on:
                    if editor.verbose:
                        editor.say(f"script, line {editor.input.number}: {error}")
                    return self.status


@command("ed", _USAGE, manners=Manners(Release("GNU NAME 1.19"), read_error=("NAME: REASON", 1)))
def ed(ctx: CommandContext, args: Arguments) -> int:
    buffer = Buffer(ctx.budget)
    files = Files(
        ctx,
        buffer,
        quiet=args.flag("quiet"),
        restricted=args.flag("restricted"),
        scripted=args.flag("script"),
        strip_cr=args.flag("strip-trailing-cr"),
    )
    editor = Editor(
        ctx,
        buffer,
        files,
        extended=args.flag("extended-regexp"),
        traditional=args.flag("traditional"),
        verbose=args.flag("verbose"),
        prompt=args.value("prompt"),
    )
    session = _Session(ctx, editor, loose=args.flag("loose-exit-status"))
    if not session.open(list(args.operands)):
        return 2
    return session.run()
