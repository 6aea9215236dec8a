"""`git bisect`."""

from __future__ import annotations

from agentsandbox.git.bisection import Bisection, steps_left
from agentsandbox.git.errors import BadUsage, Fatal, GitError, Quit
from agentsandbox.git.history import Walk, is_ancestor, merge_bases
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.pathspecs import parse_pathspec
from agentsandbox.git.rebase_state import quoted, unquoted
from agentsandbox.git.refs import is_ref_name
from agentsandbox.git.revisions import Resolver
from agentsandbox.git.texts import subject_of
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.paths import Pathspec

USAGES = {
    "bisect": """
git bisect [help|start|bad|good|new|old|terms|skip|next|reset|visualize|view|replay|log|run]

git bisect start [--term-{new,bad}=<term> --term-{old,good}=<term>]
         [--first-parent] [<bad> [<good>...]] [--] [<pathspec>...]
git bisect (bad|new) [<rev>]
git bisect (good|old) [<rev>...]
git bisect terms [--term-good | --term-bad]
git bisect skip [(<rev>|<range>)...]
git bisect next
git bisect reset [<commit>]
git bisect (visualize|view) [<log options>]
git bisect replay <logfile>
git bisect log
git bisect run <cmd>...
""",
}
_FILES = (
    "BISECT_EXPECTED_REV", "BISECT_ANCESTORS_OK", "BISECT_LOG", "BISECT_NAMES", "BISECT_RUN",
    "BISECT_TERMS", "BISECT_FIRST_PARENT", "BISECT_START",
)  # fmt: skip
_FOUND, _MERGE_BASE, _ONLY_SKIPPED, _NO_COMMIT = -10, -11, 2, 4
_RESERVED = (
    "help", "start", "skip", "next", "reset", "visualize", "view", "replay", "log", "run", "terms",
)


def bisect(git: Invocation, words: list[str]) -> int:
    return _Bisecting(git).run(words)


