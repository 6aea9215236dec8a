"""A plugin: run any tests with sandboxes in processes of their own, where nothing else is said.

For example `pytest -p tests.isolated tests/network tests/test_git_remotes.py`. Tests that look at
the process itself, or whose commands of the host reach for the sandbox's ports, cannot pass.
"""

from __future__ import annotations

from agentsandbox import options

options.DEFAULTS["isolation"] = "process"  # type: ignore[index]  # a dict behind a Mapping
object.__setattr__(options.DEFAULT_OPTIONS, "isolation", "process")
