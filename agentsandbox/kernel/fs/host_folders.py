"""Folders of the host, as far as mounts beside each other must know them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class HostFolder:
    """A folder of the host that scripts reach through a filesystem.

    lineage      (device, inode) of the folder and of each directory above it, from the inside out
    writable     whether scripts can change the folder
    is_complete  whether the lineage reaches the root of the host; the process may lack permission
    """

    __slots__ = ("is_complete", "lineage", "writable")

    def __init__(
        self, lineage: Sequence[tuple[int, int]], *, writable: bool, is_complete: bool = True
    ) -> None:
        self.lineage = tuple(lineage)
        self.writable = writable
        self.is_complete = is_complete

    def overlaps(self, other: HostFolder) -> bool:
        """Whether both are the same folder, or one contains the other, as far as can be known."""
        return (
            self.lineage[0] in other.lineage
            or other.lineage[0] in self.lineage
            or not (self.is_complete and other.is_complete)
        )

    def endangers(self, other: HostFolder) -> bool:
        """Whether scripts can change, through one of them, what the other shows."""
        return (self.writable or other.writable) and self.overlaps(other)
