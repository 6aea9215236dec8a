"""What commands, the host's own too, declare about themselves."""

from __future__ import annotations

import pytest

from agentsandbox import Sandbox
from agentsandbox.commands import find_command, names
from agentsandbox.contract import usage as usage_texts
from agentsandbox.contract.command import Arguments, Command, CommandContext, command
from agentsandbox.contract.manners import SILENT, Manners, Release
from agentsandbox.contract.usage import parse_usage


def make(
    manners: Manners,
    usage: str = "Usage: own [OPTION]...\nPrint a line.\n\n  -n, --number  a number\n",
) -> Command:
    @command("own", usage=usage, manners=manners)
    def own(ctx: CommandContext, args: Arguments) -> int:
        ctx.print(decoded if (decoded := ctx.stdin.read().decode("ascii")) else "a line")
        return 0

    return own


def run(manners: Manners, script: str) -> tuple[str, str, int]:
    with Sandbox(commands=[make(manners)]) as sandbox:
        result = sandbox.execute(script)
        return result.stdout, result.stderr, result.exit_code


def test_manners_are_values() -> None:
    manners = Manners(Release("NAME 1"), pure=True)
    with pytest.raises(AttributeError, match="immutable"):
        manners.pure = False
    with pytest.raises(AttributeError, match="immutable"):
        manners.release.text = ""  # type: ignore[union-attr]


def test_a_release_brings_the_option() -> None:
    assert (
        run(Manners(Release("NAME (suite) 1.2")), "own --version | head -n 1")[0]
        == "own (suite) 1.2\n"
    )
    assert run(Manners(), "own --version")[1:] == (
        "own: unrecognized option '--version'\nTry 'own --help' for more information.\n",
        1,
    )
    for usage in ("Usage: own\n\n  -h, --help    help\n", "Usage: own\n"):
        keys = {
            option.key
            for option in parse_usage(
                make(Manners(Release("NAME 1", "-V, --version")), usage).usage
            )
        }
        assert "version" in keys


@pytest.mark.parametrize(
    ("manners", "script", "stderr", "status"),
    [
        (Manners(), "own > /dev/full", "own: write error: No space left on device\n", 1),
        (Manners(write_error=SILENT), "own > /dev/full", "", 0),
        (Manners(full_write_error=("NAME: full", 3)), "own > /dev/full", "own: full\n", 3),
        (Manners(closed_write_error=("REASON!", 4)), "own >&-", "Bad file descriptor!\n", 4),
        (Manners(), "own < /", "own: -: Is a directory\n", 1),
        (
            Manners(read_error=("NAME: no input: REASON", 7)),
            "own < /",
            "own: no input: Is a directory\n",
            7,
        ),
        (Manners(unreadable_is_empty=(None, "")), "own < / > /dev/null", "", 0),
        (
            Manners(closing_error="NAME: closing: REASON"),
            "own <&-",
            "own: -: Bad file descriptor\nown: closing: Bad file descriptor\n",
            1,
        ),
    ],
)
def test_words_for_unusable_streams(
    manners: Manners, script: str, stderr: str, status: int
) -> None:
    assert run(manners, script)[1:] == (stderr, status)


def test_an_order_of_long_options_names_the_possibilities() -> None:
    with Sandbox(commands=[make(Manners(long_options="number help"))]) as sandbox:
        assert "possibilities: '--number' '--help'" in sandbox.execute("own --=x").stderr


def test_a_pure_command_runs_in_the_shell_itself() -> None:
    shells: list[object] = []

    def recording(manners: Manners) -> Command:
        @command("own", usage="Usage: own\n", manners=manners)
        def own(ctx: CommandContext, args: Arguments) -> int:
            shells.append(ctx.run.__self__.shell)  # type: ignore[attr-defined]
            return 0

        return own

    for manners, same in ((Manners(pure=True), True), (Manners(), False)):
        shells.clear()
        with Sandbox(commands=[recording(manners)]) as sandbox:
            assert sandbox.execute("own; own | cat; x=$(own)").exit_code == 0
        assert [shell is shells[0] for shell in shells] == [True, same, same]


def test_the_possibilities_are_options_of_the_tool() -> None:
    """What a command lists and knows must not drift apart altogether: most of its own long options
    stand in the order.
    """
    for name in sorted(names()):
        found = find_command(name)
        assert found is not None
        order = set(found.manners.long_options.split())
        own = {
            spelling[2:]
            for option in parse_usage(found.usage)
            for spelling in option.spellings
            if spelling.startswith("--")
        }
        assert not order or not own or order & own, name


def test_options_of_the_usual_form_are_read_as_by_the_pattern(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = [found.usage for name in sorted(names()) if (found := find_command(name)) is not None]
    texts.append("\n".join(f"  {line}" for line in UNUSUAL))

    def options() -> list[tuple[str, tuple[str, ...], int]]:
        read = [option for text in texts for option in parse_usage(text)]
        return [(option.key, option.spellings, option.takes) for option in read]

    quickly = options()
    monkeypatch.setattr(usage_texts, "_simple_option", lambda _line: None)
    assert options() == quickly


UNUSUAL = (
    "-a, --all=N, --every  all", "--b[=]  b", "--b[=  b", "-bc  b", "-é  e", "--c d  c",
    "-i[X]Y  i",
    "-d[e], --dd[E]  d", "--e=a b  e", "--f=  f", "-g,--gg  g", "-h\t h", "-  none", "--  none",
    "---j  j", "-k, --k-k[=[X]]  k", "-l <x>  l", "-m", "-n,  n", "-o, o  o", "-?  ?", "-p=P  p",
)  # fmt: skip
