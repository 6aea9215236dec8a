"""`git am`: commits made from mails with patches.

`.git/rebase-apply` holds the mails ("0001" …), which one is next, the options, and what the current
one says (`author-script`, `final-commit`, `patch`): the files that real git reads and writes.
"""

from __future__ import annotations

import posixpath

from agentsandbox.git.commands.applying import USAGES as APPLY_USAGES
from agentsandbox.git.commands.applying import Application
from agentsandbox.git.errors import BadUsage, Fatal, GitError, Quit
from agentsandbox.git.hooks import run_hook
from agentsandbox.git.index import Entry, Index
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.mails import HowToRead, read_mail, split_mailbox
from agentsandbox.git.merge_state import put_merge, staged_paths
from agentsandbox.git.merging import Options as HowToMerge
from agentsandbox.git.merging import TreeMerge
from agentsandbox.git.objects import EMPTY_TREE, SUBMODULE, format_commit
from agentsandbox.git.options import parse_options
from agentsandbox.git.rebase_state import parse_author, quoted, unquoted
from agentsandbox.git.repository import ident_date
from agentsandbox.git.texts import strip_space
from agentsandbox.git.trailers import with_trailer
from agentsandbox.git.trees import diff_index, write_index_tree
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.git.patches.parsing import Patch

FOLDER = "rebase-apply"
USAGES = {
    "am": """
git am [<options>] [(<mbox> | <Maildir>)...]
   or: git am [<options>] (--continue | --skip | --abort)

    -i, --interactive     not supported
    -3, --3way            merge if a patch does not fit
    -q, --quiet           print no reports
    -s, --signoff         add a Signed-off-by trailer
    -u, --utf8            recode messages as UTF-8 (default)
    -k, --keep            keep subjects as they are
    --keep-non-patch      remove only [PATCH] from subjects
    -m, --message-id      add the Message-Id to the message
    --keep-cr             keep CR at the ends of lines
    --no-keep-cr          remove CR at the ends of lines
    -c, --scissors        leave out what is above a line of scissors
    --quoted-cr <action>  not supported
    --whitespace <action> as in git apply
    --ignore-space-change as in git apply
    --ignore-whitespace   as in git apply
    --directory <root>    as in git apply
    --exclude <path>      as in git apply
    --include <path>      as in git apply
    -C <n>                as in git apply
    -p <num>              as in git apply
    --patch-format <format>
                          mbox
    --reject              as in git apply
    --continue            go on after a conflict
    -r, --resolved        the same
    --skip                go on without the patch of the conflict
    --abort               end and go back
    --quit                end and stay where HEAD is
    --show-current-patch[=(diff|raw)]
                          show the patch of the conflict
    --allow-empty         make an empty commit of a mail without a patch
    --committer-date-is-author-date
                          take the author's date for the committer
    --ignore-date         take the current date for the author
    --rerere-autoupdate   not supported
    -S, --gpg-sign[=<key-id>]
                          sign the commits
    --empty <{stop,drop,keep}>
                          what to do with mails without a patch
""",
}
_MODES = ("continue", "resolved", "skip", "abort", "quit", "show-current-patch", "allow-empty")
_PASSED = (
    "whitespace", "ignore-space-change", "ignore-whitespace", "directory", "exclude", "include",
    "C", "p", "reject",
)  # fmt: skip


def am(git: Invocation, words: list[str]) -> int:
    return _Mailing(git, words).run()


