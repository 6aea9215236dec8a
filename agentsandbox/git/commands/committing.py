"""`git commit`."""

from __future__ import annotations

import re
from contextlib import contextmanager

from agentsandbox.git.commands.adding import pathspec_words
from agentsandbox.git.dates import approxidate, parse_exact
from agentsandbox.git.editor import edit
from agentsandbox.git.errors import Fatal, Quit
from agentsandbox.git.hooks import hook_path, run_hook
from agentsandbox.git.index import Entry, Index, parse_index
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.objects import SUBMODULE, format_commit
from agentsandbox.git.options import Options, parse_options
from agentsandbox.git.paths import Pathspec
from agentsandbox.git.pathspecs import parse_pathspec
from agentsandbox.git.pretty import Person
from agentsandbox.git.progress import whence
from agentsandbox.git.repository import Repository, clean_name
from agentsandbox.git.revisions import resolve_commit
from agentsandbox.git.status import Status, StatusPrinter
from agentsandbox.git.texts import (
    before_scissors,
    body_of,
    clean_message,
    strip_space,
    subject_of,
)
from agentsandbox.git.trailer_edits import TrailerEdits, TrailerOptions
from agentsandbox.git.trailers import with_trailer
from agentsandbox.git.trees import diff_index, index_of_tree, write_index_tree
from agentsandbox.git.worktree import Worktree, mode_of, scan_worktree
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

USAGES = {
    "commit": """
git commit [<options>] [--] <pathspec>...

    -q, --quiet           print no summary
    -v, --verbose         show the changes in the editor

Commit message options
    -F, --file <file>     take the message from a file
    --author <author>     another author
    --date <date>         another date of the author
    -m, --message <message>
                          the message
    -c, --reedit-message <commit>
                          take and edit the message of a commit
    -C, --reuse-message <commit>
                          take the message of a commit
    --fixup [(amend|reword):]commit
                          a message for autosquash
    --squash <commit>     a message for autosquash
    --reset-author        take the author from the configuration
    --trailer <trailer>   add a trailer
    -s, --signoff         add a Signed-off-by trailer
    -t, --template <file> begin the message with a file
    -e, --edit            edit the message
    --cleanup <mode>      how to clean the message
    --status              show the status in the editor
    -S, --gpg-sign[=<key-id>]
                          sign the commit

Commit contents options
    -a, --all             commit all files that changed
    -i, --include         add the files to what is staged
    --interactive         choose in a dialog
    -p, --patch           choose changes in a dialog
    -o, --only            commit only the files
    -n, --no-verify       run no pre-commit and commit-msg hooks
    --dry-run             show what would be committed
    --short               show the status in the short form
    --branch              show the branch
    --ahead-behind        count the commits that the upstream lacks
    --porcelain           show the status for scripts
    --long                show the status in the long form
    -z, --null            end entries with NUL
    --amend               replace the last commit
    --no-post-rewrite     run no post-rewrite hook
    -u, --untracked-files[=<mode>]
                          show untracked files: all, normal, no
    --pathspec-from-file <file>
                          read the files from a file
    --pathspec-file-nul   they end with NUL there
    --allow-empty         commit without changes
    --allow-empty-message commit without a message
""",
}


def commit(git: Invocation, words: list[str]) -> int:
    return _Committing(git, words).run()


