"""`git checkout-index`: files of the index, written to the worktree or elsewhere."""

from __future__ import annotations

import posixpath

from agentsandbox.git.errors import Fatal
from agentsandbox.git.index import Entry
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.objects import LINK, SUBMODULE
from agentsandbox.git.options import Options, parse_options
from agentsandbox.git.paths import is_safe_path, quote_path, relative_to, unquote_path
from agentsandbox.git.pathspecs import normalized
from agentsandbox.git.worktree import Worktree, mode_of
from agentsandbox.kernel.streams import decode, encode

USAGES = {
    "checkout-index": """
git checkout-index [<options>] [--] [<file>...]

    -a, --all             write all files of the index
    --ignore-skip-worktree-bits
                          also those outside of the sparse checkout
    -f, --force           replace existing files
    -q, --quiet           do not report existing files and files that are not in the index
    -n, --no-create       write only files that exist
    -u, --index           note in the index what stat says about the files
    -z                    paths end with NUL
    --stdin               read paths from standard input
    --temp                write temporary files and print their names
    --prefix <string>     write before each path
    --stage (1|2|3|all)   write a version of files with conflicts
""",
}
_ALL = 4


def checkout_index(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["checkout-index"], words)
    git.repository.need_worktree()
    return _Extraction(git, options).run()


