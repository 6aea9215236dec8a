"""How GNU tools show file names: see `languages.names`."""

from agentsandbox.languages.names import STYLES, is_printable, printable, quote, quote_always, quote_as

__all__ = ["STYLES", "is_printable", "printable", "quote", "quote_always", "quote_as"]