class _Committing:
    """One call of `git commit`."""

    def __init__(self, git: Invocation, words: list[str]) -> None:
        self.git = git
        self.options = options = parse_options(USAGES["commit"], words)
        self.repository = repository = git.repository
        repository.need_worktree()
        self._check(options)
        self.head = repository.head()
        self.amend = options.on("amend")
        self.whence = whence(repository)
        self.index: Index
        self.tree_index: Index
        self.fixup = ("", "")
        """What `--fixup` makes ("fixup", "amend" or "reword"), and for which commit."""
        self.as_it_was = False
        """Whether the commit takes nothing of what is staged."""
        self.is_plain = True
        """Whether the commit takes just what is staged."""
        if self.amend:
            if self.head is None:
                raise Fatal("You have nothing to amend.")
            if self.whence != "commit":
                word = self.whence
                raise Fatal(f"You are in the middle of a {word} -- cannot amend.")
        self.source = self._message_source() or self._picked()

    def _picked(self) -> str | None:
        """Return the commit of a cherry-pick in progress, whose author is taken."""
        if self.whence not in ("cherry-pick", "rebase"):
            return None
        return (self.repository.read_file("CHERRY_PICK_HEAD") or "").strip()[:40] or None

    def _check(self, options: Options) -> None:
        for name in ("interactive", "patch"):
            if options.on(name):
                raise Fatal(f"git commit --{name} needs a terminal; stage the changes with git add")
        if options.on("gpg-sign"):
            raise Fatal("commits are not signed in this sandbox: it keeps no keys")
        if options.given("fixup") and options.given("squash"):
            raise Fatal("options '--squash' and '--fixup' cannot be used together")
        self._refuse_together(
            ("reuse-message", "-C"), ("reedit-message", "-c"), ("file", "-F"), ("fixup", "--fixup")
        )
        self._refuse_together(
            ("message", "-m"), ("reedit-message", "-c"), ("reuse-message", "-C"), ("file", "-F")
        )
        self._refuse_together(
            ("include", "-i/--include"), ("only", "-o/--only"), ("all", "-a/--all")
        )
        if options.on("reset-author") and options.given("author"):
            raise Fatal("options '--reset-author' and '--author' cannot be used together")
        if options.on("reset-author") and not (
            options.on("amend") or options.given("reuse-message") or options.given("reedit-message")
        ):
            raise Fatal("--reset-author can be used only with -C, -c or --amend.")
        cleanup = options.get("cleanup")
        if cleanup not in (None, "default", "strip", "whitespace", "verbatim", "scissors"):
            raise Fatal(f"Invalid cleanup mode {cleanup}")

    def _refuse_together(self, *pairs: tuple[str, str]) -> None:
        shown = [f"'{letter}'" for name, letter in pairs if self.options.given(name)]
        if len(shown) > 1:
            last = "and" if len(shown) == 2 else ", and"
            text = f"{', '.join(shown[:-1])}{' ' if len(shown) == 2 else ''}{last} {shown[-1]}"
            raise Fatal(f"options {text} cannot be used together")

    def _check_fixup(self, words: list[str]) -> None:
        """Take `--fixup` apart; reword takes no files and no changes."""
        options = self.options
        if not options.given("fixup"):
            return
        text = options.text("fixup")
        kind, colon, name = text.partition(":")
        if not (colon and kind.isalpha() and kind.isascii()):
            self.fixup = ("fixup", text)
            return
        if kind not in ("amend", "reword"):
            raise Fatal(f"unknown option: --fixup={kind}:{name}")
        if options.given("message"):
            raise Fatal(f"options '-m' and '--fixup:{kind}' cannot be used together")
        self.fixup = (kind, name)
        if kind == "amend":
            return
        if self.whence != "commit":
            raise Fatal(f"You are in the middle of a {self.whence} -- cannot reword.")
        if words:
            raise Fatal(f"reword option of '--fixup' and path '{words[0]}' cannot be used together")
        if any(options.on(each) for each in ("all", "include", "only")):
            raise Fatal(
                "reword option of '--fixup' and '--patch/--interactive/--all/--include/--only' "
                "cannot be used together"
            )

    def _message_source(self) -> str | None:
        """Return the commit whose author and message are taken, None without one."""
        name = self.options.get("reuse-message") or self.options.get("reedit-message")
        if name:
            return resolve_commit(self.git, name, f"could not lookup commit {name}")
        return self.head if self.amend else None

    def run(self) -> int:
        # long: git's order of steps
        git, options, repository = self.git, self.options, self.repository
        words = pathspec_words(git, options)
        self._check_fixup(words)
        self.as_it_was = not words and (options.on("only") or self.fixup[0] == "reword")
        if (options.on("include") and not words) or (
            self.as_it_was
            and not self.amend
            and not options.on("allow-empty")
            and self.fixup[0] not in ("amend", "reword")
        ):
            raise Fatal("No paths with --include/--only does not make sense.")
        if options.on("all") and words:
            raise Fatal(f"paths '{words[0]} ...' with -a does not make sense")
        self.is_plain = not (words or options.on("all") or self.as_it_was)
        self._prepare_index(words)
        if options.on("dry-run") or any(
            options.on(each) for each in ("short", "porcelain", "null")
        ):
            return self._dry_run()
        author = self._author()
        if self.index.unmerged():
            self._refuse_unmerged()
        if not options.on("no-verify") and hook_path(repository, "pre-commit"):
            if self._run_pre_commit():
                return 1
        committer = repository.ident("committer")
        message = self._message()
        status = self._status_if_nothing()
        if status is not None:
            return status
        tree = write_index_tree(repository, self.tree_index)
        with self._as_committed():
            message = self._edited(message)
        parents = self._parents()
        extra = ()
        oid = repository.objects.write(
            "commit",
            format_commit(tree, parents, author, committer, message, self._encoding(), extra),
        )
        self._finish(oid, message, parents)
        return 0

    def _encoding(self) -> str:
        found = self.git.config.get("i18n.commitencoding")
        return "" if found.lower() in ("", "utf-8", "utf8") else found

    def _hook_env(self) -> dict[str, str]:
        return (
            {"GIT_INDEX_FILE": self.git.env.get("GIT_INDEX_FILE", ".git/index"), "GIT_EDITOR": ":"}
            if not self._edits()
            else {"GIT_INDEX_FILE": self.git.env.get("GIT_INDEX_FILE", ".git/index")}
        )

    def _run_pre_commit(self) -> int:
        """Run the hook on the index that will be committed, which it may change."""
        repository, fs = self.repository, self.git.fs
        options = self.options
        if not (options.on("all") or options.on("include") or self.tree_index is not self.index):
            status = run_hook(repository, "pre-commit", env=self._hook_env())
            self.index = self.tree_index = repository.index()
            return status
        is_whole = self.tree_index is self.index
        name = repository.index_path if is_whole else repository.file("next-index-1")
        lock, _ = repository.lock_index(name, self.tree_index)
        try:
            env = {**self._hook_env(), "GIT_INDEX_FILE": lock}
            status = run_hook(repository, "pre-commit", env=env)
            self.tree_index = parse_index(fs.read_bytes(lock))
        finally:
            if fs.exists(lock, follow=False):
                fs.unlink(lock)
        if is_whole:
            self.index = self.tree_index
        return status

    # the index

    def _prepare_index(self, words: list[str]) -> None:
        """Set `index`, written when all is done, and `tree_index`, which is committed."""
        git, options, repository = self.git, self.options, self.repository
        self.index = repository.index()
        tree = Worktree(repository)
        if options.on("all") or (words and options.on("include")):
            wanted = parse_pathspec(git, words) if words else Pathspec()
            self._update(self.index, tree, wanted)
            self._demand(wanted)
            self.tree_index = self.index
        elif words:
            if self.whence != "commit":
                word = self.whence
                raise Fatal(f"cannot do a partial commit during a {word}.")
            wanted = parse_pathspec(git, words)
            base = repository.objects.commit(self.head).tree if self.head is not None else None
            partial = index_of_tree(repository, base, self.index)
            paths = {entry.path for entry in self.index if wanted.matches(entry.path)}
            paths |= {entry.path for entry in partial if wanted.matches(entry.path)}
            self._demand(wanted)
            for path in sorted(paths):
                known = self.index.get(path)
                if known is None or not known.skips:
                    self._take(path, tree, self.index, partial)
            self.tree_index = partial
        elif self.as_it_was:
            base = repository.objects.commit(self.head).tree if self.head is not None else None
            self.tree_index = index_of_tree(repository, base, self.index)
        else:
            scan_worktree(tree, self.index)
            self.tree_index = self.index

    def _demand(self, wanted: Pathspec) -> None:
        missing = wanted.unmatched()
        if missing is not None:
            self.git.error(f"pathspec '{missing.given}' did not match any file(s) known to git")
            raise Quit(1)

    def _update(self, index: Index, tree: Worktree, wanted: Pathspec) -> None:
        for entry in index:
            wanted.matches(entry.path)
        for path, (kind, _, _) in sorted(scan_worktree(tree, index, wanted).changed.items()):
            if self.repository.leaves_out(path):
                continue
            if kind == "D":
                index.remove(path)
            else:
                self._take(path, tree, index, index)

    def _take(self, path: bytes, tree: Worktree, index: Index, other: Index) -> None:
        """Put a file as it is in the worktree into two indexes."""
        info = tree.stat(path)
        known = index.get(path)
        if info is not None and info.is_dir and known is not None and known.mode == SUBMODULE:
            head = tree.head_of_nested(path)
            entry = Entry(path, SUBMODULE, known.oid if head is None else head)
            entry.remember(info)
            index.set_replacing(entry)
            if other is not index:
                other.set_replacing(entry)
            return
        if info is None or info.is_dir:
            if info is None or known is None:
                index.remove(path)
                other.remove(path)
            return
        mode = mode_of(info, file_mode=tree.file_mode, known=known.mode if known else 0)
        data = tree.read(path, info, known=known.oid if known else None, warns=True)
        entry = Entry(path, mode, self.repository.objects.write("blob", data))
        entry.remember(info)
        index.set_replacing(entry)
        if other is not index:
            other.set_replacing(entry)

    def _refuse_unmerged(self) -> None:
        git = self.git
        for path in self.index.unmerged():
            git.print(f"U\t{decode(path)}")
        git.error("Committing is not possible because you have unmerged files.")
        git.hint(
            "Fix them up in the work tree, and then use 'git add/rm <file>'\n"
            "as appropriate to mark resolution and make a commit.",
            "resolveConflict",
        )
        raise Fatal("Exiting because of an unresolved conflict.")

    # author and message

    def _author(self) -> bytes:
        options = self.options
        name = mail = None
        date = None
        if self.source is not None and not options.on("reset-author"):
            person = Person(self.repository.readable(self.source).author)
            name, mail = person.name, person.mail
            date = f"@{person.seconds} {person.zone:+05d}"
        given = options.get("author")
        if given is not None:
            before, bracket, address = given.strip().rpartition("<")
            if bracket and address.endswith(">") and ">" not in address[:-1]:
                name, mail = before.strip(), address[:-1]
            else:
                name, mail = self._author_like(given)
        if options.get("date") is not None:
            date = self._given_date(options.text("date"))
        if name is None or mail is None:
            return self.repository.ident("author", date=date)
        when = self.repository.ident("author", date=date, strict=False).rpartition(b"> ")[2]
        shown = clean_name(name)
        if not shown:
            raise Fatal("empty ident name (for <" + mail + ">) not allowed")
        return encode(f"{shown} <{clean_name(mail)}> ") + when

    def _author_like(self, text: str) -> tuple[str, str]:
        from agentsandbox.git.history import Walk
        from agentsandbox.git.texts import text_search

        matches = text_search(text, self.git.budget, ignore_case=True)
        walk = Walk(self.repository)
        walk.tips = [self.head] if self.head is not None else []
        for oid in walk.run():
            author = self.repository.objects.commit(oid).author
            if matches(author.rpartition(b"> ")[0] + b">"):
                person = Person(author)
                return person.name, person.mail
        raise Fatal(f"--author '{text}' is not 'Name <email>' and matches no existing author")

    def _given_date(self, text: str) -> str:
        git = self.git
        found = parse_exact(text, git.now, git.tz)
        if found is not None:
            return f"@{found[0]} {found[1]:+05d}"
        when = approxidate(text, git.now, git.tz)
        if when == git.now and not re.search(r"now|today|sec", text):
            raise Fatal(f"invalid date format: {text}")
        from agentsandbox.git.dates import local_zone

        return f"@{when} {local_zone(when, git.tz):+05d}"

    def _edits(self) -> bool:
        options = self.options
        if options.given("edit"):
            return options.on("edit")
        if options.given("reedit-message"):
            return True
        if self.fixup[0] == "fixup":
            return False
        return not any(options.given(name) for name in ("message", "file", "reuse-message"))

    def _message(self) -> bytes:
        # long: the sources of a message, in git's order
        git, options, repository = self.git, self.options, self.repository
        text = b""
        self.hook_source: tuple[str, ...] = ()
        given = encode("\n\n".join(_completed(options.all("message"))))
        if given and not given.endswith(b"\n"):
            given += b"\n"
        if options.given("message") and not self.fixup[0]:
            text = given
            self.hook_source = ("message",)
        elif options.given("file"):
            name = options.text("file")
            if name == "-":
                text = git.read_input()
            else:
                try:
                    text = git.fs.read_bytes(git.path(name))
                except OSError as error:
                    raise Fatal(f"could not read log file '{name}': {error.strerror}") from None
            self.hook_source = ("message",)
        elif options.given("reuse-message") or options.given("reedit-message"):
            assert self.source is not None
            text = repository.readable(self.source).message.lstrip(b"\n")
            self.hook_source = ("commit", self.source)
        elif self.fixup[0]:
            text = self._fixup(given)
            self.hook_source = ("message",)
        elif self.amend:
            assert self.head is not None
            text = repository.readable(self.head).message.lstrip(b"\n")
            self.hook_source = ("commit", "HEAD")
        elif (merge := repository.read_file("MERGE_MSG")) is not None:
            squash = repository.read_file("SQUASH_MSG")
            text = encode((squash or "") + merge)
            self.hook_source = ("merge",) if squash is None else ("squash",)
        elif (squash := repository.read_file("SQUASH_MSG")) is not None:
            text = encode(squash)
            self.hook_source = ("squash",)
        elif template := options.get("template") or git.config.get("commit.template"):
            path = git.config.expand(template)
            try:
                text = git.fs.read_bytes(git.path(path))
            except OSError as error:
                raise Fatal(f"could not read '{template}': {error.strerror}") from None
            self.template = text
            self.hook_source = ("template",)
        elif self.whence != "commit":
            self.hook_source = (
                ("merge",) if self.whence == "merge" else ("commit", "CHERRY_PICK_HEAD")
            )
        if options.given("squash"):
            text = self._squash_line() + text
            self.hook_source = ("message", "")
        if self._mode() != "verbatim" and self.template is None:
            text = strip_space(text)
        if options.on("signoff"):
            ident = repository.ident("committer").rpartition(b">")[0] + b">"
            text = with_trailer(text, b"Signed-off-by: " + ident)
        return text

    def _squash_line(self) -> bytes:
        name = self.options.text("squash")
        if name == (self.options.get("reuse-message") or self.options.get("reedit-message")):
            return b"squash! "
        commit = resolve_commit(self.git, name, f"could not lookup commit {name}")
        subject = subject_of(self.repository.readable(commit).message)
        return b"squash! " + subject + b"\n\n"

    def _with_trailers(self, text: bytes) -> bytes:
        """Return the text for the editor with the trailers of the command line."""
        new = self.options.all("trailer")
        if not new:
            return text
        edits = TrailerOptions()
        edits.divides = False
        for trailer in new:
            edits.add(trailer)
        return TrailerEdits(self.git, edits).apply(text)

    template: bytes | None = None

    def _fixup(self, given: bytes) -> bytes:
        """Return the message of `--fixup`, with what `-m` says."""
        kind, name = self.fixup
        oid = resolve_commit(self.git, name, f"could not lookup commit {name}")
        message = self.repository.readable(oid).message
        subject = subject_of(message)
        if kind == "fixup":
            return b"fixup! " + subject + b"\n\n" + given
        body = body_of(message) if subject.startswith(b"amend! ") else message
        return b"amend! " + subject + b"\n\n" + body

    def _mode(self) -> str:
        mode = self.options.text("cleanup") or self.git.config.get("commit.cleanup", "default")
        if mode == "default":
            return "strip" if self._edits() else "whitespace"
        if mode == "scissors" and not self._edits():
            return "whitespace"
        return mode

    def _edited(self, message: bytes) -> bytes:
        """Run the editor and the hooks on a message and return it cleaned."""
        git, repository = self.git, self.repository
        mode = self._mode()
        edits = self._edits()
        text = message
        self.character = self._comment_character(message)
        if edits and self.options.on("status", default=git.config.flag("commit.status", True)):
            text += self._comments(mode)
        text = self._with_trailers(text)
        repository.write_file("COMMIT_EDITMSG", text)
        if run_hook(
            repository,
            "prepare-commit-msg",
            _shown(repository, "COMMIT_EDITMSG"),
            *self.hook_source,
            env=self._hook_env(),
        ):
            raise Quit(1)
        if edits:
            edit(git, repository.file("COMMIT_EDITMSG"), _shown(repository, "COMMIT_EDITMSG"))
        if not self.options.on("no-verify") and run_hook(
            repository, "commit-msg", _shown(repository, "COMMIT_EDITMSG"), env=self._hook_env()
        ):
            raise Quit(1)
        text = git.fs.read_bytes(repository.file("COMMIT_EDITMSG"))
        character = encode(self.character)
        if self._verbosity():
            text = before_scissors(text, character)
        cleaned = clean_message(text, mode, character)
        if self.options.on("allow-empty-message"):
            return cleaned
        if (mode != "verbatim" or not cleaned) and not _has_text(cleaned):
            git.say("Aborting commit due to empty commit message.")
            raise Quit(1)
        if self.template is not None and (mode != "verbatim" or not cleaned):
            template = clean_message(self.template, "strip" if mode == "strip" else "", character)
            if template and not _has_text(cleaned.removeprefix(template)):
                git.say("Aborting commit; you did not edit the message.")
                raise Quit(1)
        if self.fixup[0] and cleaned.startswith(b"amend! ") and not _has_text(body_of(cleaned)):
            git.say("Aborting commit due to empty commit message body.")
            raise Quit(1)
        return cleaned

    def _verbosity(self) -> int:
        """Return how much of the changes the editor shows: 0, 1 or 2."""
        if self.options.given("verbose"):
            return self.options.count("verbose")
        text = self.git.config.get("commit.verbose")
        if not text:
            return 0
        if re.fullmatch(r"-?[0-9]{1,6}", text):
            return max(0, int(text))
        return int(self.git.config.flag("commit.verbose"))

    def _comment_character(self, message: bytes) -> str:
        found = self.git.config.get("core.commentchar", "#")
        if found.lower() != "auto":
            return found if len(found) == 1 else "#"
        first = {line[:1] for line in message.split(b"\n")}
        for candidate in "#;@!$%^&|:":
            if encode(candidate) not in first:
                return candidate
        raise Fatal(
            "unable to select a comment character that is not used\nin the current commit message"
        )

    def _comments(self, mode: str) -> bytes:
        # long: the parts of the comment, in git's order
        git = self.git
        character = self.character
        cut = encode(commented(_CUT, character))
        has_cut = mode == "scissors"
        parts = []
        if self.whence != "commit":
            parts += [cut] * has_cut
            head = "MERGE_HEAD" if self.whence == "merge" else "CHERRY_PICK_HEAD"
            what = "merge" if self.whence == "merge" else "cherry-pick"
            parts.append(encode(commented(_in_progress(what, head), character) + "\n"))
        parts.append(b"\n")
        may_be_empty = self.options.on("allow-empty-message")
        if mode == "strip":
            end = "." if may_be_empty else ", and an empty message aborts the commit."
            parts.append(encode(commented(_hint(character, "ignored" + end), character)))
        elif has_cut:
            parts += [cut] * (self.whence == "commit")
        else:
            end = "kept; you may remove them yourself if you want to."
            end += "" if may_be_empty else "\nAn empty message aborts the commit."
            parts.append(encode(commented(_hint(character, end), character)))
        author = self._author()
        committer = self.repository.ident("committer")
        lines = []
        if author.rpartition(b">")[0] != committer.rpartition(b">")[0]:
            lines.append(f"Author:    {decode(author.rpartition(b'> ')[0])}>\n")
        if self._shows_date():
            lines.append(f"Date:      {self._date_text(author)}\n")
        text = "".join([f"{'' if number else chr(10)}{line}" for number, line in enumerate(lines)])
        parts.append(encode(commented(text + "\n", character)))
        if self.is_plain:
            self._write_index()
        printer = StatusPrinter(Status(git, base=(self._base(),)), comment=character)
        printer.whence = self.whence
        printer.amend = self.amend
        parts.append(encode(printer.long()))
        printer.lines.clear()
        if self._verbosity():
            if not has_cut:
                parts.append(cut)
            parts.append(self._verbose_diff(printer))
        return b"".join(parts)

    def _verbose_diff(self, printer: StatusPrinter) -> bytes:
        """Return what is committed as a patch; twice `-v`: also what is not."""
        base = self._base()
        tree = self.repository.objects.commit(base).tree if base is not None else None
        self.git.flush()
        printer.verbose(
            diff_index(self.repository, tree, self.tree_index), twice=self._verbosity() > 1
        )
        data = b"".join(self.git._out)
        self.git._out.clear()
        return data

    def _shows_date(self) -> bool:
        return self.options.given("date") or self.source is not None

    def _date_text(self, author: bytes) -> str:
        from agentsandbox.git.pretty import Pretty

        return Pretty(self.repository).date(Person(author))

    # whether there is something to commit

    def _base(self) -> str | None:
        """Return the commit with which the new one is compared."""
        if not self.amend:
            return self.head
        assert self.head is not None
        parents = self.repository.parents(self.head)
        return parents[0] if parents else None

    def _parents(self) -> list[str]:
        if self.amend:
            assert self.head is not None
            return list(self.repository.parents(self.head))
        parents = [self.head] if self.head is not None else []
        if self.whence == "merge":
            text = self.repository.read_file("MERGE_HEAD") or ""
            named = [line[:40] for line in text.split("\n") if line]
            others = [self.repository.objects.peel(oid, "commit") or oid for oid in named]
            if self.repository.read_file("MERGE_MODE") != "no-ff":
                from agentsandbox.git.history import independent

                kept = independent(self.repository, [*parents, *others])
                return [oid for oid in dict.fromkeys([*parents, *others]) if oid in kept]
            parents += others
        return parents

    def _status_if_nothing(self) -> int | None:
        """Print the status and return 1 if there is nothing to commit, else return None."""
        if (
            self.options.on("allow-empty")
            or self.whence == "merge"
            or self.fixup[0] in ("amend", "reword")
        ):
            return None
        base = self._base()
        tree = self.repository.objects.commit(base).tree if base is not None else None
        if self.amend and base is not None and len(self.repository.parents(self.head or "")) > 1:
            return None
        if diff_index(self.repository, tree, self.tree_index):
            return None
        if base is None and len(self.tree_index):
            return None
        if self.is_plain:
            self._write_index()
        with self._as_committed():
            self._print_status()
        if self.amend:
            self.git.say(
                "You asked to amend the most recent commit, but doing so would make\n"
                "it empty. You can repeat your command with --allow-empty, or you can\n"
                'remove the commit entirely with "git reset HEAD^".'
            )
        elif self.whence in ("cherry-pick", "rebase"):
            self.git.say(_EMPTY_PICK.rstrip("\n").replace("cherry-pick --", f"{self.whence} --"))
        return 1

    def _print_status(self, form: str = "long") -> bool:
        options = self.options
        mode = options.get("untracked-files") or (
            "all"
            if options.given("untracked-files")
            else self.git.config.get("status.showuntrackedfiles", "normal")
        )
        status = Status(self.git, base=(self._base(),), untracked=mode)
        printer = StatusPrinter(status)
        printer.whence = self.whence
        printer.amend = self.amend
        printer.for_commit = True
        if form == "long":
            self.git.write(encode(printer.long()))
        else:
            self.git.write(
                printer.short(
                    branch=options.on("branch"),
                    nul=options.on("null"),
                    porcelain=form == "porcelain",
                )
            )
        return status.has_staged

    def _dry_run(self) -> int:
        options = self.options
        form = (
            "short"
            if options.on("short")
            else ("porcelain" if options.on("porcelain") or options.on("null") else "long")
        )
        if self.is_plain:
            self._write_index()
        with self._as_committed():
            committable = self._print_status(form)
        return 0 if committable else 1

    @contextmanager
    def _as_committed(self) -> Iterator[None]:
        """Let what reads the index read what is committed: a lock file, if that is not the same."""
        git, repository = self.git, self.repository
        if self.is_plain:
            yield
            return
        is_whole = self.tree_index is self.index
        name = repository.index_path if is_whole else repository.file("next-index-1")
        lock, _ = repository.lock_index(name, self.tree_index)
        before = git.env.get("GIT_INDEX_FILE")
        git.env["GIT_INDEX_FILE"] = lock
        try:
            yield
        finally:
            git.fs.unlink(lock)
            if before is None:
                del git.env["GIT_INDEX_FILE"]
            else:
                git.env["GIT_INDEX_FILE"] = before

    def _write_index(self) -> None:
        self.repository.write_index(self.index)

    # afterwards

    def _finish(self, oid: str, message: bytes, parents: list[str]) -> None:
        repository, git = self.repository, self.git
        subject = decode(message.partition(b"\n")[0])
        if self.amend:
            word = "commit (amend)"
        elif self.head is None:
            word = "commit (initial)"
        elif self.whence == "merge":
            word = "commit (merge)"
        elif self.whence in ("cherry-pick", "rebase"):
            word = f"commit ({self.whence})"
        else:
            word = "commit"
        action = git.env.get("GIT_REFLOG_ACTION", word)
        repository.refs.write("HEAD", oid, f"{action}: {subject}", old=self.head or "0" * 40)
        repository.remove_file(
            "CHERRY_PICK_HEAD",
            "REVERT_HEAD",
            "MERGE_HEAD",
            "MERGE_MSG",
            "MERGE_MODE",
            "SQUASH_MSG",
            "AUTO_MERGE",
        )
        self._write_index()
        run_hook(repository, "post-commit", env=self._hook_env())
        if self.amend and not self.options.on("no-post-rewrite"):
            run_hook(repository, "post-rewrite", "amend", stdin=encode(f"{self.head} {oid}\n"))
        if not self.options.on("quiet"):
            print_summary(git, oid, is_initial=self.head is None, date=self._shows_date())
        if repository.read_file("MERGE_AUTOSTASH") is not None:
            from agentsandbox.git.autostash import apply_autostash

            apply_autostash(git, "MERGE_AUTOSTASH")


