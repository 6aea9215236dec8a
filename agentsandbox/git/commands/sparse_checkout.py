"""`git sparse-checkout`."""

from __future__ import annotations

import posixpath

from agentsandbox.git.errors import BadUsage, Fatal, Quit
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.options import Options, parse_options, table_of
from agentsandbox.git.paths import Pathspec, PathspecItem, quote_path, unquote_path
from agentsandbox.git.pathspecs import normalized
from agentsandbox.git.refs import LOCKED
from agentsandbox.git.sparse_index import left_out_folders
from agentsandbox.git.sparseness import Cone, Patterns
from agentsandbox.git.unpacking import Switch
from agentsandbox.git.worktree import Worktree, scan_worktree
from agentsandbox.git.worktrees import give_own_settings, set_own
from agentsandbox.kernel.streams import decode, encode

_MODES = """    --cone                limit the worktree to directories (default)
    --sparse-index        write trees for directories that are left out
"""
USAGES = {
    "sparse-checkout": """
git sparse-checkout (init | list | set | add | reapply | disable) [<options>]
""",
    "list": """
git sparse-checkout list
""",
    "init": """
git sparse-checkout init [--cone] [--[no-]sparse-index]

"""
    + _MODES,
    "set": """
git sparse-checkout set [--[no-]cone] [--[no-]sparse-index] [--skip-checks] (--stdin | <patterns>)

"""
    + _MODES
    + """    --skip-checks         do not check that the words are directories
    --stdin               read the words from standard input
""",
    "add": """
git sparse-checkout add [--skip-checks] (--stdin | <patterns>)

    --skip-checks         do not check that the words are directories
    --stdin               read the words from standard input
""",
    "reapply": """
git sparse-checkout reapply [--[no-]cone] [--[no-]sparse-index]

"""
    + _MODES,
    "disable": """
git sparse-checkout disable
""",
}


def sparse_checkout(git: Invocation, words: list[str]) -> int:
    if not words:
        git.error("need a subcommand")
        raise BadUsage
    if words[0].startswith("-"):
        parse_options(USAGES["sparse-checkout"], words)
        git.error("need a subcommand")
        raise BadUsage
    git.repository.need_worktree()
    work = _SparseCheckout(git)
    action = {
        "list": work.show, "init": work.init, "set": work.replace, "add": work.add,
        "reapply": work.reapply, "disable": work.disable,
    }.get(words[0])  # fmt: skip
    if action is None:
        raise BadUsage(f"unknown subcommand: `{words[0]}'")
    return action(words[1:])


