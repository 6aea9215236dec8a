"""What is kept of the texts that scripts give."""

from __future__ import annotations

import functools
import gc
import re

from agentsandbox import Sandbox
from agentsandbox.kernel.caching import LONGEST, cache_short

LONG = f"b=$(head -c {2 * LONGEST} /dev/zero | tr '\\0' a)"
USES = r"""
x="v[$b+0]"; : "${!x}"
declare -A m; read "m['$b']" <<< 1
[[ $b == *$b* ]]
printf -v y "%($b)T" 1
TZ="$b" date > /dev/null
awk -v "f=$b%s" 'BEGIN { x = sprintf(f, 1) }'
awk "BEGIN { x = \"$b$b$b$b$b\" }"
grep -E "$b." /dev/null
grep -P "$b." /dev/null
rg "$b." /dev/null
sed "s/$b./x/" /dev/null
jq -n --arg p "$b" '"a" | test($p)' > /dev/null
yq -n "\"a\" | test(\"$b\")" > /dev/null
: "${b//$b/x}"
: "$(( $b ))"
"$b"
expr a : "$b"
find / -maxdepth 0 -regex "$b"
"""


def test_long_texts_are_computed_anew() -> None:
    seen: list[str] = []

    @cache_short(8)
    def note(text: str) -> int:
        seen.append(text)
        return len(text)

    for text in ("a", "b" * (LONGEST + 1), "a", "b" * (LONGEST + 1)):
        assert note(text) == len(text)
    assert seen == ["a", "b" * (LONGEST + 1), "b" * (LONGEST + 1)]


def test_no_cache_keeps_a_long_text_of_a_script() -> None:
    with Sandbox() as sandbox:
        sandbox.execute(LONG)
        for use in USES.strip().split("\n"):
            assert sandbox.execute(use).limit is None
    long = "a" * 2 * LONGEST
    kept = [
        f"{function.__module__}.{function.__qualname__}"
        for function in gc.get_objects()
        if isinstance(function, functools._lru_cache_wrapper)
        and (function.__module__ or "").startswith("agentsandbox")
        for key in gc.get_referents(
            *[each for each in gc.get_referents(function) if isinstance(each, dict)]
        )
        if long in repr(key)
    ]
    assert kept == []
    assert not any(long in repr(key) for key in re._cache)  # type: ignore[attr-defined]
