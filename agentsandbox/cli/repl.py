"""`agentsandbox shell`: an interactive shell on prompt_toolkit.

If standard input is not a terminal, it is run as a script.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import re
import signal
import sys

from agentsandbox.cli.printing import complain
from agentsandbox.cli.terminal import is_terminal, pass_on, read_input

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from prompt_toolkit.completion import CompleteEvent, Completion
    from prompt_toolkit.document import Document

    from agentsandbox.policy import CommandRequest
    from agentsandbox.sandbox import Sandbox

_LOGOUT = re.compile(r"\s*logout(?![^\s;])")


def run_shell(sandbox: Sandbox) -> int:
    """Read and run commands until `exit` or the end of input; return the last exit status."""
    if not is_terminal():
        return sandbox.execute("bash", stdin=read_input(), on_output=pass_on).exit_code
    try:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.completion import Completer
        from prompt_toolkit.formatted_text import FormattedText
        from prompt_toolkit.history import InMemoryHistory
    except ImportError:
        complain("the interactive shell needs the extra 'cli': pip install 'agentsandbox[cli]'")
        return 2

    class ShellCompleter(Completer):
        def get_completions(
            self, document: Document, complete_event: CompleteEvent
        ) -> Iterable[Completion]:
            from prompt_toolkit.completion import Completion

            del complete_event
            word, candidates = complete(sandbox, document.text_before_cursor)
            for candidate in candidates:
                yield Completion(candidate, start_position=-len(word))

    session: PromptSession[str] = PromptSession(
        history=InMemoryHistory(), completer=ShellCompleter(), complete_while_typing=False
    )
    status = 0
    while True:
        color = "ansigreen" if status == 0 else "ansired"
        prompt = FormattedText(
            [("ansicyan", "agent"), ("", ":"), ("ansiblue", sandbox.cwd), (color, " $ ")]
        )
        try:
            text = session.prompt(prompt)
            while needs_more(text):
                text += "\n" + session.prompt("> ")
        except KeyboardInterrupt:
            continue
        except EOFError:
            return status
        ending = Ending()
        status = _run_interruptibly(sandbox, as_exit(text), ending)
        if ending.reached:
            return status


def as_exit(text: str) -> str:
    """Return a command with `exit` in place of `logout`, which works in a login shell."""
    match = _LOGOUT.match(text)
    return text if match is None else f"exit{text[match.end() :]}"


class Ending:
    """An observer of commands: whether the main shell ran `exit`, also inside a construct."""

    def __init__(self) -> None:
        self.reached = False

    def __call__(self, request: CommandRequest) -> None:
        words = itertools.dropwhile(lambda word: word in ("builtin", "command"), request.argv)
        self.reached |= request.is_main and next(words, "") == "exit"


def needs_more(text: str) -> bool:
    """Whether a text ends inside a construct and needs another line."""
    from agentsandbox.errors import LimitReached, ShellSyntaxError
    from agentsandbox.shell.syntax.parser import Parser

    if text.endswith("\\"):
        return True
    parser = Parser(text if text.endswith("\n") else f"{text}\n")
    try:
        while parser.next_command() is not None:
            pass
    except ShellSyntaxError as error:
        return "end of file" in error.message or "unexpected EOF" in error.message
    except LimitReached:
        return False
    return any("here-document" in warning for _, warning in parser.warnings)


def _run_interruptibly(sandbox: Sandbox, text: str, ending: Ending) -> int:
    """Run a command; Ctrl-C stops the command, not the shell."""

    async def run() -> int:
        task = asyncio.ensure_future(sandbox.aexecute(text, on_output=pass_on, on_command=ending))
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, task.cancel)
        try:
            result = await task
        except asyncio.CancelledError:
            print("^C", file=sys.stderr)
            return 130
        finally:
            loop.remove_signal_handler(signal.SIGINT)
        return result.exit_code

    return asyncio.run(run())


def complete(sandbox: Sandbox, before: str) -> tuple[str, list[str]]:
    """Return the word before the cursor and its completions: commands, variables, files."""
    word = before[max(before.rfind(char) for char in " \t\n|&;()<>=") + 1 :]
    if word.startswith("$"):
        names = sandbox.execute("compgen -v", state="discard").stdout.split()
        return word, [f"${name}" for name in names if name.startswith(word[1:])]
    head = before[: len(before) - len(word)].rstrip()
    if (not head or head[-1] in "|&;(") and "/" not in word:
        names = sorted(set(sandbox.execute("compgen -c", state="discard").stdout.split()))
        return word, [name for name in names if name.startswith(word)]
    directory, _, prefix = word.rpartition("/")
    path = directory or ("/" if word.startswith("/") else ".")
    full = os.path.join(sandbox.cwd, path)
    try:
        names = sandbox.fs.listdir(full)
    except OSError:
        return word, []
    base = f"{directory}/" if "/" in word else ""
    return word, [
        f"{base}{name}" + ("/" if sandbox.fs.is_dir(os.path.join(full, name)) else "")
        for name in names
        if name.startswith(prefix) and (prefix.startswith(".") or not name.startswith("."))
    ]