class _SparseCheckout:
    """One call of `git sparse-checkout`."""

    def __init__(self, git: Invocation) -> None:
        self.git = git
        self.repository = git.repository
        self.is_on = self.repository.is_sparse
        self.cone = self.repository.has_cone

    def _options(self, name: str, words: list[str], *, keeps: bool = False) -> Options:
        try:
            return parse_options(USAGES[name], words, keep_unknown=keeps)
        except BadUsage as error:
            self.git.name = name
            if error.message:
                self.git.error(error.message)
            text = table_of(USAGES[name]).text()
            if not error.message:
                self.git.write(encode(text))
            elif error.usage:
                self.git.say(text)
            raise Quit(129) from None

    # subcommands

    def show(self, words: list[str]) -> int:
        """Print the directories, or the patterns."""
        git = self.git
        if not self.is_on:
            raise Fatal("this worktree is not sparse")
        self._options("list", words)
        found = self.repository.read_sparse(cone=self.cone)
        if found is None:
            git.warn("this worktree is not sparse (sparse-checkout file may not exist)")
        elif isinstance(found, Cone):
            for folder in sorted(found.recursive):
                git.print(quote_path(folder[1:]))
        else:
            for line in found.lines():
                git.write(line + b"\n")
        return 0

    def init(self, words: list[str]) -> int:
        """Switch a sparse checkout on."""
        options = self._options("init", words)
        self._set_modes(options)
        repository = self.repository
        if repository.fs.exists(repository.sparse_path):
            return self._update(None)
        if repository.head() is None:
            self._write_file(b"/*\n!/*/\n")
            return 0
        return self._apply(self._top())

    def replace(self, words: list[str]) -> int:
        """Let in the directories or patterns that are given, and nothing else."""
        options = self._options("set", words, keeps=True)
        self._set_modes(options)
        operands = options.operands
        if not self.cone and not operands:
            return self._apply(Patterns(self._input(options, [b"/*", b"!/*/"]), self.git.budget))
        given = self._checked(operands, options)
        if not self.cone:
            return self._apply(Patterns(self._input(options, given), self.git.budget))
        cone = Cone(self.git.budget)
        self._add_folders(cone, self._input(options, given), quoted=options.on("stdin"))
        return self._apply(cone)

    def add(self, words: list[str]) -> int:
        """Let in more directories or patterns."""
        if not self.is_on:
            raise Fatal("no sparse-checkout to add to")
        options = self._options("add", words, keeps=True)
        given = self._checked(options.operands, options)
        if self.cone:
            cone = Cone(self.git.budget)
            self._add_folders(cone, self._input(options, given), quoted=options.on("stdin"))
            known = self.repository.read_sparse(cone=True)
            if known is None:
                raise Fatal("unable to load existing sparse-checkout patterns")
            if not isinstance(known, Cone):
                raise Fatal("existing sparse-checkout patterns do not use cone mode")
            for folder in sorted(known.recursive):
                cone.add(folder)
            return self._apply(cone)
        known = self.repository.read_sparse(cone=False)
        if known is None:
            raise Fatal("unable to load existing sparse-checkout patterns")
        return self._apply(
            Patterns([*known.lines(), *self._input(options, given)], self.git.budget)
        )

    def reapply(self, words: list[str]) -> int:
        """Bring the worktree in line with the patterns again."""
        if not self.is_on:
            raise Fatal("must be in a sparse-checkout to reapply sparsity patterns")
        self._set_modes(self._options("reapply", words))
        return self._update(None)

    def disable(self, words: list[str]) -> int:
        """Let all files in again."""
        self._options("disable", words)
        self._update(Patterns([b"/*"], self.git.budget))
        give_own_settings(self.repository)
        for key in ("core.sparseCheckout", "core.sparseCheckoutCone", "index.sparse"):
            set_own(self.repository, key, "false")
        return 0

    # the configuration

    def _set_modes(self, options: Options) -> None:
        """Note in the configuration that the worktree is sparse, and in which mode."""
        repository = self.repository
        given = options.given("cone")
        records = given or not self.is_on
        if given:
            self.cone = options.on("cone")
        elif not self.is_on:
            self.cone = True
        self.is_on = True
        if records:
            give_own_settings(repository)
            set_own(repository, "core.sparseCheckout", "true")
            set_own(repository, "core.sparseCheckoutCone", "true" if self.cone else "false")
        if options.given("sparse-index"):
            set_own(
                repository, "index.sparse", "true" if options.on("sparse-index") else "false"
            )

    # words

    def _top(self) -> Patterns:
        """Return the patterns of a checkout with the files at the top."""
        if self.cone:
            return Cone(self.git.budget)
        return Patterns([b"/*", b"!/*/"], self.git.budget)

    def _input(self, options: Options, given: list[bytes]) -> list[bytes]:
        if not options.on("stdin"):
            return given
        lines = self.git.read_input().split(b"\n")
        if not lines[-1]:
            lines.pop()
        return [line.removesuffix(b"\r") for line in lines]

    def _add_folders(self, cone: Cone, lines: list[bytes], *, quoted: bool) -> None:
        for line in lines:
            self.git.budget.step()
            name = line
            if quoted and line.startswith(b'"'):
                name = unquote_path(line)
                if name == line:
                    raise Fatal(f"unable to unquote C-style string '{decode(line)}'")
            folder = name.strip().rstrip(b"/")
            top = posixpath.normpath(b"/" + folder).lstrip(b"/")
            if _leaves(folder):
                raise Fatal(f"could not normalize path {decode(folder)}")
            if top:
                cone.add(b"/" + top)

    def _checked(self, words: list[str], options: Options) -> list[bytes]:
        """Return the words from the top of the worktree; Fatal for what is no directory."""
        git, prefix = self.git, self.repository.prefix
        given = [encode(word) for word in words]
        if prefix and self.cone:
            given = [normalized(git, word) for word in words]
        if options.on("skip-checks") or not words:
            return given
        if prefix and not self.cone:
            raise Fatal("please run from the toplevel directory in non-cone mode")
        for word in given if self.cone else ():
            if word.startswith(b"/"):
                raise Fatal("specify directories rather than patterns (no leading slash)")
            if word.startswith(b"!"):
                raise Fatal(
                    "specify directories rather than patterns.  If your directory starts with a "
                    "'!', pass --skip-checks"
                )
            if any(byte in b"*?[]" for byte in word):
                raise Fatal(
                    "specify directories rather than patterns.  If your directory really has any "
                    "of '*?[]\\' in it, pass --skip-checks"
                )
        index = self.repository.index()
        for word in given:
            if index.get(word) is None:
                continue
            if self.cone:
                raise Fatal(
                    f"'{decode(word)}' is not a directory; to treat it as a directory anyway, "
                    "rerun with --skip-checks"
                )
            git.warn(
                f"pass a leading slash before paths such as '{decode(word)}' if you want a single "
                "file (see NON-CONE PROBLEMS in the git-sparse-checkout manual)."
            )
        return given

    # the worktree

    def _apply(self, patterns: Patterns) -> int:
        """Bring the worktree in line with patterns and write them to the file."""
        repository = self.repository
        lock = f"{repository.sparse_path}.lock"
        self._make_folder()
        try:
            repository.fs.open(lock, "x").release()
        except FileExistsError:
            raise Fatal(f"Unable to create '{lock}': File exists.\n\n{LOCKED}") from None
        try:
            self._update(patterns)
            lines = patterns.lines()
            repository.fs.write_bytes(
                lock, b"".join([line + b"\n" for line in lines]),
                permissions=0o666 & ~self.git.ctx.umask,
            )  # fmt: skip
            repository.fs.rename(lock, repository.sparse_path)
        except BaseException:
            repository.fs.unlink(lock)
            raise
        return 0

    def _make_folder(self) -> None:
        self.repository.fs.makedirs(
            f"{self.repository.folder}/info", 0o777 & ~self.git.ctx.umask
        )

    def _write_file(self, data: bytes) -> None:
        self._make_folder()
        self.repository.fs.write_bytes(
            self.repository.sparse_path, data, permissions=0o666 & ~self.git.ctx.umask
        )

    def _update(self, patterns: Patterns | None) -> int:
        """Bring index and worktree in line with patterns; None for those of the file."""
        git, repository = self.git, self.repository
        if not repository.fs.exists(repository.index_path):
            return 0
        repository.need_worktree()
        if patterns is not None:
            repository.limit(patterns)
        switch = Switch(git, action="sparse-checkout")
        switch.restrict(patterns or repository.sparse)
        self._clean()
        return 0

    def _clean(self) -> None:
        """Remove directories that are left out, with the ignored files in them."""
        git, repository = self.git, self.repository
        patterns = repository.sparse
        if patterns is None or not patterns.is_cone:
            return
        index = repository.index()
        tree = Worktree(repository)
        for folder in left_out_folders(index, patterns):
            where = tree.path(folder)
            if not git.fs.exists(where, follow=False):
                continue
            only = Pathspec([PathspecItem(decode(folder), folder, {"literal"}, False)])
            scan = scan_worktree(tree, index, only, untracked="all")
            if scan.untracked:
                git.warn(
                    f"directory '{decode(folder)}/' contains untracked files, but is not in the "
                    "sparse-checkout cone"
                )
            elif git.fs.is_dir(where):
                git.fs.remove_tree(where)


def _leaves(folder: bytes) -> bool:
    """Whether a path leads out of the worktree."""
    depth = 0
    for part in folder.split(b"/"):
        depth += -1 if part == b".." else part not in (b"", b".")
        if depth < 0:
            return True
    return False


COMMANDS = {"sparse-checkout": sparse_checkout}
