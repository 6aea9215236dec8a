"""How fast this machine is at this moment."""

from __future__ import annotations

import re
from time import thread_time

__all__ = ["reference"]

_VOWEL = re.compile("[aeiou]")


def reference() -> float:
    """Return the seconds of CPU that a known piece of work takes: loops, searches, copies.

    A core of 2020 takes 25 ms. A bound that is a multiple of it holds on slow and busy machines.
    """
    text = "ab" * 50_000
    began = thread_time()
    total = 0
    for number in range(60_000):
        total += number & 7
    for _ in range(2):
        total += len(_VOWEL.findall(text)) + len(text.replace("b", "cc").encode())
    return thread_time() - began
