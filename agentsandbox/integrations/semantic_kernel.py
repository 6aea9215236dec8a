"""Functions for Semantic Kernel: the sandbox's shell and its skills, as a model calls them.

    kernel.add_plugin(KernelPlugin("sandbox", functions=create_functions(sandbox)))

Needs the extra `semantic-kernel`. The functions are asynchronous: several calls of one turn queue
up on the sandbox and never block the event loop. Their descriptions do not change after they are
made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentsandbox.errors import SandboxError
from agentsandbox.profiles.agentsandbox import get_skill_tool, sandbox_tool
from agentsandbox.profiles.spec import answer_text

if TYPE_CHECKING:
    from semantic_kernel.functions import KernelFunction

    from agentsandbox.profiles.spec import Tool
    from agentsandbox.sandbox import Sandbox

__all__ = [
    "create_functions",
    "create_get_skill_function",
    "create_sandbox_function",
    "to_kernel_function",
]

PLUGIN = "sandbox"


def create_functions(sandbox: Sandbox, *, plugin_name: str = PLUGIN) -> list[KernelFunction]:
    """Return both functions, `sandbox_execute` and `get_skill`."""
    return [
        create_sandbox_function(sandbox, plugin_name=plugin_name),
        create_get_skill_function(sandbox, plugin_name=plugin_name),
    ]


def create_sandbox_function(sandbox: Sandbox, *, plugin_name: str = PLUGIN) -> KernelFunction:
    """Return `sandbox_execute(command)`, which runs a script in the sandbox.

    Its answer is the JSON text of {exitCode, output, error}.
    """
    return to_kernel_function(sandbox_tool(sandbox), plugin_name)


def create_get_skill_function(sandbox: Sandbox, *, plugin_name: str = PLUGIN) -> KernelFunction:
    """Return `get_skill(skillName)`, whose description lists the skills.

    Its answer is the JSON text of {name, description, mountPath, instructions}.
    """
    return to_kernel_function(get_skill_tool(sandbox), plugin_name)


def to_kernel_function(tool: Tool, plugin_name: str) -> KernelFunction:
    """Return a tool as a kernel function with its JSON schema; an object is answered as JSON."""
    try:
        from semantic_kernel.functions import KernelFunctionFromMethod, kernel_function
        from semantic_kernel.functions.kernel_parameter_metadata import KernelParameterMetadata
    except ImportError:
        raise SandboxError(
            'Semantic Kernel needs the extra "semantic-kernel": '
            'pip install "agentsandbox[semantic-kernel]"'
        ) from None

    async def call(**arguments: Any) -> str:
        given = {name: value for name, value in arguments.items() if value is not None}
        return answer_text(await tool.acall(given))

    required = tool.json_schema.get("required", ())
    parameters = [
        KernelParameterMetadata(
            name=name,
            description=schema.get("description", ""),
            type_=schema["type"] if isinstance(schema.get("type"), str) else "object",
            is_required=name in required,
            schema_data=dict(schema),
        )
        for name, schema in tool.json_schema["properties"].items()
    ]
    method = kernel_function(name=tool.wire_name, description=tool.description)(call)
    return KernelFunctionFromMethod(method=method, plugin_name=plugin_name, parameters=parameters)
