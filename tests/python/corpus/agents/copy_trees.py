import shutil, os, tempfile, pathlib

with tempfile.TemporaryDirectory() as d:
    p = pathlib.Path(d)
    (p / "a/b").mkdir(parents=True)
    (p / "a/f.txt").write_text("x")
    (p / "a/b/g.pyc").write_text("y")
    os.symlink("f.txt", p / "a/l")
    shutil.copytree(p / "a", p / "c", ignore=shutil.ignore_patterns("*.pyc"), symlinks=True)
    for r, ds, fs in os.walk(p):
        ds.sort()
        print(os.path.relpath(r, p), ds, sorted(fs))
    shutil.move(str(p / "c"), str(p / "d"))
    print((p / "d/l").is_symlink(), (p / "d/l").readlink())
    print(
        shutil.make_archive(str(p / "z"), "zip", p / "a").endswith("z.zip"),
        shutil.make_archive(str(p / "t"), "gztar", p / "a").endswith("t.tar.gz"),
    )
    shutil.unpack_archive(p / "t.tar.gz", p / "u", filter="data")
    print(sorted(os.listdir(p / "u")))
    shutil.rmtree(p / "a")
    print((p / "a").exists())
    shutil.copytree(p / "u", p / "d", dirs_exist_ok=True)
    print(sorted(x.name for x in (p / "d").rglob("*")))
