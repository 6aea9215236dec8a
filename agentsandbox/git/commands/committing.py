"""`git commit`."""

from __future__ import annotations

import re

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
from agentsandbox.git.texts import SCISSORS, clean_message, strip_space, subject_of
from agentsandbox.git.trailers import trailer_block
from agentsandbox.git.trees import diff_index, index_of_tree, write_index_tree
from agentsandbox.git.worktree import Worktree, mode_of, scan_worktree
from agentsandbox.kernel.streams import decode, encode

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
        given = [
            name
            for name in ("file", "reuse-message", "reedit-message", "fixup")
            if options.given(name)
        ]
        if len(given) > 1:
            raise Fatal(
                "options '-C', '-c', '-F', and '--fixup' cannot be used together"
                if len(given) > 3
                else f"options '{_letter(given[0])}' and '{_letter(given[1])}' cannot be used "
                "together"
            )
        if options.given("message"):
            for name in ("file", "reuse-message", "reedit-message"):
                if options.given(name):
                    raise Fatal(f"options '-m' and '{_letter(name)}' cannot be used together")
        modes = [name for name in ("all", "include", "only") if options.on(name)]
        if len(modes) > 1:
            raise Fatal("Only one of --include/--only/--all/--interactive/--patch can be used.")
        if options.on("reset-author") and options.given("author"):
            raise Fatal("options '--reset-author' and '--author' cannot be used together")
        if options.on("reset-author") and not (
            options.on("amend") or options.given("reuse-message") or options.given("reedit-message")
        ):
            raise Fatal("--reset-author can be used only with -C, -c or --amend.")
        cleanup = options.get("cleanup")
        if cleanup not in (None, "default", "strip", "whitespace", "verbatim", "scissors"):
            raise Fatal(f"Invalid cleanup mode {cleanup}")

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
        if (
            (options.on("only") or options.on("include"))
            and not words
            and not (options.on("only") and self.amend)
        ):
            raise Fatal("No paths with --include/--only does not make sense.")
        if options.on("all") and words:
            raise Fatal(f"paths '{words[0]} ...' with -a does not make sense")
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
                self._take(path, tree, self.index, partial)
            self.tree_index = partial
        else:
            scan = scan_worktree(tree, self.index)
            del scan
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
        data = tree.read(path, info, known=known.oid if known else None)
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
        git, options = self.git, self.options
        name = mail = None
        date = None
        if self.source is not None and not options.on("reset-author"):
            person = Person(self.repository.objects.commit(self.source).author)
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
        del git
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
        fixup = options.text("fixup")
        if options.given("fixup") and not fixup.startswith(("amend:", "reword:")):
            return False
        return not any(options.given(name) for name in ("message", "file", "reuse-message"))

    def _message(self) -> bytes:
        # long: the sources of a message, in git's order
        git, options, repository = self.git, self.options, self.repository
        text = b""
        self.hook_source: tuple[str, ...] = ()
        if options.given("message"):
            text = encode("\n\n".join(_completed(options.all("message"))))
            if text and not text.endswith(b"\n"):
                text += b"\n"
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
        elif options.given("fixup"):
            text = self._fixup(options.text("fixup"))
            self.hook_source = ("message",)
        elif options.given("reuse-message") or options.given("reedit-message"):
            assert self.source is not None
            text = repository.objects.commit(self.source).message
            self.hook_source = ("commit", self.source)
        elif self.amend:
            assert self.head is not None
            text = repository.objects.commit(self.head).message
            self.hook_source = ("commit", "HEAD")
        elif (merge := repository.read_file("MERGE_MSG")) is not None:
            text = encode(merge)
            squash = repository.read_file("SQUASH_MSG")
            if squash is not None:
                text = encode(squash) + text
            self.hook_source = ("merge",)
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
        if options.given("squash"):
            commit = resolve_commit(git, options.text("squash"))
            subject = subject_of(repository.objects.commit(commit).message)
            text = b"squash! " + subject + b"\n\n" + text
        for trailer in options.all("trailer"):
            parts = re.split("[=:]", trailer, maxsplit=1)
            shown = f"{parts[0].rstrip()}: {parts[1].lstrip()}" if len(parts) > 1 else trailer
            text = with_trailer(text, encode(shown))
        if options.on("signoff"):
            ident = repository.ident("committer").rpartition(b">")[0] + b">"
            text = with_trailer(text, b"Signed-off-by: " + ident)
        return text

    template: bytes | None = None

    def _fixup(self, text: str) -> bytes:
        kind, colon, name = text.partition(":")
        if not colon or kind not in ("amend", "reword"):
            kind, name = "fixup", text
        commit = self.repository.objects.commit(resolve_commit(self.git, name))
        subject = subject_of(commit.message)
        if kind == "fixup":
            body = "\n\n".join(_completed(self.options.all("message")))
            return b"fixup! " + subject + b"\n" + (encode(f"\n{body}") if body else b"")
        return b"amend! " + subject + b"\n\n" + commit.message

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
        if mode != "verbatim" and (edits or self.options.on("signoff")):
            text = strip_space(message) if mode != "verbatim" else message
        if edits:
            text += self._comments(mode)
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
        if self.options.on("verbose") and mode != "verbatim":
            at = text.find(b"\n" + SCISSORS)
            if at >= 0:
                text = text[: at + 1]
        cleaned = clean_message(text, mode, encode(self._comment_character()))
        if self.template is not None and edits and cleaned == strip_space(self.template, b"#"):
            git.say("Aborting commit; you did not edit the message.")
            raise Quit(1)
        if not cleaned.strip() and not self.options.on("allow-empty-message"):
            git.say("Aborting commit due to empty commit message.")
            raise Quit(1)
        if not _has_text(cleaned) and not self.options.on("allow-empty-message"):
            git.say("Aborting commit due to empty commit message.")
            raise Quit(1)
        return cleaned

    def _comment_character(self) -> str:
        found = self.git.config.get("core.commentchar", "#")
        return found if len(found) == 1 else "#"

    def _comments(self, mode: str) -> bytes:
        git = self.git
        character = self._comment_character()
        if self.options.off("status"):
            return b""
        lines = ["\n"]
        if mode == "strip":
            lines.append(
                f"{character} Please enter the commit message for your changes. Lines "
                f"starting\n{character} with '{character}' will be ignored, and an empty "
                "message aborts the commit.\n"
            )
        else:
            lines.append(
                f"{character} Please enter the commit message for your changes. Lines "
                f"starting\n{character} with '{character}' will be kept; you may remove "
                "them yourself if you want to.\n"
                f"{character} An empty message aborts the commit.\n"
            )
        author = self._author()
        committer = self.repository.ident("committer")
        extra = ""
        if author.rpartition(b">")[0] != committer.rpartition(b">")[0]:
            extra += f"{character}\n{character} Author:    {decode(author.rpartition(b'> ')[0])}>\n"
        if self._shows_date():
            extra += "" if extra else f"{character}\n"
            extra += f"{character} Date:      {self._date_text(author)}\n"
        lines.append(extra + f"{character}\n")
        if self.tree_index is self.index:
            self.repository.write_index(self.index)
        status = Status(git, base=(self._base(),))
        printer = StatusPrinter(status, comment=character)
        printer.whence = self.whence
        printer.amend = self.amend
        lines.append(printer.long())
        text = encode("".join(lines))
        if self.options.on("verbose"):
            text += SCISSORS + encode(
                f"{character} Do not modify or remove the line above.\n"
                f"{character} Everything below it will be ignored.\n"
            )
            text += self._verbose_diff()
        return text

    def _verbose_diff(self) -> bytes:
        from agentsandbox.git.diff.options import DiffOptions
        from agentsandbox.git.diff.printing import DiffPrinter

        options = DiffOptions()
        options.formats.add("patch")
        options.color = "never"
        options.configure(self.git)
        printer = DiffPrinter(self.git, options)
        self.git.flush()
        base = self._base()
        tree = self.repository.objects.commit(base).tree if base is not None else None
        printer.print(printer.prepare(diff_index(self.repository, tree, self.tree_index)))
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
            others = [line[:40] for line in text.split("\n") if line]
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
            or (self.options.given("fixup") and (self.options.text("fixup").startswith("reword:")))
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
        if self.amend and base is not None:
            pass
        self._write_index()
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
        options, memory = self.options, None
        form = (
            "short"
            if options.on("short")
            else ("porcelain" if options.on("porcelain") or options.on("null") else "long")
        )
        del memory
        path = self.repository.index_path
        before = self.git.fs.read_bytes(path) if self.git.fs.exists(path) else None
        self.repository.write_index(self.tree_index)
        try:
            committable = self._print_status(form)
        finally:
            if before is None:
                self.git.fs.unlink(path)
            else:
                self.git.fs.write_bytes(path, before)
        return 0 if committable else 1

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


_EMPTY_PICK = """The previous cherry-pick is now empty, possibly due to conflict resolution.
If you wish to commit it anyway, use:

    git commit --allow-empty

Otherwise, please use 'git cherry-pick --skip'
"""


def _completed(texts: list[str]) -> list[str]:
    return [
        text if number == len(texts) - 1 else text.rstrip("\n") for number, text in enumerate(texts)
    ]


def _letter(name: str) -> str:
    return {"file": "-F", "reuse-message": "-C", "reedit-message": "-c"}.get(name, f"--{name}")


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


def with_trailer(message: bytes, trailer: bytes) -> bytes:
    """Return a message with a trailer at its end, unless it is there."""
    body = message.rstrip(b"\n")
    lines = trailer_block(message)
    if lines and lines[-1] == decode(trailer):
        return body + b"\n"
    if not body:
        return b"\n" + trailer + b"\n" if not message else b"\n\n" + trailer + b"\n"
    return body + (b"\n" if lines else b"\n\n") + trailer + b"\n"


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
