"""An MCP server: a sandbox and its skills for any client of the Model Context Protocol.

    server = create_server(tools(sandbox))                # `tools` of agentsandbox.profiles
    server = create_server(lambda: skill_tools(session))  # called for every list and every call
    anyio.run(serve_stdio, server)

Needs the extra `mcp`. Calls of several clients queue up on the sandbox and never block the event
loop. A call that its client cancels is stopped.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from agentsandbox.errors import SandboxError
from agentsandbox.kernel.host_functions import HostFailure, passes_to_host
from agentsandbox.profiles.spec import answer_text
from agentsandbox.profiles.toolbox import Toolbox

try:
    from mcp import types
    from mcp.server import ServerRequestContext
    from mcp.server.lowlevel import Server
except ImportError:
    raise SandboxError(
        'serving MCP needs the extra "mcp": pip install "agentsandbox[mcp]"'
    ) from None

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from agentsandbox.profiles.spec import Tool

__all__ = ["create_server", "serve_stdio"]


def create_server(
    offered: Iterable[Tool] | Callable[[], Iterable[Tool]],
    *,
    name: str = "agentsandbox",
    instructions: str | None = None,
) -> Server[Any]:
    """Return a server of these tools, or of those that a callable returns at each request.

    `instructions` are for the client's model, `session.system_prompt()` for example.
    """
    fixed = None if callable(offered) else Toolbox(offered)

    def toolbox() -> Toolbox:
        return fixed or Toolbox(offered() if callable(offered) else offered)

    async def list_tools(
        context: ServerRequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        del context, params  # all tools fit on one page
        with _errors_of_the_call():
            return types.ListToolsResult(tools=[_declaration(tool) for tool in toolbox().tools])

    async def call_tool(
        context: ServerRequestContext, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        del context
        with _errors_of_the_call():
            return _result(await toolbox().acall(params.name, params.arguments or {}))

    from agentsandbox.version import __version__

    return Server(
        name,
        version=__version__,
        instructions=instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def serve_stdio(server: Server[Any]) -> None:
    """Serve one client on standard input and output until it disconnects."""
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (source, target):
        await server.run(source, target, server.create_initialization_options())


# TM-OUT-3
@contextmanager
def _errors_of_the_call() -> Iterator[None]:
    """Let a `SystemExit` of the host's functions, or its like, end a call and not the server."""
    try:
        yield
    except BaseException as error:
        if isinstance(error, Exception) or passes_to_host(error):
            raise
        raise HostFailure(f"{type(error).__name__} in a function of the host") from error


def _declaration(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.wire_name, description=tool.description, input_schema=dict(tool.json_schema)
    )


def _result(answer: Any) -> types.CallToolResult:
    """Return an answer as text, and if it is an object also as that; it may say it is an error."""
    text = answer_text(answer)
    structured = json.loads(text) if isinstance(answer, dict) else None
    failed = structured is not None and (
        "error" in structured or structured.get("success") is False
    )
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)],
        structured_content=structured,
        is_error=failed,
    )
