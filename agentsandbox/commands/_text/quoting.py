"""How GNU tools show file names: see `languages.names`, and what the environment says."""

from __future__ import annotations

from agentsandbox.commands._files.names import (
    STYLES,
    is_printable,
    printable,
    quote,
    quote_always,
    quote_as,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.contract.command import CommandContext

__all__ = [
    "STYLES",
    "is_printable",
    "printable",
    "quote",
    "quote_always",
    "quote_as",
    "style_of_environment",
]


def style_of_environment(ctx: CommandContext) -> str | None:
    """Return the one of `STYLES` that QUOTING_STYLE names or abbreviates.

    Any other text gives a warning and None.
    """
    text = ctx.env.get("QUOTING_STYLE")
    if text is None or text in STYLES:
        return text
    found = [style for style in STYLES if style.startswith(text)]
    if len(found) == 1:
        return found[0]
    ctx.warn(
        f"ignoring invalid value of environment variable QUOTING_STYLE: {quote(text)}", ctx.status
    )
    return None