_CUT = """------------------------ >8 ------------------------
Do not modify or remove the line above.
Everything below it will be ignored.
"""


def _in_progress(what: str, head: str) -> str:
    return (
        f"\nIt looks like you may be committing a {what}.\nIf this is not correct, please run\n"
        f"\tgit update-ref -d {head}\nand try again.\n"
    )


def _hint(character: str, what: str) -> str:
    return (
        "Please enter the commit message for your changes. Lines starting\n"
        f"with '{character}' will be {what}\n"
    )


def commented(text: str, character: str) -> str:
    """Return lines as a comment; no blank comes before a tab."""
    return "".join(
        [
            f"{character}{'' if line[0] in chr(10) + chr(9) else ' '}{line}"
            for line in text.splitlines(keepends=True)
        ]
    )


_EMPTY_PICK = """The previous cherry-pick is now empty, possibly due to conflict resolution.
If you wish to commit it anyway, use:

    git commit --allow-empty

Otherwise, please use 'git cherry-pick --skip'
"""


def _completed(texts: list[str]) -> list[str]:
    return [
        text if number == len(texts) - 1 else text.rstrip("\n") for number, text in enumerate(texts)
    ]


def _shown(repository: Repository, name: str) -> str:
    """Return the path of a file of `.git` as hooks get it."""
    top = (repository.worktree or "").rstrip("/")
    if repository.folder == f"{top}/.git":
        return f".git/{name}"
    return f"{repository.folder}/{name}"


