"""The stream editor's language (POSIX 1003.1-2017, GNU sed 4.9): parsed to commands, compiled to
closures.
"""

from __future__ import annotations

from agentsandbox.commands.sed.nodes import Script, SedError
from agentsandbox.commands.sed.parser import Parser
from agentsandbox.commands.sed.runtime import Editor, Settings

__all__ = ["Editor", "Parser", "Script", "SedError", "Settings"]
