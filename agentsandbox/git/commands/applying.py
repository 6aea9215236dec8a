"""`git apply`."""

from __future__ import annotations

from agentsandbox.git.errors import BadUsage, Fatal, GitError
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.options import Options, parse_options
from agentsandbox.git.patches.applying import Applier
from agentsandbox.git.patches.parsing import HowToRead, Patch, PatchReader
from agentsandbox.git.patches.whitespace import Rules, rules_for
from agentsandbox.git.paths import quote_path
from agentsandbox.kernel.streams import decode, encode

USAGES = {
    "apply": """
git apply [<options>] [<patch>...]

    --exclude <path>      leave out files of this name
    --include <path>      take only files of this name
    -p <num>              leave out this many components of names
    --no-add              leave out added lines
    --stat                only show a diffstat
    --numstat             only show the numbers of lines
    --summary             only show what is new, deleted, renamed
    --check               only say whether the patch can be applied
    --index               change the index too; both must agree
    -N, --intent-to-add   note new files in the index with their names only
    --cached              change only the index
    --unsafe-paths        not supported
    --apply               apply too, with --stat and such
    -3, --3way            merge, with the blobs that the patch names
    --build-fake-ancestor <file>
                          not supported
    -z                    end names with NUL
    -C <n>                need only <n> lines of context to match
    --whitespace <action> what to do with errors of whitespace: nowarn, warn, fix, error
    --ignore-space-change ignore blanks in context
    --ignore-whitespace   the same
    -R, --reverse         take the patch back
    --unidiff-zero        take hunks without context
    --reject              apply what can be, and write the rest to .rej files
    --allow-overlap       take hunks that overlap
    -v, --verbose         say more
    -q, --quiet           say nothing
    --inaccurate-eof      forgive a missing end of line at the end
    --recount             do not trust the numbers of lines
    --directory <root>    put a folder in front of names
    --allow-empty         take a text without any patch
    --binary              changes nothing
    --allow-binary-replacement
                          changes nothing
""",
}
_ACTIONS = {
    "warn": ("warn", 5), "nowarn": ("nowarn", 5), "error": ("error", 5), "error-all": ("error", 0),
    "strip": ("fix", 5), "fix": ("fix", 5),
}  # fmt: skip


def apply(git: Invocation, words: list[str]) -> int:
    return Application(git, parse_options(USAGES["apply"], words)).run()


