"""The encodings of `iconv` by their names: what glibc calls them, and the codecs of Python."""

from __future__ import annotations

_NAMES = {
    "ascii": "ASCII US-ASCII US ANSI_X3.4-1968 ISO646-US 646",
    "big5": "BIG5 BIG-5 BIGFIVE CN-BIG5",
    "big5hkscs": "BIG5-HKSCS BIG5HKSCS",
    "cp932": "CP932 MS932 WINDOWS-31J",
    "cp949": "CP949 UHC MSCP949",
    "cp950": "CP950",
    "euc-jp": "EUC-JP EUCJP UJIS",
    "euc-kr": "EUC-KR EUCKR",
    "gb18030": "GB18030",
    "gb2312": "EUC-CN EUCCN GB2312 CN-GB",
    "gbk": "GBK CP936 MS936 WINDOWS-936",
    "iso2022-jp": "ISO-2022-JP ISO2022JP",
    "iso2022-kr": "ISO-2022-KR ISO2022KR",
    "iso8859-15": "LATIN-9 LATIN9",
    "johab": "JOHAB CP1361",
    "koi8-r": "KOI8-R KOI8R",
    "koi8-u": "KOI8-U KOI8U",
    "mac-cyrillic": "MAC-CYRILLIC MACCYRILLIC",
    "mac-roman": "MACINTOSH MAC",
    "shift_jis": "SHIFT_JIS SHIFT-JIS SJIS MS_KANJI",
    "tis-620": "TIS-620 TIS620",
    "ucs-2-be": "UCS-2BE",
    "ucs-2-le": "UCS-2 UCS2 UCS-2LE",
    "utf-16": "UTF-16 UTF16 UNICODE",
    "utf-16-be": "UTF-16BE UTF16BE UNICODEBIG",
    "utf-16-le": "UTF-16LE UTF16LE UNICODELITTLE",
    "utf-32": "UTF-32 UTF32",
    "utf-32-be": "UTF-32BE UTF32BE UCS-4 UCS4 UCS-4BE ISO-10646",
    "utf-32-le": "UTF-32LE UTF32LE UCS-4LE WCHAR_T",
    "utf-7": "UTF-7 UTF7",
    "utf-8": "UTF-8 UTF8 ISO-10646/UTF8 ISO-10646/UTF-8",
}
_PAGES = "037 437 500 737 775 850 852 855 857 858 860 861 862 863 864 865 866 869 874 1125 1140"
_LATIN = {1: 1, 2: 2, 3: 3, 4: 4, 9: 5, 10: 6, 13: 7, 14: 8, 16: 10}
"""The numbers of the parts of ISO 8859 that are called LATIN1 and so on."""


def _all_names() -> dict[str, str]:
    """Return the codec of each name."""
    codecs = {name: codec for codec, names in _NAMES.items() for name in names.split()}
    for page in _PAGES.split():
        codecs |= dict.fromkeys((page, f"CP{page}", f"IBM{page}", f"IBM-{page}"), f"cp{page}")
    for number in range(1250, 1259):
        codecs |= dict.fromkeys((f"CP{number}", f"WINDOWS-{number}"), f"cp{number}")
    for part in (*range(1, 12), *range(13, 17)):
        codec = "latin-1" if part == 1 else f"iso8859-{part}"
        names = [f"{prefix}-{part}" for prefix in ("ISO-8859", "ISO8859", "ISO_8859")]
        if part in _LATIN:
            names += [f"LATIN{_LATIN[part]}", f"L{_LATIN[part]}"]
        codecs |= dict.fromkeys((*names, f"ISO8859{part}", f"8859_{part}"), codec)
    return codecs


_ENCODINGS = _all_names()


def find_encoding(name: str) -> str | None:
    """Return Python's name of an encoding of characters; its other codecs are not known here."""
    return _ENCODINGS.get(name.upper())


def list_names() -> list[str]:
    """Return all names."""
    return sorted(_ENCODINGS)
