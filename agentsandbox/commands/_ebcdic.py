"""The tables of `dd conv=ascii,ebcdic,ibm` (POSIX 1003.1-2017, dd): EBCDIC for each byte of ASCII."""

from __future__ import annotations

__all__ = ["TABLES"]

_EBCDIC = bytes.fromhex(
    "00010203372d2e2f1605250b0c0d0e0f101112133c3d322618193f271c1d1e1f405a7f7b5b6c507d4d5d5c4e6b604b61f0f1f2f3f4f5f6f7f8f97a5e4c7e6e6f"
    "7cc1c2c3c4c5c6c7c8c9d1d2d3d4d5d6d7d8d9e2e3e4e5e6e7e8e9ade0bd9a6d79818283848586878889919293949596979899a2a3a4a5a6a7a8a9c04fd05f07"
    "202122232415061728292a2b2c090a1b30311a333435360838393a3b04143ee14142434445464748495152535455565758596263646566676869707172737475"
    "767778808a8b8c8d8e8f906a9b9c9d9e9fa0aaabac4aaeafb0b1b2b3b4b5b6b7b8b9babbbca1bebfcacbcccdcecfdadbdcdddedfeaebecedeeeffafbfcfdfeff"
)
_IBM = {94: 95, 126: 161, 203: 154, 213: 173, 229: 189}
"""Where IBM's table differs."""


def _inverse(table: bytes) -> bytes:
    found = bytearray(256)
    for number, byte in enumerate(table):
        found[byte] = number
    return bytes(found)


TABLES = {
    "ascii": _inverse(_EBCDIC),
    "ebcdic": _EBCDIC,
    "ibm": bytes(_IBM.get(number, byte) for number, byte in enumerate(_EBCDIC)),
}
