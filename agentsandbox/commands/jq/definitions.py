"""Built-in functions that are written in jq; each is parsed when a program first calls it."""

from __future__ import annotations

import re
from functools import cache

from agentsandbox.commands.jq.parser import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.jq.nodes import Definition

_DEFINITIONS = r"""
def error(message): message | error;
def halt_error: halt_error(5);
def select(f): if f then . else empty end;
def map(f): [.[] | f];
def map_values(f): .[] |= f;
def recurse(f; condition): recurse(f | select(condition));
def repeat(f): def _repeat: f, _repeat; _repeat;
def until(condition; update):
  def _until: if condition then . else (update | _until) end; _until;
def while(condition; update):
  def _while: if condition then ., (update | _while) else empty end; _while;
def range($end): range(0; $end);
def range($from; $to; $by):
  if $by > 0 then $from | while(. < $to; . + $by)
  elif $by < 0 then $from | while(. > $to; . + $by)
  else empty end;
def any: any(.[]; .);
def any(f): any(.[]; f);
def all: all(.[]; .);
def all(f): all(.[]; f);
def add(f): reduce f as $item (null; . + $item);
def del(f): delpaths([path(f)]);
def paths: path(..) | select(length > 0);
def paths(node_filter): path(recurse | select(node_filter)) | select(length > 0);
def leaf_paths: paths(scalars);
def pick(f): . as $top | reduce path(f) as $path (null; setpath($path; $top | getpath($path)));
def with_entries(f): to_entries | map(f) | from_entries;
def first: .[0];
def last: .[-1];
def nth($n): .[$n];
def nth($n; f):
  if $n < 0 then error("nth doesn't support negative indices") else first(skip($n; f)) end;
def in(xs): . as $key | xs | has($key);
def inside(xs): . as $part | xs | contains($part);
def combinations:
  if length == 0 then []
  else .[0][] as $first | (.[1:] | combinations) as $rest | [$first] + $rest end;
def combinations(n): . as $items | [range(n) | $items] | combinations;
def transpose: [range(0; map(length) | max // 0) as $at | [.[][$at]]];
def arrays: select(type == "array");
def objects: select(type == "object");
def iterables: select(type | . == "array" or . == "object");
def booleans: select(type == "boolean");
def numbers: select(type == "number");
def normals: select(isnormal);
def finites: select(isfinite);
def strings: select(type == "string");
def nulls: select(. == null);
def values: select(. != null);
def scalars: select(type | . != "array" and . != "object");
def isfinite: type == "number" and (isinfinite | not);
def isvalid(f): try (f | true) catch false;
def ascii: [.] | implode;
def todate: strftime("%Y-%m-%dT%H:%M:%SZ");
def todateiso8601: todate;
def fromdateiso8601: strptime("%Y-%m-%dT%H:%M:%SZ") | mktime;
def fromdate: fromdateiso8601;
def date: todate;
def dateadd(u; n): . + n;
def datesub(u; n): . - n;
def match($re): _match($re) | .[];
def match($re; $flags): _match($re; $flags) | .[];
def capture($re): match($re) | _capture;
def capture($re; $flags): match($re; $flags) | _capture;
def scan($re): scan($re; null);
def scan($re; $flags):
  match($re; "g" + $flags)
  | if .captures | length > 0 then [.captures[].string] else .string end;
def splits($re): splits($re; null);
def splits($re; flags): split($re; flags) | .[];
def sub($re; s): sub($re; s; "");
def gsub($re; s): sub($re; s; "g");
def gsub($re; s; $flags): sub($re; s; $flags + "g");
def truncate_stream(stream):
  . as $depth | null | stream
  | . as $event | if (.[0] | length) > $depth then setpath([0]; $event[0][$depth:]) else empty end;
def debug(messages): (messages | debug | empty), .;
def INDEX(f): INDEX(.[]; f);
def INDEX(stream; f): reduce stream as $row ({}; .[$row | f | tostring] |= $row);
def IN(s): any(s == .; .);
def IN(src; s): any(src == s; .);
def JOIN($idx; f): [.[] | [., $idx[f]]];
def JOIN($idx; stream; f): stream | [., $idx[f]];
def JOIN($idx; stream; f; join): stream | [., $idx[f]] | join;
"""
_HEAD = re.compile(r"def (\w+)(?:\(([^)]*)\))?:")


@cache
def definition_sources() -> dict[str, str]:
    """Return the text of each definition by "name/arity"."""
    found: dict[str, str] = {}
    for source in re.split(r"\n(?=def )", _DEFINITIONS.strip()):
        head = _HEAD.match(source)
        assert head is not None
        arity = 0 if head[2] is None else head[2].count(";") + 1
        found[f"{head[1]}/{arity}"] = source
    return found


@cache
def find_definition(name: str) -> Definition | None:
    """Return the definition of "name/arity", if there is one."""
    source = definition_sources().get(name)
    return None if source is None else parse(source)[0][0]
