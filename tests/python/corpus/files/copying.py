import filecmp
import os
import shutil
import stat
import tempfile

os.makedirs("src/sub")
for name, text in (
    ("src/a.txt", "A"),
    ("src/sub/b.log", "B"),
    ("src/run.sh", "#!/bin/sh\necho run\n"),
):
    with open(name, "w") as f:
        f.write(text)
os.chmod("src/run.sh", 0o750)
os.utime("src/a.txt", (1_600_000_000, 1_600_000_000))
shutil.copytree("src", "copy", ignore=shutil.ignore_patterns("*.log"))
print(
    sorted(os.listdir("copy")),
    os.listdir("copy/sub"),
    oct(stat.S_IMODE(os.stat("copy/run.sh").st_mode)),
)
print(
    int(os.path.getmtime("copy/a.txt")),
    shutil.copy("src/a.txt", "b.txt"),
    shutil.copy2("src/a.txt", "copy/c.txt"),
)
print(filecmp.cmp("src/a.txt", "copy/a.txt"), filecmp.dircmp("src", "copy").right_only)
shutil.move("b.txt", "copy/sub")
print(os.path.exists("copy/sub/b.txt"), shutil.disk_usage(".").total > 0)
with tempfile.TemporaryDirectory(prefix="work-") as folder:
    print(os.path.dirname(folder), os.path.basename(folder).startswith("work-"))
    with tempfile.NamedTemporaryFile("w+", dir=folder, suffix=".txt") as f:
        f.write("hello")
        f.seek(0)
        print(f.read(), os.listdir(folder)[0].endswith(".txt"))
    fd, path = tempfile.mkstemp(dir=folder)
    os.write(fd, b"x")
    os.close(fd)
    print(os.path.getsize(path), oct(stat.S_IMODE(os.stat(path).st_mode)))
print(os.path.exists(folder))
with tempfile.SpooledTemporaryFile(max_size=4) as f:
    f.write(b"longer than four")
    f.seek(-4, os.SEEK_END)
    print(f.read())
shutil.rmtree("src")
try:
    shutil.copytree("src", "other")
except FileNotFoundError as e:
    print(e)
try:
    shutil.copyfile("copy/a.txt", "copy/a.txt")
except shutil.SameFileError as e:
    print("same:", e)
shutil.rmtree("missing", ignore_errors=True)
shutil.rmtree("missing")
