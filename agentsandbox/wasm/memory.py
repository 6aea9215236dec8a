"""The memory of a guest, read and written within its bounds.

Addresses and lengths come from the guest and mean nothing until they are checked: they are taken
modulo 2**32 and compared with the size of the memory. A memory only grows and never moves (see
`engine`), so it is seen through one view, which is made again when an access lies beyond it. Moving
bytes through a view costs a tenth of what a function of `ctypes` does.
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

    __slots__ = ("_base", "_memory", "_size", "_store", "_view")

    def __init__(self, store: wasmtime.Store, memory: wasmtime.Memory) -> None:
        self._store = store
        self._memory = memory
        self._base = ctypes.addressof(memory.data_ptr(store).contents)
        self._see()

    def _see(self) -> None:
        """Make the view of the memory as large as the memory is now."""
        self._size = self._memory.data_len(self._store)
        self._view = memoryview((ctypes.c_char * self._size).from_address(self._base)).cast("B")

    def check(self, address: int, length: int) -> int:
        """Return the address of a range if it lies in the memory. Raises `Fault`."""
        address &= MASK
        end = address + (length & MASK)
        if end > self._size:
            self._see()
            if end > self._size:
                raise Fault
        return address

    def read(self, address: int, length: int) -> bytes:
        """Return a copy of a range."""
        start = self.check(address, length)
        return self._view[start : start + (length & MASK)].tobytes()

    def write(self, address: int, data: bytes) -> None:
        """Write bytes at an address."""
        start, length = self.check(address, len(data)), len(data)
        self._view[start : start + length] = data

    def write_u32(self, address: int, value: int) -> None:
        U32.pack_into(self._view, self.check(address, 4), value & MASK)

    def write_u64(self, address: int, value: int) -> None:
        U64.pack_into(self._view, self.check(address, 8), value & 0xFFFFFFFFFFFFFFFF)

    def vectors(self, address: int, count: int) -> Sequence[tuple[int, int]]:
        """Return the (address, length) pairs of an array of buffers, each within the memory."""
        count &= MASK
        if count > _MOST_VECTORS:
            raise Fault
        found = list(VECTOR.iter_unpack(self.read(address, count * VECTOR.size)))
        for start, length in found:
            if start + length > self._size:
                self.check(start, length)
        return found
