import os
import stat

with open("f", "w") as f:
    f.write("one\ntwo\nthree\n")
os.chmod("f", 0o640)
mode = os.stat("f").st_mode
print(
    stat.filemode(mode),
    oct(mode),
    stat.S_ISREG(mode),
    os.access("f", os.R_OK | os.W_OK),
    os.access("f", os.X_OK),
)
with open("f", "a+") as f:
    print(f.tell(), f.write("four\n"), f.seek(0), f.readline(), end="")
with open("f", "r+") as f:
    f.truncate(8)
print(repr(open("f").read()), os.stat("f").st_size)
os.link("f", "g")
print(os.stat("f").st_nlink, os.path.samefile("f", "g"), os.stat("f").st_ino == os.stat("g").st_ino)
os.symlink("nowhere", "broken")
print(os.path.lexists("broken"), os.path.exists("broken"), os.readlink("broken"))
os.umask(0o077)
os.mkdir("private")
open("private/secret", "w").close()
print(stat.filemode(os.stat("private").st_mode), stat.filemode(os.stat("private/secret").st_mode))
with os.scandir(".") as entries:
    print(
        sorted((e.name, e.is_dir(), e.is_symlink()) for e in entries if not e.name.endswith(".py"))
    )
os.chdir("private")
print(os.getcwd(), os.listdir())
fd = os.open("low", os.O_CREAT | os.O_RDWR | os.O_EXCL, 0o600)
print(os.write(fd, b"0123456789"), os.lseek(fd, 3, os.SEEK_SET), os.read(fd, 4), os.pread(fd, 2, 8))
os.ftruncate(fd, 4)
os.close(fd)
print(os.path.getsize("low"))
os.chmod("secret", 0)
for call, args in (
    (os.open, ("low", os.O_CREAT | os.O_EXCL)),
    (os.rmdir, ("../private",)),
    (os.mkdir, ("a/b",)),
    (os.listdir, ("low",)),
    (os.read, (99, 1)),
    (open, ("low/x",)),
    (open, ("secret",)),
    (open, ("",)),
    (os.rename, ("no", "yes")),
):
    try:
        call(*args)
        print("worked", args)
    except OSError as e:
        print(type(e).__name__, e)