class _Bisecting:
    """One call of `git bisect`."""

    def __init__(self, git: Invocation) -> None:
        self.git = git
        self.repository = git.repository
        self.repository.need_worktree()
        self.refs = git.repository.refs
        self.bad = self.good = ""
        """The terms."""

    def run(self, words: list[str]) -> int:
        if not words or words[0] in ("-h", "help", "--help"):
            if words:
                self.git.arguments = ["-h"]
            raise BadUsage
        name, rest = words[0], words[1:]
        self._load_terms()
        actions = {
            "start": self._start, "skip": self._skip, "next": self._next_command,
            "reset": self._reset_command, "visualize": self._view, "view": self._view,
            "replay": self._replay, "log": self._log, "run": self._run, "terms": self._terms,
        }  # fmt: skip
        if name in actions:
            status = actions[name](rest)
        elif name in ("bad", "good", "new", "old", self.bad, self.good):
            status = self._state(name, rest)
        else:
            self.git.error(f"unknown subcommand: `{name}'")
            raise BadUsage
        return 0 if status in (_FOUND, _MERGE_BASE) else status

    # state

    def _line(self, name: str) -> str:
        return (self.repository.read_file(name) or "").strip()

    def _append(self, text: str) -> None:
        log = self.repository.read_file("BISECT_LOG") or ""
        self.repository.write_file("BISECT_LOG", log + text)

    def _load_terms(self) -> None:
        lines = (self.repository.read_file("BISECT_TERMS") or "").split("\n")
        if len(lines) > 1:
            self.bad, self.good = lines[0], lines[1]

    def _set_terms(self, bad: str, good: str) -> None:
        if bad == good:
            raise GitError("please use two different terms")
        for term, other in ((bad, "good old"), (good, "bad new")):
            if not is_ref_name(f"refs/bisect/{term}"):
                raise GitError(f"'{term}' is not a valid term")
            if term in _RESERVED:
                raise GitError(f"can't use the builtin command '{term}' as a term")
            if term in other.split():
                raise GitError(f"can't change the meaning of the term '{term}'")
        self.bad, self.good = bad, good
        self.repository.write_file("BISECT_TERMS", f"{bad}\n{good}\n")

    def _take_terms(self, state: str) -> bool:
        """Take the terms that a command means; return whether they are those in use."""
        if state in ("skip", "start", "terms"):
            return True
        if self.bad:
            if state in (self.bad, self.good):
                return True
            self.git.error(
                f"Invalid command: you're currently in a {self.bad}/{self.good} bisect"
            )
            return False
        if state in ("bad", "good"):
            self._set_terms("bad", "good")
        elif state in ("new", "old"):
            self._set_terms("new", "old")
        return True

    def _is_started(self) -> bool:
        if self._line("BISECT_START"):
            return True
        self.git.say('You need to start by "git bisect start"\n')
        return False

    def _commit(self, name: str) -> str | None:
        found = Resolver(self.git).find(name, kind="commit")
        return self.repository.objects.peel(found, "commit") if found is not None else None

    def _shown(self, oid: str) -> str:
        subject = decode(subject_of(self.repository.objects.commit(oid).message))
        return f"[{oid}] {subject}"

    def _note(self, state: str, oid: str, *, logs: bool = True) -> None:
        """Note what a commit is."""
        name = state if state == self.bad else f"{state}-{oid}"
        self.refs.write(f"refs/bisect/{name}", oid, "")
        self._append(f"# {state}: {self._shown(oid)}\n")
        if logs:
            self._append(f"git bisect {state} {oid}\n")

    def _marks(self, prefix: str) -> list[str]:
        found = self.refs.all("refs/bisect/")
        start = f"refs/bisect/{prefix}-"
        return list(dict.fromkeys(oid for name, oid in found.items() if name.startswith(start)))

    def _bad_commit(self) -> str | None:
        return self.refs.read(f"refs/bisect/{self.bad}") if self.bad else None

    def _good_commits(self) -> list[str]:
        return self._marks(self.good) if self.good else []

    def _clear(self) -> None:
        for name in self.refs.all("refs/bisect/"):
            self.refs.delete(name)
        self.repository.remove_file(*_FILES)

    def _checkout(self, words: list[str], *, quiet: bool = False) -> int:
        from agentsandbox.git.commands.switching import checkout

        child = self.git.child()
        child.name = "checkout"
        try:
            status = checkout(child, [*(["-q"] if quiet else []), *words])
        except GitError as error:
            if not isinstance(error, Quit):
                child.say(f"{error.prefix}{error.message}")
            status = error.status
        child.flush()
        return status

    # start

    def _start(self, words: list[str]) -> int:
        # long: the words of the command line, in git's order
        git, repository = self.git, self.repository
        bad, good = self.bad or "bad", self.good or "good"
        writes = first_parent = False
        dashed = "--" in words
        revisions: list[str] = []
        paths: list[str] = []
        at = 0
        while at < len(words):
            word = words[at]
            name, equals, value = word.partition("=")
            if word == "--":
                paths = words[at + 1 :]
                break
            if word == "--no-checkout":
                raise Fatal("git bisect start --no-checkout is not supported in this sandbox")
            if word == "--first-parent":
                first_parent = True
            elif name in ("--term-good", "--term-old", "--term-bad", "--term-new"):
                if not equals:
                    at += 1
                    if at >= len(words):
                        raise GitError("'' is not a valid term")
                    value = words[at]
                writes = True
                if name in ("--term-good", "--term-old"):
                    good = value
                else:
                    bad = value
            elif word.startswith("-"):
                raise GitError(f"unrecognized option: '{word}'")
            else:
                oid = self._commit(word)
                if oid is None and dashed:
                    raise Fatal(f"'{word}' does not appear to be a valid revision")
                if oid is None:
                    paths = words[at:]
                    break
                revisions.append(oid)
            at += 1
        head = self._line("BISECT_START")
        if head:
            if self._checkout([head, "--"]):
                raise GitError(
                    f"checking out '{head}' failed. Try 'git bisect start <valid-branch>'."
                )
        else:
            branch = repository.branch()
            head = branch.removeprefix("refs/heads/") if branch else repository.head() or ""
            if not head:
                raise Fatal("bad HEAD - I need a HEAD")
        self._clear()
        self.bad, self.good = bad, good
        if first_parent:
            repository.write_file("BISECT_FIRST_PARENT", "\n")
        repository.write_file("BISECT_START", f"{head}\n")
        names = "".join([f" {quoted(path)}" for path in paths])
        repository.write_file("BISECT_NAMES", f"{names}\n")
        for number, oid in enumerate(revisions):
            self._note(good if number else bad, oid, logs=False)
        if writes or revisions:
            self._set_terms(bad, good)
        else:
            self.bad = self.good = ""
        self._append("git bisect start" + "".join([f" {quoted(word)}" for word in words]) + "\n")
        git.flush()
        status = self._next()
        if status > 0:
            self._clear()
        return status

    # states

    def _state(self, state: str, words: list[str]) -> int:
        git = self.git
        if not self._is_started() or not self._take_terms(state):
            return 1
        if len(words) > 1 and state == self.bad:
            return git.error(f"'git bisect {self.bad}' can take only one argument.")
        commits = []
        for word in words or ["HEAD"]:
            found = Resolver(git).find(word, kind="commit")
            if found is None:
                return git.error(f"Bad rev input: {word}")
            oid = self.repository.objects.peel(found, "commit")
            if oid is None:
                raise Fatal(f"Bad rev input (not a commit): {word}")
            commits.append(oid)
        expected = self._line("BISECT_EXPECTED_REV")
        for oid in commits:
            self._note(state, oid)
            if expected and oid != expected:
                self.repository.remove_file("BISECT_ANCESTORS_OK", "BISECT_EXPECTED_REV")
                expected = ""
        return self._next()

    def _skip(self, words: list[str]) -> int:
        names: list[str] = []
        for word in words:
            before, dots, after = word.partition("..")
            if not dots:
                names.append(word)
                continue
            one, two = self._commit(before or "HEAD"), self._commit(after or "HEAD")
            if one is None or two is None:
                raise Fatal(f"bad revision '{word}'")
            walk = Walk(self.repository)
            walk.tips, walk.hidden = [two], [one]
            names += walk.run()
        return self._state("skip", names)

    # the next commit

    def _next(self) -> int:
        bad, good = self._bad_commit(), self._good_commits()
        if bad is not None and good:
            return self._choose(bad, good)
        if bad is None and not good:
            text = "waiting for both good and bad commits"
        elif bad is None:
            count = len(good)
            text = f"waiting for bad commit, {count} good commit{'' if count == 1 else 's'} known"
        else:
            text = "waiting for good commit(s), bad commit known"
        self.git.print(f"status: {text}")
        self._append(f"# status: {text}\n")
        return 0

    def _next_command(self, words: list[str]) -> int:
        if words or not self._is_started():
            return 1
        bad, good = self._bad_commit(), self._good_commits()
        if bad is None or not good:
            return self.git.error(
                "You need to give me at least one good|old and bad|new revision.\n"
                'You can use "git bisect good|old" and "git bisect bad|new" for that.'
            )
        return self._choose(bad, good)

    def _choose(self, bad: str, good: list[str]) -> int:
        git, repository = self.git, self.repository
        skipped = set(self._marks("skip"))
        status = self._check_ancestors(bad, good, skipped)
        if status is not None:
            return status
        work = Bisection(
            repository, bad, good, skipped, paths=self._paths(),
            first_parent=repository.read_file("BISECT_FIRST_PARENT") is not None,
        )  # fmt: skip
        found = work.choose()
        if found.commit is None:
            if not found.total and self._line("BISECT_NAMES") and bad not in good:
                git.flush()
                git.say("No testable commit found.\nMaybe you started with bad path arguments?")
                return _NO_COMMIT
            if found.tried:
                return self._only_skipped(found.tried, None, work)
            git.print(f"{bad} was both {self.good} and {self.bad}")
            return 1
        if found.commit == bad:
            if found.tried:
                return self._only_skipped(found.tried, bad, work)
            git.print(f"{bad} is the first {self.bad} commit")
            self._show(bad)
            self._append(f"# first {self.bad} commit: {self._shown(bad)}\n")
            return _FOUND
        left, steps = found.total - found.reaches - 1, steps_left(found.total)
        git.print(
            f"Bisecting: {left} revision{'' if left == 1 else 's'} left to test after this "
            f"(roughly {steps} step{'' if steps == 1 else 's'})"
        )
        return self._go_to(found.commit)

    def _paths(self) -> Pathspec | None:
        text = self._line("BISECT_NAMES")
        if not text:
            return None
        words = [unquoted(f"'{word}'") for word in text[1:-1].split("' '")]
        found = parse_pathspec(self.git, [word for word in words if word is not None])
        return found or None

    def _go_to(self, oid: str) -> int:
        self.repository.write_file("BISECT_EXPECTED_REV", f"{oid}\n")
        self.git.flush()
        if self._checkout([oid, "--"], quiet=True):
            return 1
        self.git.print(self._shown(oid))
        return 0

    def _show(self, oid: str) -> None:
        from agentsandbox.git.commands.logging import COMMANDS

        COMMANDS["show"](self.git, ["--format=medium", "--stat", "--summary", "--cc", oid])

    def _only_skipped(self, tried: list[str], bad: str | None, work: Bisection) -> int:
        git = self.git
        git.print(
            "There are only 'skip'ped commits left to test.\n"
            f"The first {self.bad} commit could be any of:"
        )
        for oid in [*tried, *([bad] if bad is not None else [])]:
            git.print(oid)
        git.print("We cannot bisect more!")
        self._append("# only skipped commits left to test\n")
        for oid in reversed(work.commits):
            self._append(f"# possible first {self.bad} commit: {self._shown(oid)}\n")
        return _ONLY_SKIPPED

    def _check_ancestors(self, bad: str, good: list[str], skipped: set[str]) -> int | None:
        """Test merge bases first where good commits are no ancestors of the bad one."""
        git, repository = self.git, self.repository
        if repository.read_file("BISECT_ANCESTORS_OK") is not None:
            return None
        if not all(is_ancestor(repository, oid, bad) for oid in good):
            for base in merge_bases(repository, bad, good):
                if base == bad:
                    return self._bad_base(bad, good)
                if base in good:
                    continue
                if base in skipped:
                    names = " ".join(good)
                    git.warn(
                        f"the merge base between {bad} and [{names}] must be skipped.\n"
                        f"So we cannot be sure the first {self.bad} commit is between {base} and "
                        f"{bad}.\nWe continue anyway."
                    )
                    continue
                git.print("Bisecting: a merge base must be tested")
                return self._go_to(base) or _MERGE_BASE
        repository.write_file("BISECT_ANCESTORS_OK", "")
        return None

    def _bad_base(self, bad: str, good: list[str]) -> int:
        git, names = self.git, " ".join(good)
        git.flush()
        if self._line("BISECT_EXPECTED_REV") != bad:
            git.say(
                f"Some {self.good} revs are not ancestors of the {self.bad} rev.\n"
                "git bisect cannot work properly in this case.\n"
                f"Maybe you mistook {self.good} and {self.bad} revs?"
            )
            return 1
        if (self.bad, self.good) == ("bad", "good"):
            git.say(
                f"The merge base {bad} is bad.\n"
                f"This means the bug has been fixed between {bad} and [{names}]."
            )
        elif (self.bad, self.good) == ("new", "old"):
            git.say(
                f"The merge base {bad} is new.\n"
                f"The property has changed between {bad} and [{names}]."
            )
        else:
            git.say(
                f"The merge base {bad} is {self.bad}.\nThis means the first '{self.good}' commit "
                f"is between {bad} and [{names}]."
            )
        return 3

    # the other commands

    def _reset_command(self, words: list[str]) -> int:
        if len(words) > 1:
            raise GitError("--bisect-reset requires either no argument or a commit")
        return self._reset(words[0] if words else None)

    def _reset(self, commit: str | None) -> int:
        target = commit or self._line("BISECT_START")
        if not target:
            self.git.print("We are not bisecting.")
            return 0
        if commit is not None and self._commit(commit) is None:
            return self.git.error(f"'{commit}' is not a valid commit")
        if self._checkout([target, "--"]):
            return self.git.error(
                f"could not check out original HEAD '{target}'. Try 'git bisect reset <commit>'."
            )
        self._clear()
        return 0

    def _terms(self, words: list[str]) -> int:
        git = self.git
        if not self.bad:
            return git.error("no terms defined")
        if not words:
            git.print(
                f"Your current terms are {self.good} for the old state\n"
                f"and {self.bad} for the new state."
            )
        elif words[0] in ("--term-good", "--term-old"):
            git.print(self.good)
        elif words[0] in ("--term-bad", "--term-new"):
            git.print(self.bad)
        else:
            return git.error(
                f"invalid argument {words[0]} for 'git bisect terms'.\n"
                "Supported options are: --term-good|--term-old and --term-bad|--term-new."
            )
        return 0

    def _log(self, words: list[str]) -> int:
        text = self.repository.read_file("BISECT_LOG")
        if not text:
            return self.git.error("We are not bisecting.")
        self.git.print(text.removesuffix("\n"))
        del words
        return 0

    def _view(self, words: list[str]) -> int:
        from agentsandbox.git.commands.logging import COMMANDS

        bad, good = self._bad_commit(), self._good_commits()
        if bad is None or not good:
            return 1
        names = [bad, *[f"^{oid}" for oid in good]]
        return int(COMMANDS["log"](self.git, [*words, *names, "--"]))

    def _replay(self, words: list[str]) -> int:
        git = self.git
        if len(words) != 1:
            return git.error("no logfile given")
        try:
            text = git.fs.read_text(git.path(words[0]))
        except OSError:
            text = ""
        if not text:
            return git.error(f"cannot read file '{words[0]}' for replaying")
        if self._reset(None):
            return 1
        self.bad = self.good = ""
        for line in text.split("\n"):
            git.budget.step()
            if not line.startswith(("git bisect ", "git-bisect ")):
                continue
            word, _, rest = line[11:].strip().partition(" ")
            if not self._take_terms(word):
                return 1
            if word == "start":
                arguments = [unquoted(f"'{each}'") for each in rest[1:-1].split("' '")] if rest \
                    else []  # fmt: skip
                if self._start([each for each in arguments if each is not None]) > 0:
                    return 1
            elif word in (self.good, self.bad, "skip"):
                oid = self._commit(rest.strip())
                if oid is None:
                    return git.error(f"couldn't get the oid of the rev '{rest.strip()}'")
                self._note(word, oid)
            else:
                return git.error(f"'{word}'?? what are you talking about?")
        return self._next()

    def _run(self, words: list[str]) -> int:
        git = self.git
        if not words:
            return git.error("bisect run failed: no command provided.")
        if self._bad_commit() is None or not self._good_commits():
            return 1
        command = "".join([f" {quoted(word)}" for word in words])
        top = self.repository.need_worktree()
        while True:
            git.budget.step()
            git.print(f"running {command}")
            status, _ = git.run(["sh", "-c", command[1:], "sh"], cwd=top)
            if not 0 <= status < 128:
                git.error(
                    f"bisect run failed: exit code {status} from '{command}' is < 0 or >= 128"
                )
                return -status & 255
            if status in (126, 127):
                git.error(f"bogus exit code {status} for good revision")
                return 1
            state = "skip" if status == 125 else self.good if not status else self.bad
            result = self._state(state, [])
            if result == _ONLY_SKIPPED:
                git.flush()
                git.error("bisect run cannot continue any more")
            elif result == _MERGE_BASE:
                git.print("bisect run success")
            elif result == _FOUND:
                git.write(b"bisect found first bad commit")
            elif result:
                git.flush()
                git.error(
                    "bisect run failed: 'git bisect--helper --bisect-state "
                    f"{state}' exited with error code {-result}"
                )
            else:
                continue
            return result


COMMANDS = {"bisect": bisect}
