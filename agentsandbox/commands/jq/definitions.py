"""Built-in functions that are written in jq."""

from __future__ import annotations

from functools import cache

from agentsandbox.commands.jq.code import Code
from agentsandbox.commands.jq.parser import parse
from agentsandbox.commands.jq.scopes import Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.jq.code import Environment
    from agentsandbox.commands.jq.compiler import Compiler
    from agentsandbox.commands.jq.nodes import Definition

_DEFINITIONS = """
def halt_error: halt_error(5);
def todate: strftime("%Y-%m-%dT%H:%M:%SZ");
def todateiso8601: todate;
def fromdateiso8601: strptime("%Y-%m-%dT%H:%M:%SZ") | mktime;
def fromdate: fromdateiso8601;
def date: todate;
def dateadd(u; n): . + n;
def datesub(u; n): . - n;
def arrays: select(type == "array");
def objects: select(type == "object");
def iterables: select(type | . == "array" or . == "object");
def booleans: select(type == "boolean");
def numbers: select(type == "number");
def normals: select(isnormal);
def finites: select(isfinite);
def isfinite: type == "number" and (isinfinite | not);
def isvalid(f): try (f | true) catch false;
def strings: select(type == "string");
def nulls: select(. == null);
def values: select(. != null);
def scalars: select(type | . != "array" and . != "object");
def leaf_paths: paths(scalars);
def paths(node_filter): path(recurse | select(node_filter)) | select(length > 0);
def with_entries(f): to_entries | map(f) | from_entries;
def first: .[0];
def last: .[-1];
def nth($n): .[$n];
def nth($n; f): if $n < 0 then error("nth doesn't support negative indices") else first(skip($n; f)) end;
def in(xs): . as $x | xs | has($x);
def inside(xs): . as $x | xs | contains($x);
def combinations:
  if length == 0 then [] else .[0][] as $x | (.[1:] | combinations) as $rest | [$x] + $rest end;
def combinations(n): . as $dot | [range(n) | $dot] | combinations;
def transpose: [range(0; map(length) | max // 0) as $i | [.[][$i]]];
def ascii: [.] | implode;
def capture($re; $flags): match($re; $flags) | _capture;
def capture($re): match($re) | _capture;
def scan($re; $flags): match($re; "g" + $flags) | if .captures | length > 0 then [.captures[].string] else .string end;
def scan($re): scan($re; null);
def match($re; $flags): _match($re; $flags) | .[];
def match($re): _match($re) | .[];
def splits($re; flags): split($re; flags) | .[];
def splits($re): splits($re; null);
def sub($re; s): sub($re; s; "");
def gsub($re; s; $flags): sub($re; s; $flags + "g");
def gsub($re; s): sub($re; s; "g");
def truncate_stream(stream):
  . as $n | null | stream | . as $input | if (.[0] | length) > $n then setpath([0]; $input[0][$n:]) else empty end;
def _fromstream(events):
  {x: null, e: false} as $init
  | foreach events as $i ($init;
      if .e then $init end
      | if $i | length == 2
        then setpath(["e"]; $i[0] | length == 0) | setpath(["x"] + $i[0]; $i[1])
        else setpath(["e"]; $i[0] | length == 1) end;
      if .e then .x else empty end);
def pick(pathexps): . as $top | reduce path(pathexps) as $p (null; setpath($p; $top | getpath($p)));
def debug(msgs): (msgs | debug | empty), .;
def IN(s): any(s == .; .);
def IN(src; s): any(src == s; .);
def JOIN($idx; idx_expr): [.[] | [., $idx[idx_expr]]];
def JOIN($idx; stream; idx_expr): stream | [., $idx[idx_expr]];
def JOIN($idx; stream; idx_expr; join_expr): stream | [., $idx[idx_expr]] | join_expr;
def _until(cond; update): def u: if cond then . else (update | u) end; u;
def _while(cond; update): def w: if cond then ., (update | w) else empty end; w;
"""


@cache
def definitions() -> dict[str, Definition]:
    """The definitions by "name/arity", parsed when first asked for."""
    return {
        f"{definition.name}/{len(definition.parameters)}": definition
        for definition in parse(_DEFINITIONS + ".").definitions
    }


def call_definition(compiler: Compiler, name: str, codes: list[Code]) -> Code:
    """A call of a definition in jq with arguments that are compiled already."""
    definition = definitions()[name]
    scope = Scope()
    for parameter in definition.parameters:
        scope = scope.closure(parameter.name)
    body = compiler.compile(definition.body, scope)

    def enter(environment: Environment) -> Environment:
        return tuple((code, environment) for code in codes)

    return Code(
        many=lambda value, environment: body.many(value, enter(environment)),
        paths=lambda path, value, environment: body.paths(path, value, enter(environment)),
    )
