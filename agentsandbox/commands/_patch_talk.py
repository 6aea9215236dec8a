"""What patch says of its input: what it looks like, and where it ends."""

from __future__ import annotations

from agentsandbox.errors import CommandError
from agentsandbox.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.command import CommandContext
    from agentsandbox.commands._patch_options import PatchOptions
    from agentsandbox.languages.diff.patches import FilePatch, PatchText

__all__ = ["PatchTalk"]

_TROUBLE = 2
_LOOKS = {
    "unified": "a unified diff",
    "git": "a unified diff",
    "context": "a new-style context diff",
    "normal": "a normal diff",
    "ed": "an ed script",
}


class PatchTalk:
    """Messages, as much as the options ask for."""

    def __init__(self, ctx: CommandContext, options: PatchOptions) -> None:
        self.ctx = ctx
        self.options = options

    def say(self, text: str) -> None:
        """A message, unless silent."""
        if not self.options.silent:
            self.tell(text)

    def tell(self, text: str) -> None:
        """A message on stdout, or on stderr when the result goes to stdout."""
        (self.ctx.stderr if self.options.output == "-" else self.ctx.stdout).write(encode(text))

    def say_cut(self, cut: bool) -> None:
        """Say, if so, that a last line without newline was met."""
        if cut:
            self.tell("patch unexpectedly ends in middle of line\n")

    def say_rest(self, patch: FilePatch) -> None:
        """What comes up after the last hunk; raise what is wrong there."""
        self.say_cut(patch.cut_after)
        if patch.error:
            raise CommandError(f"**** {patch.error}", _TROUBLE)

    def introduce(self, patch: FilePatch, *, first: bool) -> None:
        """What is said while looking for a patch. The first hunk of a context difference is read here, too."""
        verbose = self.options.verbose
        if verbose:
            self.say("Hmm...")
        self.say_cut(patch.cut_before)
        if patch.kind == "context" and not patch.hunks:
            self.say_rest(patch)
        if verbose:
            self.say(f"  {'Looks' if first else 'The next patch looks'} like {_LOOKS[patch.kind]} to me...\n")

    def show_leading(self, patch: FilePatch) -> None:
        """The text before the first hunk."""
        if not patch.leading:
            return
        self.tell("The text leading up to this was:\n--------------------------\n")
        for line in patch.leading:
            self.tell("|" + decode(line.rstrip(b"\n")) + "\n")
        self.tell("--------------------------\n")

    def conclude(self, text: PatchText) -> None:
        """What is said while looking for another patch where there is none."""
        verbose = self.options.verbose
        if verbose and (text.garbage or not text.patches):
            self.say("Hmm...")
        self.say_cut(text.cut)
        if verbose and not text.patches:
            self.say("  I can't seem to find a patch in there anywhere.\n")
        elif verbose:
            self.say("  Ignoring the trailing garbage.\ndone\n" if text.garbage else "done\n")
