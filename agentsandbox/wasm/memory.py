"""The memory of a guest, read and written within its bounds.

Addresses and lengths come from the guest and mean nothing until they are checked: they are taken
modulo 2**32 and compared with the size of the memory. A memory only grows and never moves (see
`engine`), so its address is asked for once and its size again when an access lies beyond it.
"""

from __future__ import annotations

import ctypes

from agentsandbox.wasm.preview1 import U32, U64, VECTOR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    import wasmtime

MASK = 0xFFFFFFFF
_MOST_VECTORS = 1024


class Fault(Exception):
    """The guest gave an address outside its memory."""


# TM-GUEST-2
class GuestMemory:
    """The linear memory of one instance."""

    __slots__ = ("_base", "_memory", "_size", "_store")

    def __init__(self, store: wasmtime.Store, memory: wasmtime.Memory) -> None:
        self._store = store
        self._memory = memory
        self._base = ctypes.addressof(memory.data_ptr(store).contents)
        self._size = memory.data_len(store)

    def check(self, address: int, length: int) -> int:
        """Return the host's address of a range of the guest. Raises `Fault`."""
        address &= MASK
        length &= MASK
        if address + length > self._size:
            self._size = self._memory.data_len(self._store)
            if address + length > self._size:
                raise Fault
        return self._base + address

    def read(self, address: int, length: int) -> bytes:
        """Return a copy of a range."""
        return ctypes.string_at(self.check(address, length), length & MASK)

    def write(self, address: int, data: bytes) -> None:
        """Write bytes at an address."""
        ctypes.memmove(self.check(address, len(data)), data, len(data))

    def write_u32(self, address: int, value: int) -> None:
        self.write(address, U32.pack(value & MASK))

    def write_u64(self, address: int, value: int) -> None:
        self.write(address, U64.pack(value & 0xFFFFFFFFFFFFFFFF))

    def vectors(self, address: int, count: int) -> Sequence[tuple[int, int]]:
        """Return the (address, length) pairs of an array of buffers, each within the memory."""
        count &= MASK
        if count > _MOST_VECTORS:
            raise Fault
        found = list(VECTOR.iter_unpack(self.read(address, count * VECTOR.size)))
        for start, length in found:
            self.check(start, length)
        return found
