"""Write a file so that readers see the old or the new contents, never half of them."""

import contextlib
import os
import sys
import tempfile


@contextlib.contextmanager
def replacing(path):
    fd, name = tempfile.mkstemp(dir=os.path.dirname(path) or ".", prefix=".tmp-")
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as f:
            yield f
            f.flush()
            os.fsync(f.fileno())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


with replacing("config.ini") as f:
    f.write("new = 1\n")
try:
    with replacing("config.ini") as f:
        f.write("broken")
        raise KeyboardInterrupt
except KeyboardInterrupt:
    print("interrupted", open("config.ini").read(), os.listdir("."))
with replacing("no/such/folder/file") as f:
    pass
