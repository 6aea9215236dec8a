import codecs
import contextlib
import io
import os
import sys

buffer = io.StringIO("a\r\nb\nc", newline=None)
print(buffer.readlines(), buffer.tell(), io.BytesIO(b"xyz").getbuffer()[1])
with open("t.txt", "w", newline="\r\n", encoding="utf-16") as f:
    print("ü", "x", sep="\n", file=f)
print(open("t.txt", "rb").read(), open("t.txt", encoding="utf-16").read().splitlines())
with open("l.txt", "w", encoding="latin-1", errors="replace") as f:
    print(f.write("é€\n"), f.encoding, f.errors, f.mode, f.name, f.writable(), f.readable())
print(
    open("l.txt", "rb").read(),
    open("l.txt", errors="replace").read(),
    open("l.txt", errors="backslashreplace").read(),
)
with open("big.txt", "w") as f:
    f.writelines(f"line {i}\n" for i in range(5000))
with open("big.txt", "rb", buffering=0) as f:
    print(f.seek(-5, os.SEEK_END), f.read(), type(f).__name__)
with open("big.txt") as f:
    for i, line in zip(range(3), f):
        print(i, line, end="")
    rest = f.read()
    print(len(rest), sum(1 for _ in rest.splitlines()))
r, w = os.pipe() if False else (None, None)
print(
    codecs.getincrementaldecoder("utf-8")().decode(b"\xc3"),
    codecs.lookup("latin1").name,
    codecs.encode("abc", "rot13"),
    codecs.BOM_UTF8,
)
reader = io.BufferedReader(io.BytesIO(b"0123456789"), 4)
print(reader.peek(2)[:2], reader.read(3), reader.read1(2), reader.readline())
sys.stdout.write("no newline")
sys.stdout.flush()
sys.stdout.buffer.write(b" raw \xc3\xbc\n")
sys.stdout.reconfigure(encoding="ascii", errors="namereplace")
print("é", sys.stdout.encoding, sys.stdin.encoding, sys.stderr.errors)
print("to stderr", file=sys.stderr)
for bad in (
    lambda: f.read(),
    lambda: open("big.txt", "rw"),
    lambda: open("big.txt", "w").read(),
    lambda: open("big.txt", encoding="none"),
    lambda: io.StringIO().fileno(),
    lambda: open("x", "rb", encoding="utf-8"),
    lambda: io.StringIO().write(b"x"),
    lambda: open("l.txt").read(),
):
    try:
        bad()
    except Exception as e:
        print(type(e).__name__, e)
