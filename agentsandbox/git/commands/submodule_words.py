"""The usage text and the words of `git submodule`."""

from __future__ import annotations

from agentsandbox.git.errors import Quit
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.invocation import Invocation
    from agentsandbox.git.superproject import Superproject

USAGE = """usage: git submodule [--quiet] [--cached]
   or: git submodule [--quiet] add [-b <branch>] [-f|--force] [--name <name>] \
[--reference <repository>] [--] <repository> [<path>]
   or: git submodule [--quiet] status [--cached] [--recursive] [--] [<path>...]
   or: git submodule [--quiet] init [--] [<path>...]
   or: git submodule [--quiet] deinit [-f|--force] (--all| [--] <path>...)
   or: git submodule [--quiet] update [--init [--filter=<filter-spec>]] [--remote] \
[-N|--no-fetch] [-f|--force] [--checkout|--merge|--rebase] [--[no-]recommend-shallow] \
[--reference <repository>] [--recursive] [--[no-]single-branch] [--] [<path>...]
   or: git submodule [--quiet] set-branch (--default|--branch <branch>) [--] <path>
   or: git submodule [--quiet] set-url [--] <path> <newurl>
   or: git submodule [--quiet] summary [--cached|--files] [--summary-limit <n>] [commit] \
[--] [<path>...]
   or: git submodule [--quiet] foreach [--recursive] <command>
   or: git submodule [--quiet] sync [--recursive] [--] [<path>...]
   or: git submodule [--quiet] absorbgitdirs [--] [<path>...]"""
QUIET = {"-q": "quiet", "--quiet": "quiet"}


class Words:
    """The words of one action: options first, as the shell script of git reads them."""

    def __init__(
        self, git: Invocation, words: list[str], options: dict[str, str], *, dashes: bool = True
    ) -> None:
        """Take the options: `options` maps a spelling to a name, with a final "=" for a value.

        With `dashes`, "--" ends them.
        """
        self.given: dict[str, str] = {}
        rest = list(words)
        while rest:
            word = rest[0]
            if word == "--" and dashes:
                del rest[0]
                break
            name = options.get(word)
            if name is None:
                long, equals, value = word.partition("=")
                name = options.get(long, "") if equals and long.startswith("--") else ""
                if name.endswith("="):
                    self.given[name[:-1]] = value
                    del rest[0]
                    continue
                if word.startswith("-"):
                    raise refused_usage(git)
                break
            del rest[0]
            if name.endswith("="):
                if not rest or not rest[0]:
                    raise refused_usage(git)
                self.given[name[:-1]] = rest.pop(0)
            else:
                self.given[name] = word
        self.operands = rest

    def on(self, name: str) -> bool:
        """Whether an option was given."""
        return name in self.given


def refused_usage(git: Invocation, text: str = "") -> Quit:
    """Print a usage text and return what ends the command."""
    git.say(text or USAGE)
    return Quit(129 if text else 1)


def chosen_to_init(top: Superproject, words: list[str]) -> list[str]:
    """Return the paths that `init` means: those named, or the active ones, or all."""
    found = [decode(entry.path) for entry in top.listed(words)]
    if not words and top.repository.config.find("submodule.active") is not None:
        found = [path for path in found if top.modules.is_active(path)]
    return found