class Application:
    """One call of `git apply`."""

    def __init__(self, git: Invocation, options: Options) -> None:
        self.git = git
        self.options = options
        self.repository = git.find_repository()
        if self.repository is not None and (options.on("index") or options.on("3way")):
            self.repository.need_worktree()
        self.applier = Applier(git, self.repository)
        self.applies = True
        self.action, self.most_errors = self._whitespace()
        self.space_errors = 0
        self.limits = [
            (name, value or "")
            for name, value, _ in options.order
            if name in ("exclude", "include")
        ]
        self._settle()

    def _whitespace(self) -> tuple[str, int]:
        options, config = self.options, self.git.config
        text = options.get("whitespace") or config.get("apply.whitespace")
        if not text:
            return "", 5
        if text not in _ACTIONS:
            error = f"unrecognized whitespace option '{text}'"
            if options.given("whitespace"):
                raise BadUsage(error, usage=False)
            raise GitError(error, 128)
        return _ACTIONS[text]

    def _settle(self) -> None:
        """Take the options, as git combines them."""
        # long: one option after the other
        options, applier = self.options, self.applier
        for name in ("unsafe-paths", "build-fake-ancestor"):
            if options.given(name) and not options.off(name):
                raise Fatal(f"git apply --{name} is not supported in this sandbox")
        applier.verbosity = options.count("verbose") - options.count("quiet")
        applier.rejects = options.on("reject")
        applier.threeway = options.on("3way")
        if applier.rejects and applier.threeway:
            raise GitError("options '--reject' and '--3way' cannot be used together", 128)
        applier.cached = options.on("cached")
        applier.checks_index = options.on("index") or applier.cached or applier.threeway
        if self.repository is None:
            for name in ("3way", "index", "cached"):
                if options.on(name):
                    raise GitError(f"'--{name}' outside a repository", 128)
        if applier.rejects and not applier.verbosity:
            applier.verbosity = 1
        shows = any(options.on(name) for name in ("stat", "numstat", "summary", "check"))
        self.applies = options.on("apply") or applier.rejects or not shows
        applier.intends = (
            options.on("intent-to-add") and not applier.checks_index and self.repository is not None
        )
        how = applier.how
        how.reverse = options.on("reverse")
        how.context = options.number("C", 1 << 30)
        how.no_context = options.on("unidiff-zero")
        how.no_add = options.on("no-add")
        how.overlaps = options.on("allow-overlap")
        how.inaccurate_end = options.on("inaccurate-eof")
        config = self.git.config.get("apply.ignorewhitespace", "no")
        how.ignores_space = config == "change"
        for name in ("ignore-space-change", "ignore-whitespace"):
            if options.given(name):
                how.ignores_space = options.on(name)
        self.action = self.action or ("warn" if self.applies else "nowarn")
        how.whitespace = self.action

    def run(self) -> int:
        """Apply the patches of all operands and return a status."""
        git, applier = self.git, self.applier
        if self.repository is not None and (applier.checks_index or applier.intends):
            applier.index = self.repository.index()
        status = 0
        try:
            for name in self.options.operands or ["-"]:
                status |= self.apply_text(*self._read(name))
            self.report_whitespace()
        except GitError as error:
            if error.message:
                applier.error(error.message)
            git.flush()
            return 128 if error.status == 128 else 1
        self.save()
        return status

    def save(self) -> None:
        """Write the index."""
        if self.applies and self.applier.index is not None and self.repository is not None:
            self.repository.write_index(self.applier.index)

    def _read(self, name: str) -> tuple[bytes, str]:
        if name == "-":
            return self.git.read_input(), "<stdin>"
        try:
            data = self.git.fs.read_bytes(self.git.path(name))
        except OSError as error:
            raise GitError(f"can't open patch '{name}': {error.strerror}", 128) from None
        self.git.budget.charge(len(data))
        return data, name

    # one text

    def apply_text(self, data: bytes, name: str) -> int:
        """Apply the patches of a text; GitError if that is not possible."""
        applier, options = self.applier, self.options
        applier.how.blank_end = lambda line: self._note(name, "new blank line at EOF", line, b"+")
        patches = self.read_patches(data, name)
        if patches is None:
            if options.on("allow-empty"):
                return 0
            raise GitError('No valid patches in input (allow with "--allow-empty")', 128)
        dies = self.action == "error"
        if self.space_errors and dies:
            self.applies = False
        if options.on("check") or self.applies:
            clean = applier.check(patches)
            if not clean and not applier.rejects:
                raise GitError("", 1)
        if self.space_errors and dies:
            self.applies = False
        status = 0
        if self.applies:
            status = applier.write(patches)
            if status and applier.rejects:
                self.save()
                raise GitError("", 1)
        if applier.verbosity >= 0 and not status:
            self._show(patches)
        return status

    def read_patches(self, data: bytes, name: str) -> list[Patch] | None:
        """Return the patches to apply; None if the text holds no patch."""
        options = self.options
        how = HowToRead()
        text = options.text("p", "1")
        how.strip = int(text) if text.isdigit() and len(text) < 9 else 0
        how.strip_is_known = options.given("p")
        root = options.get("directory")
        how.root = encode(root.rstrip("/") + "/") if root else b""
        how.prefix = self.repository.prefix if self.repository is not None else b""
        how.reverse = options.on("reverse")
        how.recounts = options.on("recount")
        how.needs_changes = self.applies or options.on("check")
        how.whitespace = self.action
        how.rules_for = self._rules
        how.uses = self._uses
        reader = PatchReader(
            self.git, data, name, how, lambda text, line, shown: self._note(name, text, line, shown)
        )
        found = reader.patches()
        if not found:
            return None
        kept = []
        for patch in found:
            if how.reverse:
                patch.reverse()
            if self._uses(patch):
                kept.append(patch)
            else:
                self.applier.explain(f"Skipped patch '{self.applier.shown(patch)}'.")
        return kept[::-1] if how.reverse else kept

    def _rules(self, path: bytes) -> Rules:
        tree = self.applier.files.tree
        return rules_for(path, self.git.config, tree.attributes if tree is not None else None)

    def _uses(self, patch: Patch) -> bool:
        from agentsandbox.git.patterns import wildmatch

        name = patch.name
        prefix = self.repository.prefix if self.repository is not None else b""
        if not name.startswith(prefix):
            return False
        for kind, pattern in self.limits:
            if wildmatch(encode(pattern), name, pathname=False):
                return kind == "include"
        return not any(kind == "include" for kind, _ in self.limits)

    # whitespace

    def _note(self, name: str, text: str, line: int, shown: bytes) -> None:
        self.space_errors += 1
        if self.most_errors and self.space_errors > self.most_errors:
            return
        self.applier.say(f"{name}:{line}: {text}.\n{decode(shown)}")

    def report_whitespace(self) -> None:
        """Print how many errors of whitespace there were; GitError if that is an error."""
        count, how = self.space_errors, self.applier.how
        if not count:
            return
        squelched = count - self.most_errors
        if self.most_errors and squelched > 0:
            self._warn(f"squelched {squelched} whitespace error{'' if squelched == 1 else 's'}")
        lines = f"{count} line adds" if count == 1 else f"{count} lines add"
        if self.action == "error":
            raise GitError(f"{lines} whitespace errors.", 128)
        if how.mended and self.applies:
            plural = "line" if how.mended == 1 else "lines"
            self._warn(f"{how.mended} {plural} applied after fixing whitespace errors.")
        else:
            self._warn(f"{lines} whitespace errors.")

    def _warn(self, text: str) -> None:
        if self.applier.verbosity >= 0:
            self.git.warn(text)

    # what is shown

    def _show(self, patches: list[Patch]) -> None:
        options = self.options
        if options.on("stat"):
            self._show_stat(patches)
        if options.on("numstat"):
            for patch in patches:
                head = "-\t-\t" if patch.is_binary else f"{patch.added}\t{patch.deleted}\t"
                if options.on("z"):
                    self.git.write(encode(head) + patch.name + b"\0")
                else:
                    self.git.print(head + quote_path(patch.name))
        if options.on("summary"):
            for patch in patches:
                self._show_summary(patch)

    def _show_stat(self, patches: list[Patch]) -> None:
        from agentsandbox.git.diff.printing import summary_line

        names = [
            name for patch in patches for name in (patch.old_name, patch.new_name)
            if name is not None
        ]  # fmt: skip
        longest = max(len(quote_path(name)) for name in names) if names else 0
        most = max((patch.added + patch.deleted for patch in patches), default=0)
        width = min(longest, 50)
        for patch in patches:
            name = quote_path(patch.name)
            if len(name) > width:
                start = len(name) + 3 - width
                slash = name.find("/", start)
                name = "..." + name[slash if slash >= 0 else start :]
            if patch.is_binary:
                self.git.print(f" {name:<{width}} |  Bin")
                continue
            add, delete, graph = patch.added, patch.deleted, most
            if width + most > 70:
                graph = 70 - width
            if most:
                total = ((add + delete) * graph + most // 2) // most
                add = (add * graph + most // 2) // most
                delete = total - add
            count = patch.added + patch.deleted
            self.git.print(f" {name:<{width}} |{count:5d} {'+' * add}{'-' * delete}")
        self.git.print(
            summary_line(
                len(patches), sum(patch.added for patch in patches),
                sum(patch.deleted for patch in patches),
            )
        )  # fmt: skip

    def _show_summary(self, patch: Patch) -> None:
        git, old, new = self.git, decode(patch.old_name or b""), decode(patch.new_name or b"")
        modes = ""
        if patch.old_mode and patch.new_mode and patch.old_mode != patch.new_mode:
            modes = f" mode change {patch.old_mode:06o} => {patch.new_mode:06o}"
        if patch.is_new is not False:
            git.print(f" create{f' mode {patch.new_mode:06o}' if patch.new_mode else ''} {new}")
        elif patch.is_delete is not False:
            git.print(f" delete{f' mode {patch.old_mode:06o}' if patch.old_mode else ''} {old}")
        elif patch.is_rename or patch.is_copy:
            word = "rename" if patch.is_rename else "copy"
            one, two, common = old, new, ""
            while one.partition("/")[1] and one.partition("/")[:2] == two.partition("/")[:2]:
                common += one.partition("/")[0] + "/"
                one, two = one.partition("/")[2], two.partition("/")[2]
            names = f"{common}{{{one} => {two}}}" if common else f"{old} => {new}"
            git.print(f" {word} {names} ({patch.score}%)")
            if modes:
                git.print(modes)
        elif patch.score:
            git.print(f" rewrite {new} ({patch.score}%)")
            if modes:
                git.print(modes)
        elif modes:
            git.print(f"{modes} {new}")


COMMANDS = {"apply": apply}
