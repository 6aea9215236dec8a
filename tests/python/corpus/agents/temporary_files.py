import tempfile, os

with tempfile.NamedTemporaryFile("w+", suffix=".txt", delete=False) as f:
    f.write("hi")
    n = f.name
print(os.path.exists(n), open(n).read(), n.endswith(".txt"), oct(os.stat(n).st_mode))
os.unlink(n)
with tempfile.NamedTemporaryFile() as f:
    f.write(b"q")
    f.flush()
    print(os.path.getsize(f.name))
print(os.path.exists(f.name))
with tempfile.SpooledTemporaryFile(max_size=10) as f:
    f.write(b"0123456789abc")
    f.seek(0)
    print(f.read())
fd, p = tempfile.mkstemp()
os.write(fd, b"z")
os.close(fd)
print(os.path.getsize(p))
os.remove(p)
print(tempfile.gettempdir())
d = tempfile.mkdtemp(prefix="x_")
print(os.path.basename(d).startswith("x_"), oct(os.stat(d).st_mode))
os.rmdir(d)
with tempfile.TemporaryFile("w+") as f:
    f.write("a")
    f.seek(0)
    print(f.read())
