"""`Tool`: a name, a description, a JSON schema and a handler, independent of any framework."""

from __future__ import annotations

import inspect
import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentsandbox.errors import SandboxError
from agentsandbox.kernel.streams import encode

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from typing import Literal

    NameStyle = Literal["snake", "camel", "dotted"]

    Handler = Callable[[Mapping[str, Any]], Any]

__all__ = ["Tool", "answer_text", "check_arguments", "make_tool", "schema_of", "wire_name"]

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list, tuple),
    "object": (dict,),
}


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool for a model.

    Neither `call` nor `acall` raises for a mistake of the model: the answer says what is wrong.

    name         the canonical name, which may have dots
    wire_name    the name that model interfaces accept
    json_schema  the schema of the arguments, an object
    handler      arguments → answer, or an awaitable of it
    refuse       message → the answer for arguments that the schema does not allow
    run          the handler for `call`, if it is another one
    """

    name: str
    wire_name: str
    description: str
    json_schema: Mapping[str, Any]
    handler: Handler
    refuse: Callable[[str], Any]
    run: Handler | None = None

    def call(self, arguments: Mapping[str, Any] | None = None) -> Any:
        """Call the tool and return the answer."""
        arguments = arguments or {}
        problem = check_arguments(self.json_schema, arguments)
        return self.refuse(problem) if problem else (self.run or self.handler)(arguments)

    async def acall(self, arguments: Mapping[str, Any] | None = None) -> Any:
        """Call the tool in the running event loop."""
        arguments = arguments or {}
        problem = check_arguments(self.json_schema, arguments)
        if problem:
            return self.refuse(problem)
        answer: Any | Awaitable[Any] = self.handler(arguments)
        return await answer if inspect.isawaitable(answer) else answer

    def as_function(self) -> dict[str, Any]:
        """Return the declaration that most model interfaces accept."""
        return {
            "name": self.wire_name,
            "description": self.description,
            "parameters": dict(self.json_schema),
        }


def answer_text(answer: Any) -> str:
    """Return an answer as a text in valid UTF-8; an object as JSON."""
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    return str(encode(text), "utf-8", "replace")


def _answering(function: Handler, refuse: Callable[[SandboxError], Any]) -> Handler:
    """Return a handler that answers `SandboxError`s instead of raising them."""
    if inspect.iscoroutinefunction(function):

        async def ahandle(arguments: Mapping[str, Any]) -> Any:
            try:
                return await function(arguments)
            except SandboxError as error:
                return refuse(error)

        return ahandle

    def handle(arguments: Mapping[str, Any]) -> Any:
        try:
            return function(arguments)
        except SandboxError as error:
            return refuse(error)

    return handle


def make_tool(
    refuse: Callable[[Any], Any],
    name: str,
    description: str,
    handler: Handler,
    properties: Mapping[str, Any],
    *required: str,
    run: Handler | None = None,
    style: NameStyle = "snake",
) -> Tool:
    """Return a tool of a profile; `refuse` answers the `SandboxError`s of its handlers."""
    schema = schema_of(properties, *required)
    now = _answering(run, refuse) if run else None
    return Tool(
        name, wire_name(name, style), description, schema, _answering(handler, refuse), refuse, now
    )


def schema_of(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    """Return the JSON schema of arguments; no others are allowed."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def wire_name(name: str, style: NameStyle = "snake") -> str:
    """Return a canonical name in a style: `skills_load`, `skillsLoad` or `skills.load`."""
    if style == "dotted":
        return name
    if style == "snake":
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).replace(".", "_").lower()
    first, *rest = re.split(r"[._]", name)
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def check_arguments(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the arguments, None if the schema allows them."""
    properties: Mapping[str, Any] = schema.get("properties", {})
    if not isinstance(arguments, dict):
        return "the arguments must be an object"
    missing = [name for name in schema.get("required", ()) if name not in arguments]
    if missing:
        return f"missing argument: {', '.join(missing)}"
    unknown = sorted(str(name) for name in set(arguments) - set(properties))
    if unknown:
        return f"unknown argument: {', '.join(unknown)} (there are: {', '.join(properties)})"
    for name, value in arguments.items():
        if problem := _check_value(name, properties[name], value):
            return problem
    return None


def _check_value(name: str, schema: Mapping[str, Any], value: Any) -> str | None:
    wanted = schema.get("type")
    kinds = [wanted] if isinstance(wanted, str) else list(wanted or ())
    if kinds and not any(_is(value, kind) for kind in kinds):
        return f"the argument {name} must be {' or '.join(kinds)}"
    if isinstance(value, float) and not math.isfinite(value):
        return f"the argument {name} must be finite"
    if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
        return f"the argument {name} must be more than {schema['exclusiveMinimum']}"
    if isinstance(value, (list, tuple)) and "items" in schema:
        for item in value:
            if problem := _check_value(name, schema["items"], item):
                return problem
    if isinstance(value, dict) and isinstance(schema.get("additionalProperties"), dict):
        for key, item in value.items():
            if problem := _check_value(f"{name}.{key}", schema["additionalProperties"], item):
                return problem
    return None


def _is(value: Any, kind: str) -> bool:
    if kind == "null":
        return value is None
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES[kind])
