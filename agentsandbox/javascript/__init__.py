"""JavaScript in the sandbox: the command `node`, on an engine that runs in wasm."""

from __future__ import annotations

from agentsandbox.javascript.runtime import JavaScriptRuntime

__all__ = ["JavaScriptRuntime"]