def _has_text(message: bytes) -> bool:
    return any(
        line.strip() and not line.startswith(b"Signed-off-by: ") for line in message.split(b"\n")
    )


def print_summary(git: Invocation, oid: str, *, is_initial: bool, date: bool) -> None:
    """Print "[main abc1234] subject" and what changed."""
    from agentsandbox.git.diff.options import DiffOptions
    from agentsandbox.git.diff.printing import DiffPrinter
    from agentsandbox.git.pretty import Pretty
    from agentsandbox.git.trees import diff_trees

    repository = git.repository
    commit = repository.objects.commit(oid)
    branch = repository.branch().removeprefix("refs/heads/") or "detached HEAD"
    root = " (root-commit)" if is_initial else ""
    subject = decode(subject_of(commit.message))
    git.print(f"[{branch}{root} {repository.short(oid)}] {subject}")
    author, committer = Person(commit.author), Person(commit.committer)
    pretty = Pretty(repository)
    if (author.name, author.mail) != (committer.name, committer.mail):
        git.print(f" Author: {author.name} <{author.mail}>")
    if date:
        from agentsandbox.git.dates import DEFAULT

        git.print(f" Date: {pretty.date(author, DEFAULT)}")
    parents = repository.parents(oid)
    if len(parents) > 1:
        return
    options = DiffOptions()
    options.formats = {"shortstat", "summary"}
    options.configure(git)
    printer = DiffPrinter(git, options)
    base = repository.objects.commit(parents[0]).tree if parents else None
    printer.print(printer.prepare(diff_trees(repository.objects, base, commit.tree)))


COMMANDS = {"commit": commit}
