"""A damaged repository: an index, a loose object, a pack and its index, references, configuration.

Fields: which file is damaged (its number), and its new content. A loose object is given unpacked.
"""

from __future__ import annotations

import functools
import io
import tempfile
import zlib
from pathlib import Path

from dulwich.object_format import DEFAULT_OBJECT_FORMAT
from dulwich.objects import ShaFile
from dulwich.pack import write_pack

from agentsandbox import Sandbox
from agentsandbox.kernel.fs.memory import MemoryFileSystem
from agentsandbox.kernel.streams import encode
from tests.fuzz.judge import LIMITS, judged_script
from tests.fuzz.target import SEPARATOR, Target, fields

MAKE = """git init -q -b main .; git config user.name A; git config user.email a@b
mkdir d; echo a > f; echo b > d/g; git add .; git commit -qm one; seq 60 > f; git commit -qam two; git tag -am t v1"""

MORE = """echo c > f; git commit -qam three; echo d >> f; git add f; git stash -q; echo e > new; git add new"""

SCRIPT = """git status --short; git log --oneline --stat -3; git diff HEAD~1; git fsck; git show v1; git ls-files -s; git branch -a; git stash list; git reflog; git cat-file --batch-check --batch-all-objects; git blame f; git config -l; git add -A; git commit -qm x; git checkout -q HEAD~1; git merge main; git rev-list --objects --all | wc -l
git ls-remote b.bundle; git fetch -q b.bundle main; git clone -q b.bundle c"""

PLACES = (
    "index",
    "object",
    "pack",
    "idx",
    "HEAD",
    "packed-refs",
    "config",
    "commit",
    "reflog",
    "gitignore",
    "bundle",
)


@functools.cache
def repository() -> tuple[Sandbox, dict[str, str]]:
    """Return a sandbox with a repository, and place → path."""
    sandbox = Sandbox(
        limits=LIMITS.replace(timeout=20, steps=50_000_000), seed=1, clock=lambda: 1_700_000_000.0
    )
    for script in (MAKE, MORE):
        result = sandbox.execute(script)
        assert result.exit_code == 0, result.stderr
        if script == MAKE:
            _pack(sandbox)
    found = sandbox.execute(
        "cd .git; ls -d objects/??/* | sed -n 2p; ls objects/pack/*.pack objects/pack/*.idx;"
        " h=$(git rev-parse HEAD); echo objects/${h:0:2}/${h:2}"
    ).stdout.split()
    sandbox.execute("cd ..")
    top = f"{sandbox.cwd}/.git/"
    paths = dict(
        zip(("object", "pack", "idx", "commit"), (top + name for name in found), strict=True)
    )
    for place, name in (
        ("index", "index"),
        ("HEAD", "HEAD"),
        ("packed-refs", "packed-refs"),
        ("config", "config"),
        ("reflog", "logs/HEAD"),
    ):
        paths[place] = top + name
    paths["bundle"] = f"{sandbox.cwd}/b.bundle"
    paths["gitignore"] = f"{sandbox.cwd}/.gitignore"
    return sandbox, paths


def _pack(sandbox: Sandbox) -> None:
    """Put all objects of the repository into one pack, with deltas."""
    fs, top = sandbox.fs, f"{sandbox.cwd}/.git/objects"
    objects = []
    for here, _, names in fs.walk(top):
        if len(here) == len(top) + 3:
            objects += [ShaFile.from_file(io.BytesIO(fs.read_bytes(f"{here}/{n}"))) for n in names]
            fs.remove_tree(here)
    with tempfile.TemporaryDirectory() as folder:
        write_pack(f"{folder}/pack-{'0' * 40}", objects, DEFAULT_OBJECT_FORMAT, deltify=True)
        for path in sorted(Path(folder).iterdir()):
            fs.makedirs(f"{top}/pack")
            fs.write_bytes(f"{top}/pack/{path.name}", path.read_bytes())
            if path.suffix == ".pack":
                head = encode(sandbox.execute("git rev-parse HEAD").stdout.strip())
                bundle = b"# v2 git bundle\n" + head + b" refs/heads/main\n\n"
                fs.write_bytes(f"{sandbox.cwd}/b.bundle", bundle + path.read_bytes())


def content_of(place: str) -> bytes:
    sandbox, paths = repository()
    try:
        data = sandbox.fs.read_bytes(paths[place])
    except FileNotFoundError:
        return b"*.o\n!/a/**/b\n"
    return zlib.decompress(data) if place in ("object", "commit") else data


def run(data: bytes) -> None:
    number, content = fields(data, 2)
    place = PLACES[(number[0] if number else 0) % len(PLACES)]
    made, paths = repository()
    sandbox = Sandbox(limits=LIMITS, seed=1, clock=lambda: 1_700_000_000.0)
    assert isinstance(sandbox.fs, MemoryFileSystem)
    sandbox.fs.restore(made.fs.snapshot())
    if place in ("object", "commit"):
        content = zlib.compress(content)
    sandbox.fs.write_bytes(paths[place], content)
    judged_script(sandbox, SCRIPT)


TARGET = Target(
    "git",
    run,
    lambda count: [SEPARATOR.join((bytes([number]), content_of(place))) for number, place in enumerate(PLACES)],
    (
        b"DIRC\x00\x00\x00\x02", b"TREE", b"REUC", b"link", b"PACK\x00\x00\x00\x02", b"\xfftOc", b"tree ", b"parent ", b"author ",
        b"committer ", b"blob ", b"100644 ", b"40000 ", b"120000 ", b"160000 ", b"ref: refs/", b"../", b"[include]\n\tpath = ",
        b"[core]\n", b"[alias]\n\tx = !", b"gpgsig ", b"\x00", b"\x7f\xff\xff\xff", b"@{-1}", b"**/", b"[a-", b"!",
    ),
)  # fmt: skip