class _Extraction:
    """One call of `git checkout-index`."""

    def __init__(self, git: Invocation, options: Options) -> None:
        self.git = git
        self.options = options
        self.repository = git.repository
        self.index = git.repository.index()
        self.tree = Worktree(git.repository)
        self.base = options.text("prefix")
        self.stage, self.is_temporary = 0, options.on("temp")
        for text in options.all("stage"):
            if text == "all":
                self.stage, self.is_temporary = _ALL, True
            elif text[:1] in ("1", "2", "3"):
                self.stage = int(text[:1])
            else:
                raise Fatal("stage should be between 1 and 3 or all")
        self.refreshes = options.on("index") and not self.base and not self.is_temporary
        self.names: dict[int, str] = {}
        """The temporary files of a path by stage."""
        self._number = 0

    def run(self) -> int:
        """Write the files; return the status."""
        options, git = self.options, self.git
        everything = options.on("all")
        failed = False
        for word in options.operands:
            if everything:
                raise Fatal("git checkout-index: don't mix '--all' and explicit filenames")
            if options.on("stdin"):
                raise Fatal("git checkout-index: don't mix '--stdin' and explicit filenames")
            failed |= not self._named(normalized(git, word))
        if options.on("stdin"):
            if everything:
                raise Fatal("git checkout-index: don't mix '--all' and '--stdin'")
            for line in self._lines():
                failed |= not self._named(normalized(git, line))
        if everything:
            failed |= not self._all()
        if self.refreshes and not failed:
            self.repository.write_index(self.index)
        return 1 if failed else 0

    def _lines(self) -> list[str]:
        data = self.git.read_input()
        if self.options.on("z"):
            return [decode(line) for line in data.split(b"\0") if line]
        return [decode(unquote_path(line)) for line in data.split(b"\n") if line]

    def _is_wanted(self, entry: Entry) -> bool:
        return entry.stage == self.stage or (self.stage == _ALL and entry.stage > 0)

    def _is_hidden(self, entry: Entry) -> bool:
        return entry.skips and not self.options.on("ignore-skip-worktree-bits")

    def _named(self, path: bytes) -> bool:
        entries = list(self.index.stages(path).values())
        hidden = bool(entries) and self._is_hidden(entries[0])
        chosen = [] if hidden else [entry for entry in entries if self._is_wanted(entry)]
        done = True
        for entry in chosen:
            done &= self._write(entry)
        if chosen:
            self._report(path)
            return done
        if entries and self.stage == _ALL:
            return True
        if not self.options.on("quiet"):
            if not entries:
                problem = "is not in the cache"
            elif hidden:
                problem = (
                    "has skip-worktree enabled; use '--ignore-skip-worktree-bits' to checkout"
                )
            else:
                problem = (
                    f"does not exist at stage {self.stage}" if self.stage else "is unmerged"
                )
            self.git.say(f"git checkout-index: {decode(path)} {problem}")
        return False

    def _all(self) -> bool:
        done = True
        prefix = self.repository.prefix
        last: bytes | None = None
        for entry in self.index:
            self.git.budget.step()
            if self._is_hidden(entry) or not self._is_wanted(entry):
                continue
            if not entry.path.startswith(prefix):
                continue
            if last is not None and last != entry.path:
                self._report(last)
            done &= self._write(entry)
            last = entry.path
        if last is not None:
            self._report(last)
        return done

    def _report(self, path: bytes) -> None:
        """Print the temporary files of a path."""
        if not self.names:
            return
        if self.stage == _ALL:
            shown = " ".join([self.names.get(stage, ".") for stage in (1, 2, 3)])
        else:
            shown = self.names[self.stage]
        self.names = {}
        name = relative_to(path, self.repository.prefix)
        end = b"\0" if self.options.on("z") else b"\n"
        last = name if self.options.on("z") else encode(quote_path(name))
        self.git.write(encode(shown) + b"\t" + last + end)

    # writing

    def _content(self, entry: Entry) -> bytes:
        data = self.repository.objects.blob(entry.oid)
        if entry.mode & 0o170000 == 0o100000:
            return self.tree.attributes.to_worktree(entry.path, data)
        return data

    def _write(self, entry: Entry) -> bool:
        """Write one version of a file; return whether that went well."""
        name = decode(entry.path)
        if not is_safe_path(entry.path, entry.mode):
            raise Fatal(f"invalid path '{name}'")
        if entry.mode != SUBMODULE and entry.oid not in self.repository.objects:
            self.git.error(f"unable to read sha1 file of {name} ({entry.oid})")
            return False
        if self.is_temporary and entry.mode == SUBMODULE:
            self.git.error(f"cannot create temporary submodule {name}")
            return False
        if self.is_temporary:
            return self._write_temporary(entry)
        if self.base:
            return self._write_elsewhere(entry)
        tree, path = self.tree, entry.path
        info = tree.stat(path)
        if info is not None:
            if entry.mode == SUBMODULE and info.is_dir:
                return True
            fits = mode_of(info, file_mode=tree.file_mode, known=entry.mode) == entry.mode
            fresh = not info.is_dir and entry.is_fresh(info)
            if fits and fresh and not tree.is_changed(entry, info):
                return True
            if not self.options.on("force"):
                return self._exists(decode(path))
        elif self.options.on("no-create"):
            return True
        elif not self.options.on("force"):
            self._demand_folders(path)
        written = tree.write(path, entry.mode, entry.oid)
        tree.forget_parents()
        if self.refreshes and not entry.stage:
            written.skips = entry.skips
            self.index.replace(written)
        return True

    def _exists(self, name: str) -> bool:
        if not self.options.on("quiet"):
            self.git.say(f"{name} already exists, no checkout")
        return False

    def _demand_folders(self, path: bytes) -> None:
        """Raise if something else is where a directory belongs."""
        at = path.find(b"/")
        while at >= 0:
            info = self.tree.stat(path[:at])
            if info is None:
                return
            if not info.is_dir:
                raise Fatal(f"cannot create directory at '{decode(path[:at])}': File exists")
            at = path.find(b"/", at + 1)

    def _write_elsewhere(self, entry: Entry) -> bool:
        git, mask = self.git, self.git.ctx.umask
        name = self.base + decode(entry.path)
        where = posixpath.join(self.tree.root or "/", name)
        force = self.options.on("force")
        if self._has_folders(name) and git.fs.exists(where, follow=False):
            info = git.fs.stat(where, follow=False)
            if not force:
                return self._exists(name)
            if info.is_dir:
                if entry.mode == SUBMODULE:
                    return True
                git.fs.remove_tree(where)
            else:
                git.fs.unlink(where)
        elif self.options.on("no-create"):
            return True
        self._make_folders(name, force=force)
        if entry.mode == SUBMODULE:
            git.fs.makedirs(where, 0o777 & ~mask)
        elif entry.mode == LINK:
            git.fs.symlink(decode(self._content(entry)), where)
        else:
            permissions = (0o777 if entry.mode & 0o100 else 0o666) & ~mask
            git.fs.write_bytes(where, self._content(entry), permissions=permissions)
        return True

    def _parts(self, name: str) -> list[str]:
        """Return the directories above a file that are not of the prefix."""
        start = len(self.base)
        ends = [at for at, letter in enumerate(name) if letter == "/" and at >= start]
        return [posixpath.join(self.tree.root or "/", name[:at]) for at in ends]

    def _has_folders(self, name: str) -> bool:
        fs = self.git.fs
        return all(
            fs.exists(part, follow=False) and fs.stat(part, follow=False).is_dir
            for part in self._parts(name)
        )

    def _make_folders(self, name: str, *, force: bool) -> None:
        fs, mode = self.git.fs, 0o777 & ~self.git.ctx.umask
        top = self.base.rpartition("/")[0]
        if top:
            fs.makedirs(posixpath.join(self.tree.root or "/", top), mode)
        for part in self._parts(name):
            if not fs.exists(part, follow=False):
                fs.mkdir(part, mode)
            elif not fs.stat(part, follow=False).is_dir:
                if not force:
                    shown = part[len(self.tree.root) + 1 :]
                    raise Fatal(f"cannot create directory at '{shown}': File exists")
                fs.unlink(part)
                fs.mkdir(part, mode)

    def _write_temporary(self, entry: Entry) -> bool:
        start = ".merge_link_" if entry.mode == LINK else ".merge_file_"
        fs = self.git.fs
        while True:
            self.git.budget.step()
            self._number += 1
            name = f"{start}{self._number:06d}"
            where = f"{self.tree.root}/{name}"
            if not fs.exists(where, follow=False):
                break
        fs.write_bytes(where, self._content(entry), permissions=0o600)
        self.names[entry.stage] = name
        return True


COMMANDS = {"checkout-index": checkout_index}
