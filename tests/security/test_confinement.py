"""The filter of system calls, for processors that are not here: numbers, and what it decides."""

from __future__ import annotations

import errno
import os
import re
import struct
from pathlib import Path

import pytest

from agentsandbox.isolation.confinement import _NUMBERS, filter_program

ARM, INTEL = 0xC00000B7, 0xC000003E
ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050000 | errno.EPERM

GENERIC = Path("/usr/include/asm-generic/unistd.h")
OF_INTEL = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")

OLD_NAMES = {"stat", "lstat", "poll", "access", "readlink"}
"""Calls that the table for new processors does not have: it has newfstatat, ppoll, readlinkat."""


def table(machine: str) -> dict[str, int]:
    entries = [entry.split() for entry in _NUMBERS[machine][1].split(",")]
    return {name: int(number) for name, number in entries}


def decided(machine: str, architecture: int, number: int, *arguments: int) -> int:
    """Return what the filter returns for a call: the classic BPF machine, as far as it uses it."""
    data = struct.pack("=IIQ", number, architecture, 0)
    data += struct.pack("=6Q", *[*arguments, 0, 0, 0, 0, 0, 0][:6])
    steps = list(struct.iter_unpack("=HBBI", filter_program(machine)))
    accumulator = at = 0
    while True:
        code, then, otherwise, value = steps[at]
        at += 1
        if code == 0x20:
            accumulator = struct.unpack_from("=I", data, value)[0]
        elif code == 0x06:
            return int(value)
        else:
            holds = {0x15: accumulator == value, 0x35: accumulator >= value,
                     0x45: bool(accumulator & value)}[code]  # fmt: skip
            at += then if holds else otherwise


# TM-ISO-1
def test_both_processors_allow_the_same_calls() -> None:
    intel, arm = table("x86_64"), table("aarch64")
    assert intel.keys() - arm.keys() == OLD_NAMES
    assert arm.keys() <= intel.keys()
    assert len(set(arm.values())) == len(arm) and len(set(intel.values())) == len(intel)


# TM-ISO-1
@pytest.mark.skipif(not GENERIC.exists(), reason="needs the kernel's headers")
def test_the_numbers_for_arm_are_those_of_the_generic_table() -> None:
    text = GENERIC.read_text(encoding="ascii")
    facts = dict(re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\b", text))
    facts["newfstatat"] = facts.pop("fstatat")
    for name, number in table("aarch64").items():
        assert int(facts[name]) == number, name


# TM-ISO-1
@pytest.mark.skipif(not OF_INTEL.exists(), reason="needs the kernel's headers")
def test_the_numbers_for_intel_are_those_of_its_table() -> None:
    facts = dict(re.findall(r"#define __NR_(\w+)\s+(\d+)\b", OF_INTEL.read_text(encoding="ascii")))
    for name, number in table("x86_64").items():
        assert int(facts[name]) == number, name


# TM-ISO-1
@pytest.mark.parametrize(("machine", "architecture"), [("aarch64", ARM), ("x86_64", INTEL)])
def test_what_the_filter_decides(machine: str, architecture: int) -> None:
    known = table(machine)
    conditional = {"openat", "clone", "clone3", "fcntl", "prlimit64"}
    for number in range(600):
        name = next((name for name, each in known.items() if each == number), None)
        if name not in conditional:
            wanted = REFUSE if name is None else ALLOW
            assert decided(machine, architecture, number) == wanted, (number, name)

    def of(name: str, *arguments: int) -> int:
        return decided(machine, architecture, known[name], *arguments)

    assert of("openat", 0, 0, os.O_RDONLY | os.O_CLOEXEC) == ALLOW
    for flags in (os.O_WRONLY, os.O_RDWR, os.O_CREAT, os.O_TRUNC, os.O_APPEND, 0o20000000):
        assert of("openat", 0, 0, flags) == REFUSE
    assert (of("clone", 0x10000), of("clone", 0x11), of("clone3")) == (
        ALLOW, REFUSE, 0x00050000 | errno.ENOSYS
    )  # fmt: skip
    assert (of("fcntl", 3, 1030), of("fcntl", 3, 4), of("fcntl", 3, 8)) == (ALLOW, REFUSE, REFUSE)
    assert (of("prlimit64", 0, 3, 0), of("prlimit64", 0, 3, 1 << 40)) == (ALLOW, REFUSE)
    other = INTEL if architecture == ARM else ARM
    assert decided(machine, other, known["read"]) == KILL
    assert decided(machine, architecture, 0x40000000 | known["read"]) == KILL
