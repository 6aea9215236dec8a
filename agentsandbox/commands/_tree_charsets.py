"""The lines that `tree` draws in a character set, and how it writes the sign of copyright there."""

from __future__ import annotations

from typing import NamedTuple

from agentsandbox.streams import decode

__all__ = ["ANSI", "Lines", "lines_of"]


class Lines(NamedTuple):
    """What stands before names: beside what goes on, before a name, before the last name."""

    pipe: str
    branch: str
    corner: str
    copyright: str = "(c)"
    braces: tuple[str, str, str, str, str] = ("[", "[", "[", "[", "[")
    """Before the lines of a comment: a single one, the first, the second, one of the others, the last."""


_PLAIN = Lines("|   ", "|-- ", "`-- ")
ANSI = Lines("x   ", "tqq ", "mqq ")
_UTF8 = Lines("│\xa0\xa0 ", "├── ", "└── ", "©", ("{", "⎧", "⎨", "⎪", "⎩"))


def _of_bytes(pipe: bytes, branch: bytes, corner: bytes, copyright: bytes = b"(c)") -> Lines:
    return Lines(decode(pipe), decode(branch), decode(corner), decode(copyright))


def _of_code_pages(copyright: bytes) -> Lines:
    return _of_bytes(b"\xb3   ", b"\xc3\xc4\xc4 ", b"\xc0\xc4\xc4 ", copyright)


_NAMES = {
    "utf-8 utf8": _UTF8,
    "iso-8859-1 iso-8859-1:1987 iso_8859-1 latin1 l1 ibm819 cp819 csisolatin1 "
    "iso-8859-3 iso_8859-3:1988 iso_8859-3 latin3 ls csisolatin3": Lines("|   ", "|-- ", "&middot;-- ", "&copy;"),
    "ibm437 cp437 437 cspc8codepage437 ibm852 cp852 852 cspcp852 ibm863 cp863 863 csibm863 ibm855 cp855 855 csibm855 "
    "ibm865 cp865 865 csibm865 ibm866 cp866 866 csibm866": _of_code_pages(b"(c)"),
    "ibm850 cp850 850 cspc850multilingual ibm00858 ccsid00858 cp00858 pc-multilingual-850+euro": _of_code_pages(b"\x97"),
    "ibm869 cp869 869 cp-gr csibm869": _of_code_pages(b"\xb8"),
    "shift_jis ms_kanji csshiftjis": _of_bytes(b"\x84\xa0  ", b"\x84\xa5 ", b"\x84\xa4 "),
    "euc-jp cseucpkdfmtjapanese extended_unix_code_packed_format_for_japanese": _of_bytes(b"\xa8\xa2  ", b"\xa8\xa7 ", b"\xa8\xa6 "),
    "euc-kr cseuckr": _of_bytes(b"\xa6\xa2  ", b"\xa6\xa7 ", b"\xa6\xa6 "),
    "iso-2022-jp csiso2022jp iso-2022-jp-2 csiso2022jp2": _of_bytes(b'\x1b$B("\x1b(B  ', b"\x1b$B('\x1b(B ", b"\x1b$B(&\x1b(B "),
    "gb2312 csgb2312": _of_bytes(b"\xa9\xa6  ", b"\xa9\xc0 ", b"\xa9\xb8 "),
    "big5 csbig5": _of_bytes(b"\xa2x  ", b"\xa2u ", b"\xa2| "),
    "viscii csviscii": _of_bytes(b"|   ", b"|-- ", b"`-- ", b"\xf9"),
    "koi8-r cskoi8r koi8-u": _of_bytes(b"\x81   ", b"\x86\x80\x80 ", b"\x84\x80\x80 ", b"\xbf"),
    "iso-8859-1-windows-3.1-latin-1 cswindows31latin1 iso-8859-2-windows-latin-2 cswindows31latin2 windows-1250 windows-1251 "
    "windows-1253 windows-1254 windows-1255 windows-1256 windows-1257": _of_bytes(b"|   ", b"|-- ", b"`-- ", b"\xa9"),
}


def lines_of(charset: str | None) -> Lines:
    """The lines of a character set; those of ASCII for one without a name, or that is not known."""
    if charset is None:
        return _PLAIN
    return next((lines for names, lines in _NAMES.items() if charset.lower() in names.split()), _PLAIN)
