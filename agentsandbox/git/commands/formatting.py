"""`git format-patch`: commits as mails, one file for each."""

from __future__ import annotations

from agentsandbox.git.commands.logging import LogWords
from agentsandbox.git.encodings import output_encoding, recoded
from agentsandbox.git.errors import Fatal
from agentsandbox.git.history import Walk
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.objects import EMPTY_TREE, Commit, format_commit
from agentsandbox.git.options import parse_options
from agentsandbox.git.patch_mails import (
    MOST_NAME,
    SIGNATURE,
    mail_header,
    mail_options,
    patch_name,
    subject_mark,
    write_patch_mail,
)
from agentsandbox.git.pretty import Person
from agentsandbox.git.texts import subject_of, wrap_text
from agentsandbox.git.trailers import with_trailer
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.diff.options import DiffOptions

USAGES = {
    "format-patch": """
git format-patch [<options>] [<since> | <revision-range>]

    -n, --numbered        write [PATCH n/m] for a single patch too
    -N, --no-numbered     write [PATCH] for several patches too
    -s, --signoff         add a Signed-off-by trailer
    --stdout              write to stdout, not into files
    --cover-letter        write a mail about all patches first
    --numbered-files      call the files 1, 2 …
    --suffix <sfx>        end names in <sfx> instead of ".patch"
    --start-number <n>    begin with this number
    -v, --reroll-count <reroll-count>
                          mark the version of the patches
    --filename-max-length <n>
                          the longest name of a file
    --rfc                 write [RFC PATCH]
    --cover-from-description <mode>
                          not supported
    --subject-prefix <prefix>
                          write [<prefix>] instead of [PATCH]
    -o, --output-directory <dir>
                          the folder of the files
    -k, --keep-subject    write subjects as they are
    --no-binary           leave out the contents of binary files
    --zero-commit         write zeros for the names of commits
    --ignore-if-in-upstream
                          leave out commits whose change is upstream
    -p, --no-stat         write no diffstat
    --root                all commits down to the first one
    --always              write commits without changes too

Messaging
    --add-header <header> add a header
    --to <email>          add a To: header
    --cc <email>          add a Cc: header
    --from[=<ident>]      the sender, by default the committer
    --in-reply-to <message-id>
                          make the first mail a reply
    --attach[=<boundary>] not supported
    --inline[=<boundary>] not supported
    --thread[=<style>]    not supported
    --signature <signature>
                          end mails with this text
    --signature-file <file>
                          the same, from a file
    --base <base-commit>  not supported
    -q, --quiet           do not print the names of files
    --progress            changes nothing: there is no terminal
    --interdiff <rev>     not supported
    --range-diff <refspec>
                          not supported
    --encode-email-headers
                          encode headers that are not ASCII (default)
    --force-in-body-from  not supported
""",
}
_ABSENT = (
    "cover-from-description", "attach", "inline", "thread", "base", "interdiff", "range-diff",
    "force-in-body-from",
)  # fmt: skip


def format_patch(git: Invocation, words: list[str]) -> int:
    return _Formatting(git, words).run()