class _Mailing:
    """One call of `git am`."""

    def __init__(self, git: Invocation, words: list[str]) -> None:
        self.git = git
        self.options = parse_options(USAGES["am"], words)
        self.repository = git.repository
        self.repository.need_worktree()
        self.objects = git.repository.objects
        self.message = b""
        self.threeway = self.quiet = self.signs = False
        self.keeps = "f"
        self.message_id = self.scissors = False
        self.passed: list[str] = []
        self.next = self.last = 0

    # files

    def _read(self, name: str) -> str | None:
        return self.repository.read_file(f"{FOLDER}/{name}")

    def _write(self, name: str, data: bytes | str) -> None:
        self.repository.write_file(f"{FOLDER}/{name}", data)

    def _remove(self, *names: str) -> None:
        self.repository.remove_file(*[f"{FOLDER}/{name}" for name in names])

    def _is_active(self) -> bool:
        return self._read("last") is not None and self._read("next") is not None

    def _bytes(self, name: str) -> bytes:
        return encode(self._read(name) or "")

    def run(self) -> int:
        # long: one way on after the other
        options, repository = self.options, self.repository
        for name in ("interactive", "quoted-cr", "rerere-autoupdate"):
            if options.on(name):
                raise Fatal(f"git am --{name} is not supported in this sandbox")
        if options.on("gpg-sign"):
            raise Fatal("commits are not signed in this sandbox: it keeps no keys")
        modes = [name for name, _, negated in options.order if name in _MODES and not negated]
        mode = "continue" if modes[-1:] == ["resolved"] else (modes or [""])[-1]
        if options.get("empty", "stop") not in ("stop", "drop", "keep"):
            raise BadUsage(f"invalid value for '--empty': '{options.get('empty')}'", usage=False)
        folder = f"{repository.shown_folder}/{FOLDER}"
        if self._is_active():
            if options.operands or not mode:
                raise Fatal(f"previous rebase directory {folder} still exists but mbox given.")
            self._load()
        else:
            if repository.fs.exists(repository.file(FOLDER)):
                if mode in ("abort", "quit"):
                    repository.remove_file(FOLDER)
                    return 0
                raise Fatal(
                    f'Stray {folder} directory found.\nUse "git am --abort" to remove it.'
                )
            if mode:
                raise Fatal("Resolve operation not in progress, we are not resuming.")
            self._set_up()
        actions: dict[str, Callable[[], int]] = {
            "": self._apply_all, "continue": self._resolve, "skip": self._skip,
            "abort": self._abort, "quit": self._quit, "show-current-patch": self._show,
            "allow-empty": lambda: self._resolve(allow_empty=True),
        }  # fmt: skip
        return actions[mode]()

    # beginning

    def _set_up(self) -> None:
        options, git, repository = self.options, self.git, self.repository
        config = git.config
        keeps_cr = options.on("keep-cr", config.flag("am.keepcr")) and not options.on("no-keep-cr")
        if options.text("patch-format", "mbox") not in ("mbox", "mboxrd"):
            name = options.text("patch-format")
            raise Fatal(f"git am --patch-format={name} is not supported in this sandbox")
        mails: list[bytes] = []
        for name in options.operands or ["-"]:
            mails += self._mails(name, keeps_cr)
        self.threeway = options.on("3way", config.flag("am.threeway"))
        self.quiet = options.on("quiet")
        self.signs = options.on("signoff")
        self.keeps = "t" if options.on("keep") else "b" if options.on("keep-non-patch") else "f"
        self.message_id = options.on("message-id", config.flag("am.messageid"))
        self.scissors = options.on("scissors", config.flag("mailinfo.scissors"))
        self.passed = self._passed_words()
        self.next, self.last = 1, len(mails)
        for number, mail in enumerate(mails, 1):
            self._write(f"{number:04d}", mail)
        self._write("threeway", "t\n" if self.threeway else "f\n")
        self._write("quiet", "t\n" if self.quiet else "f\n")
        self._write("sign", "t\n" if self.signs else "f\n")
        self._write("utf8", "f\n" if options.off("utf8") else "t\n")
        self._write("keep", f"{self.keeps}\n")
        self._write("messageid", "t\n" if self.message_id else "f\n")
        scissors = ("t\n" if options.on("scissors") else "f\n") if options.given("scissors") else ""
        self._write("scissors", scissors)
        self._write("quoted-cr", "")
        words = " ".join([quoted(word) for word in self.passed])
        self._write("apply-opt", f"{words}\n" if words else "")
        self._write("applying", "")
        self._write("next", "1\n")
        self._write("last", f"{self.last}\n")
        head = repository.head()
        self._write("abort-safety", f"{head}\n" if head is not None else "\n")
        repository.refs.delete("REBASE_HEAD")
        if head is not None:
            repository.refs.write("ORIG_HEAD", head, "")

    def _mails(self, name: str, keeps_cr: bool) -> list[bytes]:
        git = self.git
        shown = name
        if name == "-":
            data = git.read_input()
        else:
            path = git.path(name)
            if git.fs.is_dir(path):
                return self._maildir(name, path, keeps_cr)
            try:
                data = git.fs.read_bytes(path)
            except OSError as error:
                raise Fatal(f"could not open '{name}' for reading: {error.strerror}") from None
            git.budget.charge(len(data))
            if name == self.options.operands[0]:
                self._detect_format(data)
        if not data and name == "-":
            return []
        git.budget.step(len(data) // 64)
        try:
            return split_mailbox(data, shown, keep_cr=keeps_cr)
        except GitError as error:
            git.error(error.message)
            git.error(f"cannot split patches from {shown}")
            raise Fatal("Failed to split patches.") from None

    def _detect_format(self, data: bytes) -> None:
        lines = [line for line in data.split(b"\n", 12)[:12] if line.strip()]
        first = lines[0] if lines else b""
        if first.startswith((b"From ", b"From: ")):
            return
        for start, name in ((b"# This series applies on GIT commit", "stgit-series"),
                            (b"# HG changeset patch", "hg")):  # fmt: skip
            if first.startswith(start):
                raise Fatal(f"git am --patch-format={name} is not supported in this sandbox")
        head = data.lstrip(b"\n").partition(b"\n\n")[0].split(b"\n")
        for line in head:
            name_, colon, _ = line.partition(b":")
            if not (colon and name_.replace(b"-", b"").isalnum()) and line[:1] not in (b" ", b"\t"):
                self.git.say("Patch format detection failed.")
                raise Quit(128)

    def _maildir(self, name: str, path: str, keeps_cr: bool) -> list[bytes]:
        found: list[bytes] = []
        for part in ("cur", "new"):
            folder = f"{path}/{part}"
            if not self.git.fs.is_dir(folder):
                continue
            for each in sorted(self.git.fs.scan(folder)[0]):
                if not each.startswith("."):
                    self.git.budget.step()
                    data = self.git.fs.read_bytes(posixpath.join(folder, each))
                    found += split_mailbox(data, f"{name}/{part}/{each}", keep_cr=keeps_cr)
        return found

    def _passed_words(self) -> list[str]:
        words = []
        for name, value, negated in self.options.order:
            if name in _PASSED and not negated:
                if name in ("C", "p"):
                    words.append(f"-{name}{value}")
                else:
                    words.append(f"--{name}" + (f"={value}" if value is not None else ""))
        return words

    def _load(self) -> None:
        """Read the options, and what the current mail says."""
        def is_on(name: str) -> bool:
            return (self._read(name) or "").strip() == "t"

        options = self.options
        self.next = int((self._read("next") or "1").strip() or "1")
        self.last = int((self._read("last") or "0").strip() or "0")
        self.threeway = options.on("3way", is_on("threeway"))
        self.quiet = options.on("quiet", is_on("quiet"))
        self.signs = options.on("signoff", is_on("sign"))
        self.keeps = (self._read("keep") or "f").strip()
        self.message_id, self.scissors = is_on("messageid"), is_on("scissors")
        words = (self._read("apply-opt") or "").strip()
        self.passed = [
            text for word in _shell_words(words) if (text := unquoted(word)) is not None
        ] + self._passed_words()  # fmt: skip
        self.message = self._bytes("final-commit")

    # one mail after the other

    def _say(self, text: str) -> None:
        if not self.quiet:
            self.git.print(text)

    def _title(self) -> str:
        return decode(self.message.partition(b"\n")[0])

    def _apply_all(self) -> int:
        # long: the steps for one mail, in git's order
        git, repository = self.git, self.repository
        head = repository.head()
        tree = self.objects.commit(head).tree if head is not None else None
        dirty = staged_paths(git, tree)
        if dirty:
            self._write("dirtyindex", "t\n")
            names = " ".join([decode(path) for path in dirty])
            raise Fatal(f"Dirty index: cannot apply patches (dirty: {names})")
        while self.next <= self.last:
            git.budget.step()
            if repository.fs.exists(repository.file(f"{FOLDER}/{self.next:04d}")):
                if self._take_mail() and not self._apply_one():
                    self._commit()
            self._advance()
        repository.remove_file(FOLDER)
        return 0

    def _take_mail(self) -> bool:
        """Read the next mail; return whether it is to be applied."""
        how = HowToRead()
        how.keeps = {"t": "all", "b": "non-patch"}.get(self.keeps, "")
        how.message_id, how.scissors = self.message_id, self.scissors
        mail = read_mail(self._bytes(f"{self.next:04d}"), how)
        self._write("info", mail.info())
        self._write("patch", mail.patch)
        self._write("msg", mail.message)
        if mail.subject.startswith("DON'T DELETE THIS MESSAGE -- FOLDER INTERNAL DATA"):
            return False
        text = encode(mail.subject) + b"\n\n" + encode(mail.message)
        self.message = strip_space(text)
        if self.signs:
            ident = self.repository.ident("committer").rpartition(b">")[0] + b">"
            self.message = with_trailer(self.message, b"Signed-off-by: " + ident)
        self._write(
            "author-script",
            f"GIT_AUTHOR_NAME={quoted(mail.name)}\nGIT_AUTHOR_EMAIL={quoted(mail.mail)}\n"
            f"GIT_AUTHOR_DATE={quoted(mail.date)}\n",
        )
        self._write("final-commit", self.message)
        return True

    def _apply_one(self) -> bool:
        """Apply the current patch to index and worktree; return whether nothing changed."""
        git = self.git
        if not self._read("patch"):
            empty = self.options.text("empty", "stop")
            if empty == "stop":
                git.print("Patch is empty.")
                self._stop()
            if empty == "drop":
                self._say(f"Skipping: {self._title()}")
                return True
            self._say(f"Creating an empty commit: {self._title()}")
            return False
        if run_hook(self.repository, "applypatch-msg", f".git/{FOLDER}/final-commit"):
            raise Quit(1)
        self.message = self._bytes("final-commit")
        self._say(f"Applying: {self._title()}")
        git.flush()
        if self._apply(quiet=self.threeway) == 0:
            return False
        if self.threeway and self._merge():
            if not self._has_changes():
                self._say("No changes -- Patch already applied.")
                return True
            return False
        git.print(f"Patch failed at {self.next:04d} {self._title()}")
        git.hint("Use 'git am --show-current-patch=diff' to see the failed patch", "amWorkDir")
        self._stop()
        return True

    def _has_changes(self) -> bool:
        head = self.repository.head()
        tree = self.objects.commit(head).tree if head is not None else None
        return bool(staged_paths(self.git, tree))

    def _apply(self, *, quiet: bool) -> int:
        words = ["--index", *self.passed, *(["-q"] if quiet or self.quiet else [])]
        application = Application(self.git, parse_options(APPLY_USAGES["apply"], words))
        applier = application.applier
        applier.index = self.repository.index()
        try:
            status = application.apply_text(self._bytes("patch"), f".git/{FOLDER}/patch")
            application.report_whitespace()
        except GitError as error:
            if error.message:
                applier.error(error.message)
            return 1
        application.save()
        return status

    def _stop(self) -> None:
        git = self.git
        git.print('When you have resolved this problem, run "git am --continue".')
        git.print('If you prefer to skip this patch, run "git am --skip" instead.')
        if not self._read("patch") and not self._has_changes():
            git.print(
                'To record the empty patch as an empty commit, run "git am --allow-empty".'
            )
        git.print('To restore the original branch and stop patching, run "git am --abort".')
        raise Quit(128)

    # three-way merges

    def _merge(self) -> bool:
        """Merge the patch, with what it was made for as the base; return whether that is clean."""
        # long: the steps of git's fall-back
        git, repository = self.git, self.repository
        words = ["--index", *self.passed, "-q"]
        application = Application(git, parse_options(APPLY_USAGES["apply"], words))
        try:
            patches = application.read_patches(self._bytes("patch"), "patch")
            base = self._base(patches or [])
        except GitError as error:
            if error.message:
                git.error(error.message)
            git.error("could not build fake ancestor")
            return False
        base_tree = write_index_tree(repository, base)
        self._say("Using index info to reconstruct a base tree...")
        head = repository.head()
        ours = self.objects.commit(head).tree if head is not None else EMPTY_TREE
        if not self.quiet:
            for delta in diff_index(repository, ours, base):
                if delta.status in "AM":
                    git.print(f"{delta.status}\t{decode(delta.path)}")
        theirs = self._patched_tree(application, patches or [], base)
        if theirs is None:
            git.flush()
            git.error(
                "Did you hand edit your patch?\nIt does not apply to blobs recorded in its index."
            )
            return False
        self._say("Falling back to patching base and 3-way merge...")
        how = HowToMerge(repository)
        how.folders = ""
        work = TreeMerge(repository, ("HEAD", "constructed merge base", self._title()), how)
        merged = work.run(base_tree, ours, theirs)
        try:
            put_merge(git, ours, merged)
        except GitError as error:
            git.flush()
            git.say(error.message)
            git.error("Failed to merge in the changes.")
            return False
        if not self.quiet:
            texts = merged.texts()
            for text in sorted(texts, key=lambda text: not text.startswith("CONFLICT (add/add)")):
                git.print(text)
        git.flush()
        if not merged.is_clean:
            git.error("Failed to merge in the changes.")
        return merged.is_clean

    def _base(self, patches: list[Patch]) -> Index:
        """Return an index with the files that the patches were made for."""
        made = Index()
        index = self.repository.index()
        for patch in patches:
            if patch.is_new:
                continue
            name = patch.old_name if patch.old_name is not None else patch.name
            if patch.old_mode == SUBMODULE:
                raise GitError(
                    f"sha1 information is lacking or useless for submodule {decode(name)}"
                )
            oid = self._blob_named(patch.old_oid)
            if oid is None and not patch.added and not patch.deleted:
                entry = index.get(name)
                if entry is None:
                    raise GitError(
                        f"mode change for {decode(name)}, which is not in current HEAD"
                    )
                oid = entry.oid
            if oid is None:
                raise GitError(f"sha1 information is lacking or useless ({decode(name)}).")
            entry = index.get(name)
            mode = patch.old_mode or (entry.mode if entry is not None else 0o100644)
            made.set_replacing(Entry(name, mode, oid))
        return made

    def _blob_named(self, prefix: str) -> str | None:
        if len(prefix) < 4 or not prefix.strip("0"):
            return None
        found = [
            oid for oid in dict.fromkeys(self.objects.with_prefix(prefix))
            if self.objects.type_of(oid) == "blob"
        ]  # fmt: skip
        return found[0] if len(found) == 1 else None

    def _patched_tree(
        self, application: Application, patches: list[Patch], base: Index
    ) -> str | None:
        """Return the tree of the base with the patches applied, None if they do not fit."""
        applier = application.applier
        applier.cached = applier.checks_index = True
        applier.index = base
        try:
            if not applier.check(patches) or applier.write(patches):
                return None
        except GitError:
            return None
        return write_index_tree(self.repository, base)

    # commits

    def _commit(self) -> None:
        git, repository = self.git, self.repository
        if run_hook(repository, "pre-applypatch"):
            raise Quit(1)
        tree = write_index_tree(repository, repository.index())
        head = repository.head()
        if head is None:
            self._say("applying to an empty history")
        author = self._author()
        date = None
        if self.options.on("committer-date-is-author-date"):
            date = "@" + decode(author.rpartition(b"> ")[2])
        committer = repository.ident("committer", date=date)
        parents = [head] if head is not None else []
        oid = self.objects.write(
            "commit", format_commit(tree, parents, author, committer, self.message)
        )
        action = git.env.get("GIT_REFLOG_ACTION") or "am"
        repository.refs.write("HEAD", oid, f"{action}: {self._title()}", old=head or "0" * 40)
        run_hook(repository, "post-applypatch")

    def _author(self) -> bytes:
        found = parse_author(self._read("author-script") or "")
        if found is None:
            raise Fatal("could not parse author script")
        date = found["GIT_AUTHOR_DATE"] or None
        name, mail = found["GIT_AUTHOR_NAME"], found["GIT_AUTHOR_EMAIL"]
        if not name:
            raise Fatal(f"empty ident name (for <{mail}>) not allowed")
        if self.options.on("ignore-date"):
            when = ident_date(self.git, "", None)
        else:
            ident = self.repository.ident("author", date=date, strict=False)
            when = ident.rpartition(b"> ")[2]
        return encode(f"{name} <{mail}> ") + when

    def _advance(self) -> None:
        self._remove("author-script", "final-commit")
        head = self.repository.head()
        self._write("abort-safety", f"{head}\n" if head is not None else "")
        self.next += 1
        self._write("next", f"{self.next}\n")

    # going on

    def _resolve(self, *, allow_empty: bool = False) -> int:
        git = self.git
        for name in ("final-commit", "author-script"):
            if self._read(name) is None:
                folder = f"{self.repository.shown_folder}/{FOLDER}"
                raise Fatal(f"cannot resume: {folder}/{name} does not exist.")
        self._say(f"Applying: {self._title()}")
        if not self._has_changes():
            if allow_empty and not self._read("patch"):
                git.print("No changes - recorded it as an empty commit.")
            else:
                git.print(
                    "No changes - did you forget to use 'git add'?\n"
                    "If there is nothing left to stage, chances are that something else\n"
                    "already introduced the same changes; you might want to skip this patch."
                )
                self._stop()
        if self.repository.index().unmerged():
            git.print(
                "You still have unmerged paths in your index.\n"
                "You should 'git add' each file with resolved conflicts to mark them as such.\n"
                "You might run `git rm` on a file to accept \"deleted by them\" for it."
            )
            self._stop()
        self._commit()
        self._advance()
        return self._apply_all()

    def _clean(self, target: str | None) -> None:
        """Take staged changes and conflicts back, and go to a commit."""
        from agentsandbox.git.commands.resetting import reset_carefully

        head = self.repository.head()
        old, new = (
            self.objects.commit(oid).tree if oid is not None else EMPTY_TREE
            for oid in (head, target)
        )
        reset_carefully(self.git, old, new)

    def _skip(self) -> int:
        self._clean(self.repository.head())
        self._advance()
        return self._apply_all()

    def _abort(self) -> int:
        git, repository = self.git, self.repository
        head = repository.head()
        safe = (self._read("abort-safety") or "").strip()
        if self._read("dirtyindex") is not None or safe != (head or ""):
            if self._read("dirtyindex") is None:
                git.warn(
                    "You seem to have moved HEAD since the last 'am' failure.\n"
                    "Not rewinding to ORIG_HEAD"
                )
            repository.remove_file(FOLDER)
            return 0
        target = repository.refs.read("ORIG_HEAD")
        self._clean(target)
        if target is not None:
            repository.refs.write("HEAD", target, "am --abort", old=head or "0" * 40)
        elif repository.branch():
            repository.refs.delete(repository.branch())
        repository.remove_file(FOLDER)
        return 0

    def _quit(self) -> int:
        self.repository.remove_file(FOLDER)
        return 0

    def _show(self) -> int:
        kind = self.options.text("show-current-patch", "raw")
        if kind not in ("raw", "diff"):
            raise BadUsage(f"invalid value for '--show-current-patch': '{kind}'", usage=False)
        self.git.write(self._bytes("patch" if kind == "diff" else f"{self.next:04d}"))
        return 0


def _shell_words(text: str) -> list[str]:
    """Return quoted words as they are written."""
    found: list[str] = []
    inside = False
    word = ""
    for character in text:
        if character == " " and not inside:
            if word:
                found.append(word)
            word = ""
            continue
        if character == "'":
            inside = not inside
        word += character
    return [*found, word] if word else found


COMMANDS = {"am": am}
