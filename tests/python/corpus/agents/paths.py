import os, pathlib

p = pathlib.Path("t")
p.mkdir()
(p / "a.txt").write_text("1\n2\n")
(p / "b.TXT").touch()
(p / "sub").mkdir()
(p / "sub" / "c.txt").write_bytes(b"x" * 10)
print(
    sorted(str(x) for x in p.glob("**/*.txt")),
    [x.name for x in sorted(p.iterdir())],
    (p / "a.txt").stat().st_size,
    (p / "a.txt").suffix,
    p.resolve().is_absolute(),
    p / ".." / "x",
    (p / "a.txt").with_suffix(".md"),
)
(p / "a.txt").rename(p / "z.txt")
print(
    (p / "z.txt").read_text().splitlines(),
    (p / "z.txt").relative_to(p),
    pathlib.PurePosixPath("/a/b").parts,
    p.exists(),
    (p / "no").is_file(),
)
try:
    (p / "no").read_text()
except FileNotFoundError as e:
    print(e)
for e in sorted(os.scandir(p), key=lambda e: e.name):
    print(e.name, e.is_dir(), e.stat().st_size if e.is_file() else "-")
total = sum(f.stat().st_size for f in p.rglob("*") if f.is_file())
print(total)
import shutil

shutil.rmtree(p)
