import os
from pathlib import Path, PurePosixPath, PureWindowsPath

p = Path("a/b/../c.tar.gz")
print(p, p.name, p.stem, p.suffix, p.suffixes, p.parts, p.parent, list(map(str, p.parents)))
print(p.resolve(), p.absolute(), Path.cwd(), Path.home(), Path("~/x").expanduser())
print(PurePosixPath("/a/b").relative_to("/a"), PurePosixPath("/a/b/c.py").match("b/*.py"))
print(
    PureWindowsPath("C:\\x\\y.txt").as_posix(),
    Path("x").with_suffix(".md"),
    Path("/a") / "/b" / "c",
)
print(PurePosixPath("/a/b").relative_to("/a/c", walk_up=True), PurePosixPath("a").is_absolute())
d = Path("tree")
(d / "x" / "y").mkdir(parents=True)
(d / "x" / "one.txt").write_text("1\n")
(d / "x" / "y" / "two.py").write_bytes(b"2")
(d / "three.txt").touch()
print(sorted(map(str, d.rglob("*.txt"))), sorted(x.name for x in d.iterdir()))
print([(str(h), sorted(ds), sorted(fs)) for h, ds, fs in sorted(d.walk())])
print(
    (d / "x/one.txt").stat().st_size, (d / "x").is_dir(), (d / "none").exists(), (d / "x").exists()
)
(d / "link").symlink_to("three.txt")
print(
    (d / "link").is_symlink(),
    (d / "link").readlink(),
    os.path.samefile(d / "link", d / "three.txt"),
)
(d / "x/one.txt").rename(d / "uno.txt")
(d / "uno.txt").replace(d / "three.txt")
(d / "x/y/two.py").unlink()
(d / "x/y").rmdir()
for call in (
    lambda: d.rmdir(),
    lambda: (d / "none").unlink(),
    lambda: d.mkdir(),
    lambda: (d / "three.txt").iterdir().__next__(),
    lambda: d.read_text(),
):
    try:
        call()
    except OSError as e:
        print(type(e).__name__, e.strerror, e.filename)
(d / "none").unlink(missing_ok=True)
print(
    os.path.commonpath(["/a/b/c", "/a/b/d"]),
    os.path.normpath("a//b/./../c"),
    os.path.splitext(".bashrc"),
)
