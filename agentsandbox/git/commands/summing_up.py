"""`git shortlog`."""

from __future__ import annotations

import re

from agentsandbox.git.commands.logging import LogWords
from agentsandbox.git.errors import Fatal
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.pretty import Person, Pretty
from agentsandbox.git.texts import subject_of
from agentsandbox.git.trailers import parse_trailers
from agentsandbox.kernel.streams import decode, encode

USAGES = {
    "shortlog": """
git shortlog [<options>] [<revision-range>] [[--] <path>...]
   or: git log --pretty=short | git shortlog [<options>]

    -c, --committer       group by committer rather than author
    -n, --numbered        sort output according to the number of commits per author
    -s, --summary         suppress commit descriptions, only provides commit count
    -e, --email           show the email address of each author
    -w[<w>[,<i1>[,<i2>]]] linewrap output
    --group <field>       group by field
"""
}


class _Log:
    """What was committed by whom."""

    # long: one option after the other
    def __init__(self, git: Invocation, words: list[str]) -> None:
        self.git = git
        self.numbered = self.summary = self.email = False
        self.wrap: tuple[int, int, int] | None = None
        self.groups: list[str] = []
        self.rest: list[str] = []
        self.found: dict[str, list[str]] = {}
        pending = list(reversed(words))
        while pending:
            word = pending.pop()
            if word == "--":
                self.rest += ["--", *reversed(pending)]
                break
            if word in ("-c", "--committer"):
                self.groups.append("committer")
            elif re.fullmatch(r"-[csne]{2,}", word):
                pending += [f"-{letter}" for letter in reversed(word[1:])]
            elif word in ("-n", "--numbered", "--no-numbered"):
                self.numbered = not word.startswith("--no")
            elif word in ("-s", "--summary", "--no-summary"):
                self.summary = not word.startswith("--no")
            elif word in ("-e", "--email", "--no-email"):
                self.email = not word.startswith("--no")
            elif word.startswith("-w"):
                self.wrap = _wrap(word[2:])
            elif word == "--group" or word.startswith("--group="):
                name = word[8:] if "=" in word else (pending.pop() if pending else "")
                self._add_group(name)
            elif word in ("-h", "--help"):
                self.rest.append("-h")
            else:
                self.rest.append(word)
        self.groups = list(dict.fromkeys(self.groups)) or ["author"]

    def _add_group(self, name: str) -> None:
        if name in ("author", "committer") or (name.startswith("trailer:") and len(name) > 8):
            self.groups.append(name)
        elif name.startswith(("format:", "%")):
            raise Fatal("git shortlog --group=format: is not supported in this sandbox")
        else:
            self.git.error(f"unknown group type: {name}")
            raise Fatal("git shortlog: unusable --group", 129)

    def add(self, key: str, subject: str) -> None:
        text = subject.strip()
        if text.startswith("[PATCH"):
            _, closed, after = text.partition("]")
            text = after.strip() if closed else text
        self.found.setdefault(key, []).append(text)

    def who(self, person: Person, pretty: Pretty) -> str:
        person = pretty.mailmap.apply(person)
        return f"{person.name} <{person.mail}>" if self.email else person.name

    def read_history(self) -> None:
        git = self.git
        line = LogWords(git, "log")
        line.default_head = False
        line.read(self.rest)
        line.prepare()
        if not line.walk.tips and not line.revisions.any:
            if bool(getattr(git.ctx.stdin, "is_terminal", False)) or line.paths:
                line.revisions.add("HEAD")
                line.prepare()
            else:
                self.read_text()
                return
        pretty = Pretty(git.repository)
        pretty.abbrev = line.abbrev or pretty.abbrev
        for oid in line.walk.run():
            commit = git.repository.readable(oid)
            if line.format == "user":
                subject = pretty.expand(line.user_format, commit)
            else:
                subject = decode(subject_of(commit.message)) or "<none>"
            keys: list[str] = []
            for group in self.groups:
                if group == "author":
                    keys.append(self.who(Person(commit.author), pretty))
                elif group == "committer":
                    keys.append(self.who(Person(commit.committer), pretty))
                else:
                    keys += self._trailers(commit.message, group[8:], pretty)
            for key in dict.fromkeys(keys):
                self.add(key, subject)

    def _trailers(self, message: bytes, name: str, pretty: Pretty) -> list[str]:
        found = []
        for key, value in parse_trailers(message):
            if key.lower() == name.lower():
                if re.fullmatch(r"[^<>]*+<[^<>]+>\s*+", value):
                    found.append(self.who(Person(encode(f"{value.strip()} 0 +0000")), pretty))
                else:
                    found.append(value)
        return found

    def read_text(self) -> None:
        """Take what `git log` wrote to stdin."""
        git = self.git
        if len(self.groups) > 1:
            raise Fatal("using multiple --group options with stdin is not supported")
        if self.groups[0].startswith("trailer:"):
            raise Fatal("using --group=trailer with stdin is not supported")
        heads = (
            ("Author: ", "author ") if self.groups[0] == "author" else ("Commit: ", "committer ")
        )
        pretty = Pretty(git.repository) if git.find_repository() is not None else None
        lines = iter(decode(git.read_input()).split("\n"))
        for line in lines:
            git.budget.step()
            head = next((each for each in heads if line.startswith(each)), None)
            if head is None:
                continue
            for line_of_head in lines:
                if not line_of_head:
                    break
            subject = next((each for each in lines if each), "")
            name, _, mail = line[len(head) :].partition("<")
            person = Person(b"")
            person.name, person.mail = name.removesuffix(" "), mail.partition(">")[0]
            if pretty is not None:
                key = self.who(person, pretty)
            else:
                key = f"{person.name} <{person.mail}>" if self.email else person.name
            self.add(key, subject)

    def show(self) -> None:
        names = sorted(self.found, key=encode)
        if self.numbered:
            names.sort(key=lambda name: -len(self.found[name]))
        for name in names:
            subjects = self.found[name]
            self.git.budget.step(1 + len(subjects))
            if self.summary:
                self.git.print(f"{len(subjects):6d}\t{name}")
                continue
            self.git.print(f"{name} ({len(subjects)}):")
            for subject in reversed(subjects):
                if self.wrap is None:
                    self.git.print(f"      {subject}")
                else:
                    from agentsandbox.git.texts import wrap_text

                    self.git.print(wrap_text(subject, *self.wrap))
            self.git.print()


def _wrap(text: str) -> tuple[int, int, int] | None:
    found = re.fullmatch(r"([0-9]{0,6})(?:,([0-9]{0,6}))?(?:,([0-9]{0,6}))?", text)
    if found is None:
        raise Fatal("-w[<width>[,<indent1>[,<indent2>]]]", 129)
    width, first, others = (
        int(part) if part else default
        for part, default in zip(found.groups(), (76, 6, 9), strict=True)
    )
    if not width:
        return None
    if first >= width or others >= width:
        raise Fatal("-w[<width>[,<indent1>[,<indent2>]]]", 129)
    return width, first, others


def shortlog(git: Invocation, words: list[str]) -> int:
    log = _Log(git, words)
    if git.find_repository() is None:
        if log.rest:
            raise Fatal("too many arguments given outside repository")
        log.read_text()
    else:
        log.read_history()
    log.show()
    return 0


COMMANDS = {"shortlog": shortlog}