class _Formatting:
    """One call of `git format-patch`."""

    def __init__(self, git: Invocation, words: list[str]) -> None:
        self.git = git
        self.options = options = parse_options(USAGES["format-patch"], words, keep_unknown=True)
        self.repository = git.repository
        self.objects = git.repository.objects
        for name in _ABSENT:
            if options.on(name):
                raise Fatal(f"git format-patch --{name} is not supported in this sandbox")
        if git.config.get("format.thread") not in ("", "false"):
            raise Fatal("format.thread is not supported in this sandbox")
        rest = list(options.operands)
        if options.has_dashes:
            rest.insert(options.before_dashes, "--")
        self.line = LogWords(git, "format-patch")
        self.line.read(rest)
        self.prefix = options.text(
            "subject-prefix", git.config.get("format.subjectprefix", "PATCH")
        )
        if options.on("rfc"):
            self.prefix = "RFC PATCH"
        self.version = options.text("reroll-count")
        if self.version:
            self.prefix += f" v{self.version}"
        self.shown = False
        """Whether a patch was written to stdout."""
        self.suffix = options.text("suffix", git.config.get("format.suffix", ".patch"))

    def run(self) -> int:
        options, git = self.options, self.git
        if options.on("keep-subject") and options.on("numbered"):
            raise Fatal("options '-n' and '-k' cannot be used together")
        if options.on("keep-subject") and options.given("subject-prefix"):
            raise Fatal("options '--subject-prefix/--rfc' and '-k' cannot be used together")
        if self.line.notes.shows or git.config.get("format.notes"):
            raise Fatal("git format-patch --notes is not supported in this sandbox")
        commits = self._commits()
        if not commits:
            return 0
        covers = self._covers(len(commits))
        start = options.number("start-number", 1)
        numbered = self._is_numbered(len(commits), covers)
        total = start + len(commits) - 1 if numbered else 0
        how = self._diff_options()
        if covers:
            self._write(0, None, lambda: self._write_cover(commits, total, how))
        for number, oid in enumerate(commits, start):
            git.budget.step()
            commit = recoded(self.objects.commit(oid), output_encoding(self.repository.config))
            if options.on("signoff", git.config.flag("format.signoff")):
                commit = self._signed(commit)
            mark = "" if options.on("keep-subject") else subject_mark(number, total, self.prefix)
            first = number == start and not covers
            self._write(number, commit, lambda: self._write_mail(commit, mark, how, first))  # noqa: B023
        return 0

    # which commits

    def _commits(self) -> list[str]:
        line, options = self.line, self.options
        revisions = line.revisions
        since = (
            len(revisions.included) == 1
            and not revisions.excluded
            and line.walk.most is None
            and not options.on("root")
        )
        line.prepare()
        walk = line.walk
        if since:
            head = self.repository.head()
            walk.hidden, walk.tips = walk.tips, [head] if head is not None else []
        elif not revisions.excluded and walk.most is None and not options.on("root"):
            return []
        walk.most_parents = 1
        if options.on("ignore-if-in-upstream"):
            self._leave_out_applied(walk)
        return list(walk.run())[::-1]

    def _leave_out_applied(self, walk: Walk) -> None:
        from agentsandbox.git.patch_ids import equal_patches

        left, right = Walk(self.repository), Walk(self.repository)
        left.tips, left.hidden = walk.hidden, walk.tips
        right.tips, right.hidden = walk.tips, walk.hidden
        theirs = list(left.run())
        same = equal_patches(self.repository, [*theirs, *right.run()], set(theirs))
        walk.accepts = lambda oid: oid not in same

    def _covers(self, count: int) -> bool:
        setting = self.git.config.get("format.coverletter").lower()
        default = count > 1 if setting == "auto" else setting in ("true", "yes", "on", "1")
        return self.options.on("cover-letter", default)

    def _is_numbered(self, count: int, covers: bool) -> bool:
        options = self.options
        if options.on("keep-subject"):
            return False
        for name, _, negated in reversed(options.order):
            if name == "numbered":
                return not negated
            if name == "no-numbered":
                return negated
        setting = self.git.config.get("format.numbered", "auto").lower()
        if setting in ("true", "yes", "on", "1"):
            return True
        return setting == "auto" and (count > 1 or covers)

    # mails

    def _diff_options(self) -> DiffOptions:
        how = mail_options(self.git)
        given = self.line.options
        given.configure(self.git)
        given.formats = set(given.formats) - {"patch"} or set(how.formats)
        if given.formats == {"stat"} or given.formats == {"summary"}:
            given.formats |= {"stat", "summary"}
        given.formats |= {"patch"}
        if self.options.on("no-stat"):
            given.formats -= {"stat", "summary"}
        given.binary = not self.options.on("no-binary")
        given.stat_width = given.stat_width or how.stat_width
        given.color = "never"
        return given

    def _signed(self, commit: Commit) -> Commit:
        ident = self.repository.ident("committer").rpartition(b">")[0] + b">"
        message = with_trailer(commit.message, b"Signed-off-by: " + ident)
        data = format_commit(
            commit.tree, list(commit.parents), commit.author, commit.committer, message,
            decode(commit.shown_encoding),
        )  # fmt: skip
        return Commit(commit.oid, data)

    def _sender(self) -> bytes | None:
        options = self.options
        text = options.get("from")
        if not options.given("from"):
            text = self.git.config.get("format.from")
            if text.lower() in ("", "false", "no"):
                return None
            text = None if text.lower() in ("true", "yes") else text
        elif options.off("from"):
            return None
        if text:
            if "<" not in text or not text.endswith(">"):
                raise Fatal(f"invalid ident line: {text}")
            return encode(f"{text} 0 +0000")
        return self.repository.ident("committer")

    def _headers(self) -> str:
        options, config = self.options, self.git.config
        lines = [*config.get_all("format.headers"), *options.all("add-header")]
        made = "".join([f"{line.rstrip(chr(10))}\n" for line in lines])
        for name, title in (("to", "To"), ("cc", "Cc")):
            people = [*config.get_all(f"format.{name}"), *options.all(name)]
            if people:
                made += f"{title}: " + ",\n    ".join(people) + "\n"
        return made

    def _reply(self, first: bool) -> str:
        found = self.options.text("in-reply-to").strip().strip("<>")
        if not found or not first:
            return ""
        return f"In-Reply-To: <{found}>\nReferences: <{found}>\n"

    def _signature(self) -> str:
        options, config = self.options, self.git.config
        if options.given("signature-file"):
            name = options.text("signature-file")
            try:
                return decode(self.git.fs.read_bytes(self.git.path(name))).rstrip("\n")
            except OSError as error:
                raise Fatal(f"unable to read signature file '{name}': {error.strerror}") from None
        if options.off("signature"):
            return ""
        return options.text("signature", config.get("format.signature", SIGNATURE))

    def _write_mail(self, commit: Commit, mark: str, how: DiffOptions, first: bool) -> None:
        options = self.options
        if not options.on("always") and self._is_empty(commit):
            return
        if options.on("stdout") and self.shown:
            self.git.print()
        self.shown = True
        header = mail_header(
            commit, mark,
            name="0" * 40 if options.on("zero-commit") else None,
            before_from=self._reply(first),
            after_subject=self._headers(),
            sender=self._sender(),
            encodes=options.on("encode-email-headers", True),
            keeps_subject=options.on("keep-subject"),
        )  # fmt: skip
        write_patch_mail(self.git, commit, header, how, signature=self._signature())

    def _is_empty(self, commit: Commit) -> bool:
        parents = self.repository.parents(commit.oid)
        base = self.objects.commit(parents[0]).tree if parents else EMPTY_TREE
        return base == commit.tree

    def _write_cover(self, commits: list[str], total: int, how: DiffOptions) -> None:
        from agentsandbox.git.diff.options import DiffOptions as Plain
        from agentsandbox.git.diff.printing import DiffPrinter
        from agentsandbox.git.trees import diff_trees

        git = self.git
        committer = self.repository.ident("committer")
        message = b"*** SUBJECT HERE ***\n\n*** BLURB HERE ***\n"
        last = self.objects.commit(commits[-1])
        cover = Commit(
            last.oid, format_commit(last.tree, [], committer, committer, message)
        )
        mark = subject_mark(0, total, self.prefix)
        name = "0" * 40 if self.options.on("zero-commit") else last.oid
        git.write(
            mail_header(
                cover, mark, name=name, before_from=self._reply(True),
                after_subject=self._headers(),
            )
        )  # fmt: skip
        git.print()
        by_author: dict[str, list[str]] = {}
        for oid in commits:
            commit = recoded(self.objects.commit(oid), output_encoding(self.repository.config))
            subjects = by_author.setdefault(Person(commit.author).name, [])
            subjects.append(decode(subject_of(commit.message)))
        for author in sorted(by_author):
            git.print(f"{author} ({len(by_author[author])}):")
            for subject in by_author[author]:
                git.print(wrap_text(subject, 72, 2, 4))
            git.print()
        parents = self.repository.parents(commits[0])
        if parents:
            plain = Plain()
            plain.formats, plain.stat_width = {"stat", "summary"}, how.stat_width
            plain.color = "never"
            plain.configure(git)
            printer = DiffPrinter(git, plain)
            base = self.objects.commit(parents[0]).tree
            printer.print(printer.prepare(diff_trees(self.objects, base, last.tree)))
            git.print()
        signature = self._signature()
        if signature:
            git.write(encode(f"-- \n{signature}\n\n"))

    # where they go

    def _write(self, number: int, commit: Commit | None, work) -> None:  # type: ignore[no-untyped-def]
        """Write a mail to stdout, or to its file."""
        git, options = self.git, self.options
        if options.on("stdout"):
            work()
            return
        git.flush()
        name = self._name(number, commit)
        folder = options.text("output-directory", git.config.get("format.outputdirectory"))
        shown = f"{folder.rstrip('/')}/{name}" if folder else name
        if not options.on("quiet"):
            git.print(shown)
            git.flush()
        git.sink, before = [], git.sink
        try:
            work()
            git.flush()
        finally:
            data, git.sink = b"".join(git.sink or ()), before
        path = git.path(shown)
        try:
            if folder:
                git.fs.makedirs(git.path(folder), 0o777 & ~git.ctx.umask)
            git.fs.write_bytes(path, data, permissions=0o666 & ~git.ctx.umask)
        except OSError as error:
            git.error(f"cannot open patch file {shown}: {error.strerror}")
            raise Fatal("failed to create output files") from None

    def _name(self, number: int, commit: Commit | None) -> str:
        options = self.options
        if options.on("numbered-files"):
            return str(number)
        most = options.number(
            "filename-max-length", self.git.config.number("format.filenamemaxlength", MOST_NAME)
        )
        version = f"v{self.version}-" if self.version else ""
        if commit is None:
            return f"{version}{number:04d}-cover-letter{self.suffix}"
        name = patch_name(commit, number, suffix=self.suffix, most=most - len(version))
        return version + name


COMMANDS = {"format-patch": format_patch}
