import gzip
import bz2
import io
import lzma
import os
import shutil
import tarfile
import zipfile
import zlib

os.mkdir("in")
for i in range(3):
    with open(f"in/{i}.txt", "w") as f:
        f.write(f"file {i}\n" * (i + 1))
with zipfile.ZipFile("a.zip", "w", zipfile.ZIP_DEFLATED) as z:
    for name in sorted(os.listdir("in")):
        z.write(f"in/{name}", name)
    z.writestr("dir/ü.txt", "text")
    z.comment = b"hi"
with zipfile.ZipFile("a.zip") as z:
    print(
        [(i.filename, i.file_size) for i in z.infolist()],
        z.testzip(),
        z.comment,
        z.read("dir/ü.txt"),
    )
    z.extract("2.txt", "out")
    with z.open("1.txt") as f:
        print(f.readline())
    try:
        z.read("none")
    except KeyError as e:
        print(e)
with tarfile.open("a.tar.gz", "w:gz") as t:
    t.add("in", arcname="data")
    info = tarfile.TarInfo("made.txt")
    info.size, info.mtime = 3, 86400
    t.addfile(info, io.BytesIO(b"abc"))
with tarfile.open("a.tar.gz") as t:
    print(sorted(t.getnames()), t.getmember("made.txt").mtime, t.extractfile("made.txt").read())
    t.extractall("un", filter="data")
print(sorted(os.listdir("un/data")))
evil = io.BytesIO()
with tarfile.open(fileobj=evil, mode="w") as t:
    t.addfile(tarfile.TarInfo("../evil.txt"))
evil.seek(0)
try:
    tarfile.open(fileobj=evil).extractall("un", filter="data")
except tarfile.OutsideDestinationError as e:
    print(type(e).__name__)
for module in (gzip, bz2, lzma):
    packed = module.compress(b"x" * 1000)
    print(module.__name__, module.decompress(packed) == b"x" * 1000, len(packed) < 100)
with gzip.open("t.gz", "wt", encoding="utf-8") as f:
    f.write("zeile ü\n")
print(gzip.open("t.gz", "rt", encoding="utf-8").read(), zlib.crc32(b"abc"), zlib.adler32(b"abc"))
print(shutil.make_archive("packed", "zip", "in"), shutil.get_archive_formats()[0])
shutil.unpack_archive("packed.zip", "again")
print(sorted(os.listdir("again")))
for bad in (
    lambda: gzip.decompress(b"no"),
    lambda: zlib.decompress(b"no"),
    lambda: lzma.decompress(b"no"),
    lambda: zipfile.ZipFile("in/0.txt"),
    lambda: tarfile.open("in/0.txt"),
):
    try:
        bad()
    except Exception as e:
        print(type(e).__name__, str(e).splitlines()[0])
