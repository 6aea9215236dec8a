"""Make a BMP and a WAV file and read their headers back."""

import array
import mmap
import os
import struct
import sys

W, H = 4, 3
with open("p.bmp", "wb") as f:
    f.write(struct.pack("<2sIHHI", b"BM", 54 + W * H * 3, 0, 0, 54))
    f.write(struct.pack("<IiiHHIIiiII", 40, W, H, 1, 24, 0, W * H * 3, 2835, 2835, 0, 0))
    for y in range(H):
        f.write(b"".join(bytes((x * 60, y * 80, 255)) for x in range(W)))
with open("p.bmp", "r+b") as f:
    magic, size, _, _, offset = struct.unpack("<2sIHHI", f.read(14))
    print(magic, size, offset, os.fstat(f.fileno()).st_size)
    f.seek(offset)
    pixels = bytearray(W * H * 3)
    print(f.readinto(pixels), pixels[:6].hex(" "), f.tell(), f.read())
    f.seek(offset + 1)
    f.write(b"\x00")
samples = array.array("h", range(-3, 4))
print(samples.tobytes().hex(), sys.byteorder, samples.itemsize)
view = memoryview(pixels)[::3]
print(
    list(view[:4]),
    view.contiguous,
    int.from_bytes(b"\x01\x02", "big"),
    (1000).to_bytes(2, "little"),
)
print(
    struct.calcsize(">bhiq"),
    struct.unpack(">?3xf", b"\x01\0\0\0\x3f\x80\0\0"),
    list(struct.iter_unpack("<H", b"\1\0\2\0")),
)
try:
    struct.pack("B", 300)
except struct.error as e:
    print(e)
print(
    open("p.bmp", "rb").read().find(b"BM"),
    bytes.fromhex("DE ad").hex("-"),
    b"\xff".decode("latin-1"),
)
open("p.bmp", "x")
