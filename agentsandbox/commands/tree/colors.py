"""The colours of `tree -C`: those of TREE_COLORS or LS_COLORS, or its own."""

from __future__ import annotations

import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentsandbox.kernel.fs.base import Stat

_COLORS = {
    "no": "00", "fi": "00", "di": "01;34", "ln": "01;36", "pi": "40;33", "so": "01;35",
    "bd": "40;33;01", "cd": "40;33;01", "or": "40;31;01", "ex": "01;32",
}  # fmt: skip
_SUFFIXES = {
    "01;32": "bat BAT btm BTM cmd CMD com COM dll DLL exe EXE",
    "01;31": "arj bz2 deb gz lzh rpm tar taz tb2 tbz2 tbz tgz tz2 z Z zip ZIP zoo",
    "01;35": "asf ASF avi AVI bmp BMP flac FLAC gif GIF jpg JPG jpeg JPEG m2a M2a m2v M2V mov MOV "
    "mp3 MP3 mpeg MPEG mpg MPG ogg OGG ppm rm RM tga TGA tif TIF wav WAV wmv WMV xbm xpm",
}  # fmt: skip
_KINDS = {
    stat.S_IFDIR: "di", stat.S_IFLNK: "ln", stat.S_IFIFO: "pi", stat.S_IFSOCK: "so",
    stat.S_IFBLK: "bd", stat.S_IFCHR: "cd",
}  # fmt: skip


class Palette:
    """The colours of files; those of the environment replace all of tree's own."""

    __slots__ = ("_kinds", "_suffixes")

    def __init__(self, env: Mapping[str, str]) -> None:
        given = env.get("TREE_COLORS") or env.get("LS_COLORS")
        self._kinds = _COLORS
        self._suffixes = [
            (f".{suffix}", code)
            for code, suffixes in _SUFFIXES.items()
            for suffix in suffixes.split()
        ]
        if given:
            pairs = [item.split("=", 1) for item in given.split(":") if "=" in item]
            self._kinds = {key: code for key, code in pairs if not key.startswith("*")}
            self._suffixes = [(key[1:], code) for key, code in pairs if key.startswith("*")]

    def paint_link(self, text: str, target: Stat | None, name: str) -> str:
        """Return the name of a link; `ln=target` gives it the colour of its target."""
        if target is None and "or" in self._kinds:
            return _paint(text, self._kinds["or"])
        if self._kinds.get("ln") == "target":
            return self.paint(text, target, name)
        return _paint(text, self._kinds.get("ln", ""))

    def paint(self, text: str, info: Stat | None, name: str) -> str:
        """Return a name in its colour; `info` is None for a missing file."""
        return _paint(text, self._code(info, name))

    def _code(self, info: Stat | None, name: str) -> str:
        kinds = self._kinds
        if info is None:
            return kinds.get("mi", kinds.get("no", ""))
        kind = _KINDS.get(stat.S_IFMT(info.mode))
        if kind is None and info.mode & 0o111 and "ex" in kinds:
            kind = "ex"
        if kind is not None:
            return kinds.get(kind, "")
        return next(
            (code for suffix, code in self._suffixes if name.endswith(suffix)), kinds.get("fi", "")
        )


def _paint(text: str, code: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if code else text
