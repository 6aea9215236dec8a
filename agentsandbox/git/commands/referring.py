"""`git symbolic-ref`, `update-ref`, `show-ref`, `for-each-ref`."""

from __future__ import annotations

import re

from agentsandbox.git.errors import (
    BadUsage,
    CorruptObject,
    Fatal,
    GitError,
    MissingObject,
    Quit,
)
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.objects import NULL
from agentsandbox.git.options import parse_options
from agentsandbox.git.paths import unquote_prefix
from agentsandbox.git.patterns import wildmatch
from agentsandbox.git.ref_format import RefFilter, RefFormat, open_atom, sort_refs
from agentsandbox.git.ref_transactions import Change, RefTransaction
from agentsandbox.git.refs import is_ref_name, is_safe
from agentsandbox.git.revisions import Resolver, shortest_name
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

USAGES = {
    "symbolic-ref": """
git symbolic-ref [-m <reason>] <name> <ref>
   or: git symbolic-ref [-q] [--short] [--no-recurse] <name>
   or: git symbolic-ref --delete [-q] <name>

    -q, --quiet           print no error for a name that is not symbolic
    -d, --delete          delete a symbolic reference
    --short               shorten the name
    --recurse             follow all references
    -m <reason>           the reason, for the log
""",
    "update-ref": """
git update-ref [<options>] -d <refname> [<old-val>]
   or: git update-ref [<options>]    <refname> <new-val> [<old-val>]
   or: git update-ref [<options>] --stdin [-z]

    -m <reason>           the reason, for the log
    -d                    delete the reference
    --no-deref            change <refname> and not what it names
    -z                    input ends with NUL
    --stdin               read commands from standard input
    --create-reflog       make a log
""",
    "show-ref": """
git show-ref [-q | --quiet] [--verify] [--head] [-d | --dereference]
             [-s | --hash[=<n>]] [--abbrev[=<n>]] [--tags]
             [--heads] [--] [<pattern>...]
   or: git show-ref --exclude-existing[=<pattern>]

    --tags                show only tags
    --heads               show only branches
    --verify              names are exact
    --head                show HEAD too
    -d, --dereference     show what tags name too
    -s, --hash[=<n>]      show only objects
    --abbrev[=<n>]        shorten objects
    -q, --quiet           print nothing
    --exclude-existing[=<pattern>]
                          show names of standard input that do not exist
""",
    "for-each-ref": """
git for-each-ref [<options>] [<pattern>]
   or: git for-each-ref [--points-at <object>]
   or: git for-each-ref [--merged [<commit>]] [--no-merged [<commit>]]
   or: git for-each-ref [--contains [<commit>]] [--no-contains [<commit>]]

    -s, --shell           quote for shells
    -p, --perl            quote for Perl
    --python              quote for Python
    --tcl                 quote for Tcl
    --count <n>           show only so many references
    --format <format>     the format
    --color[=<when>]      use colours
    --sort <key>          the order
    --points-at <object>  only references that name an object
    --merged <commit>     only references that a commit reaches
    --no-merged <commit>  only references that a commit does not reach
    --contains <commit>   only references that reach a commit
    --no-contains <commit>
                          only references that do not reach a commit
    --ignore-case         compare without case
""",
}


def symbolic_ref(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["symbolic-ref"], words)
    refs = git.repository.refs
    operands = options.operands
    if options.given("m") and not options.text("m"):
        raise Fatal("Refusing to perform update with empty message")
    if options.on("delete"):
        if len(operands) != 1:
            raise BadUsage
        if refs.symbolic(operands[0]) is None:
            raise (
                Fatal(f"Cannot delete {operands[0]}, not a symbolic ref")
                if not options.on("quiet")
                else Quit(1)
            )
        if operands[0] == "HEAD":
            raise Fatal("deleting 'HEAD' is not allowed")
        refs.delete(operands[0])
        return 0
    if len(operands) == 1:
        found = refs.symbolic(operands[0])
        if found is None:
            if options.on("quiet"):
                return 1
            raise Fatal(f"ref {operands[0]} is not a symbolic ref")
        if not options.off("recurse"):
            found = refs.target(found)
        if options.on("short"):
            found = shortest_name(git.repository, found)
        git.print(found)
        return 0
    if len(operands) != 2:
        raise BadUsage
    name, target = operands
    if name == "HEAD" and not target.startswith("refs/"):
        raise Fatal("Refusing to point HEAD outside of refs/")
    if not is_ref_name(target, one_level=True):
        raise Fatal(f"Refusing to set '{name}' to invalid ref '{target}'")
    if not is_safe(name):
        raise Fatal(f"No such ref: {name}")
    refs.write_symbolic(name, target, options.text("m") if options.given("m") else "")
    return 0


def update_ref(git: Invocation, words: list[str]) -> int:
    # long: the forms of the command line
    options = parse_options(USAGES["update-ref"], words)
    repository = git.repository
    refs = repository.refs
    message = options.text("m")
    if options.given("m") and not message:
        raise Fatal("Refusing to perform update with empty message.")
    deref = not options.off("deref") and not options.on("no-deref")
    if options.on("stdin"):
        if options.operands or options.on("d"):
            raise BadUsage
        return _Commands(
            git, message, nul=options.on("z"), deref=deref, logs=options.on("create-reflog")
        ).run()
    if options.on("z"):
        raise BadUsage
    operands = options.operands
    if options.on("d"):
        if not 1 <= len(operands) <= 2:
            raise BadUsage
        old = _old_value(git, operands[1]) if len(operands) == 2 else None
        name = refs.target(operands[0]) if deref else operands[0]
        if not is_safe(name):
            raise GitError(f"refusing to delete ref with bad name '{operands[0]}'")
        refs.delete(name, old=old, message=message)
        return 0
    if not 2 <= len(operands) <= 3:
        raise BadUsage
    name, new = operands[0], Resolver(git).find(operands[1])
    if new is None:
        raise Fatal(f"{operands[1]}: not a valid SHA1")
    old = _old_value(git, operands[2]) if len(operands) == 3 else None
    transaction = RefTransaction(repository, message, logs=options.on("create-reflog"))
    try:
        transaction.add(Change(name, new, old, deref))
        transaction.commit()
    except GitError as error:
        raise Fatal(f"update_ref failed for ref '{name}': {error.message}") from None
    return 0


def _old_value(git: Invocation, text: str) -> str:
    if not text:
        return NULL
    found = NULL if text == NULL else Resolver(git).find(text)
    if found is None:
        raise Fatal(f"{text}: not a valid old SHA1")
    return found


class _Commands:
    """The commands of standard input: they take effect together, at "commit" or at the end.

    A line is read when it is needed, and "start", "prepare", "commit" and "abort" are answered at
    once: a script may hold a dialogue with git over two pipes.
    """

    ARGUMENTS = {"update": 3, "create": 2, "delete": 2, "verify": 2, "option": 1}
    STATES = {"start": "started", "prepare": "prepared", "commit": "closed", "abort": "closed"}

    def __init__(
        self, git: Invocation, message: str, *, nul: bool, deref: bool, logs: bool
    ) -> None:
        self.git = git
        self.end = b"\0" if nul else b"\n"
        self.deref = deref
        self.is_deref = deref
        self.transaction = RefTransaction(git.repository, message, logs=logs)
        self.state = "open"

    def run(self) -> int:
        try:
            for line in self.git.input_lines(self.end):
                self.git.budget.step()
                self._command(line)
            if self.state == "open":
                self._ask("", self.transaction.commit)
        finally:
            self.transaction.abort()
        return 0

    def _ask(self, command: str, change: Callable[[], None]) -> None:
        try:
            change()
        except GitError as error:
            raise Fatal(f"{command}{error.message}") from None

    def _command(self, line: bytes) -> None:
        shown = decode(line)
        if line[:1] == self.end:
            raise Fatal("empty command in input")
        if line[:1].isspace():
            raise Fatal(f"whitespace before command: {shown}")
        name = shown.partition(" ")[0]
        if name not in self.ARGUMENTS:
            name = shown.removesuffix(decode(self.end))
            if name not in self.STATES:
                raise Fatal(f"unknown command: {shown}")
            self._enter(name)
            steps = {
                "prepare": self.transaction.prepare,
                "commit": self.transaction.commit,
                "abort": self.transaction.abort,
            }
            if name in steps:
                self._ask(f"{name}: ", steps[name])
            self.git.print(f"{name}: ok")
            self.git.flush()
            return
        rest = line[len(name) + 1 :]
        if self.end == b"\0":
            for _ in range(self.ARGUMENTS[name] - 1):
                rest += self.git.ctx.stdin.readline(self.end)
        self._enter("")
        self._change(name, _Arguments(self.git, name, rest, self.end))

    def _enter(self, command: str) -> None:
        """Check that a command may come now, and note what it leads to."""
        following = self.STATES.get(command, "open")
        if self.state == following == "started":
            raise Fatal("cannot restart ongoing transaction")
        if self.state == "prepared" and following != "closed":
            raise Fatal("prepared transactions can only be closed")
        if self.state == "closed" and following != "started":
            raise Fatal("transaction is closed")
        if following != "open":
            self.state = following

    def _change(self, command: str, words: _Arguments) -> None:
        if command == "option":
            if words.rest != b"no-deref" + self.end:
                raise Fatal(f"option unknown: {decode(words.rest)}")
            self.is_deref = False
            return
        name = words.name()
        new = old = None
        if command in ("update", "create"):
            new = words.value("newvalue", zero=command == "update")
            if new is None:
                raise Fatal(f"{command} {name}: missing <newvalue>")
            if command == "create" and new == NULL:
                raise Fatal(f"create {name}: zero <newvalue>")
        old = NULL if command == "create" else words.value("oldvalue")
        if command == "delete":
            new = NULL
            if old == NULL:
                raise Fatal(f"delete {name}: zero <oldvalue>")
        elif command == "verify" and old is None:
            old = NULL
        words.finish()
        change = Change(name, new, old, self.is_deref)
        self._ask("", lambda: self.transaction.add(change))
        self.is_deref = self.deref


class _Arguments:
    """What follows the name of a command: words after spaces, or fields that end with NUL."""

    def __init__(self, git: Invocation, command: str, rest: bytes, end: bytes) -> None:
        self.git = git
        self.command = command
        self.rest = rest
        self.end = end

    def name(self) -> str:
        """Return the name of the reference."""
        if self.end == b"\0":
            found, _, _ = self.rest.partition(b"\0")
            self.rest = self.rest[len(found) :]
        else:
            found = self._word()
        if not found:
            raise Fatal(f"{self.command}: missing <ref>")
        name = decode(found)
        if not is_ref_name(name, one_level=True):
            raise Fatal(f"invalid ref format: {name}")
        self.command += f" {name}"
        return name

    def _word(self) -> bytes:
        if not self.rest.startswith(b'"'):
            found = re.match(rb"\S*", self.rest)
            word = found[0] if found else b""
            self.rest = self.rest[len(word) :]
            return word
        unquoted = unquote_prefix(self.rest)
        if unquoted is None:
            raise Fatal(f"badly quoted argument: {decode(self.rest)}")
        word, length = unquoted
        if self.rest[length : length + 1].strip():
            raise Fatal(f"unexpected character after quoted argument: {decode(self.rest)}")
        self.rest = self.rest[length:]
        return word

    def value(self, what: str, *, zero: bool = False) -> str | None:
        """Return the object that is named next, NULL for an empty word; None if nothing is there.

        zero  whether an empty field of `-z` means NULL, too
        """
        if self.end == b"\0":
            if not self.rest:
                raise Fatal(f"{self.command}: unexpected end of input when reading <{what}>")
            if not self.rest.startswith(b"\0"):
                raise Fatal(f"{self.command}: expected NUL but got: {decode(self.rest)}")
            self.rest = self.rest[1:]
            if not self.rest:
                raise Fatal(f"{self.command}: unexpected end of input when reading <{what}>")
            word = self.rest.partition(b"\0")[0]
            self.rest = self.rest[len(word) :]
            if not word:
                if zero:
                    self.git.warn(f"{self.command}: missing <newvalue>, treating as zero")
                return NULL if zero else None
        else:
            if self.rest in (b"", b"\n"):
                return None
            if not self.rest.startswith(b" "):
                raise Fatal(f"{self.command}: expected SP but got: {decode(self.rest)}")
            self.rest = self.rest[1:]
            word = self._word()
            if not word:
                return NULL
        text = decode(word)
        found = NULL if text == NULL else Resolver(self.git).find(text)
        if found is None:
            raise Fatal(f"{self.command}: invalid <{what}>: {text}")
        return found

    def finish(self) -> None:
        """Raise if anything is left."""
        if self.rest != self.end and self.rest:
            raise Fatal(f"{self.command}: extra input: {decode(self.rest)}")


def show_ref(git: Invocation, words: list[str]) -> int:
    # long: the forms of the output
    options = parse_options(USAGES["show-ref"], words)
    repository = git.repository
    refs, objects = repository.refs, repository.objects
    quiet = options.on("quiet")

    def show(name: str, oid: str) -> None:
        if quiet:
            return

        def short(each: str) -> str:
            length = options.get("hash") or options.get("abbrev")
            if length is None and not options.given("abbrev"):
                return each
            return repository.short(each, int(length) if length else None)

        if options.on("hash"):
            git.print(short(oid))
        else:
            git.print(f"{short(oid)} {name}")
        if options.on("dereference") and objects.type_of(oid) == "tag":
            peeled = objects.peel(oid)
            if peeled is not None:
                git.print(short(peeled) if options.on("hash") else f"{short(peeled)} {name}^{{}}")

    if options.given("exclude-existing"):
        known = refs.all()
        pattern = options.get("exclude-existing")
        for line in decode(git.read_input()).split("\n"):
            name = line.rpartition(" ")[2].removesuffix("^{}") if line else ""
            if name and name not in known and (pattern is None or name.startswith(pattern)):
                git.print(line)
        return 0
    if options.on("verify"):
        if not options.operands:
            raise Fatal("--verify requires a reference")
        for name in options.operands:
            oid = refs.read(name) if name.startswith("refs/") or is_safe(name) else None
            if oid is None:
                if quiet:
                    return 1
                raise Fatal(f"'{name}' - not a valid ref")
            show(name, oid)
        return 0
    shown = 0
    found = dict(refs.all())
    items = list(found.items())
    if options.on("head") and (head := repository.head()) is not None:
        items.insert(0, ("HEAD", head))
    for name, oid in items:
        if name != "HEAD" and (options.on("heads") or options.on("tags")):
            if not (
                (options.on("heads") and name.startswith("refs/heads/"))
                or (options.on("tags") and name.startswith("refs/tags/"))
            ):
                continue
        if (
            options.operands
            and not (name == "HEAD" and options.on("head"))
            and not any(
                name == pattern or name.endswith(f"/{pattern}") for pattern in options.operands
            )
        ):
            continue
        shown += 1
        show(name, oid)
    return 0 if shown else 1


def for_each_ref(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["for-each-ref"], words)
    quoting = [name for name in ("shell", "perl", "python", "tcl") if options.on(name)]
    if len(quoting) > 1:
        raise BadUsage("more than one quoting style?")
    text = options.text("format", "%(objectname) %(objecttype)\t%(refname)")
    if open_atom(text):
        raise BadUsage(f"malformed format string {open_atom(text)}")
    format = RefFormat(
        git, text,
        quote=quoting[0] if quoting else "", color=options.get("color") == "always" or (
            options.given("color") and options.get("color") is None),
    )  # fmt: skip
    chosen = RefFilter(git)
    chosen.read(options)
    refs = git.repository.refs.all()
    names = [
        name for name in refs
        if not options.operands
        or any(
            _selects(pattern, name, ignore_case=options.on("ignore-case"))
            for pattern in options.operands
        )
    ]  # fmt: skip
    items = [(name, refs[name]) for name in names if chosen.accepts(name, refs[name])]
    items = sort_refs(
        git, items, options.all("sort") or ["refname"], ignore_case=options.on("ignore-case")
    )
    count = options.get("count")
    if count is not None:
        if int(count) <= 0:
            raise BadUsage(f"invalid --count argument: `{count}'") if int(count) < 0 else Quit(0)
        items = items[: int(count)]
    lines = []
    for name, oid in items:
        try:
            lines.append(encode(format.expand(name, oid) + "\n"))
        except CorruptObject as error:
            git.say(error.reasons)
            raise Fatal(f"missing object {error.oid} for {name}") from None
        except MissingObject as missing:
            raise Fatal(f"missing object {missing.oid} for {name}") from None
    for line in lines:
        git.write(line)
    return 0


def _selects(pattern: str, name: str, *, ignore_case: bool) -> bool:
    if ignore_case:
        pattern, name = pattern.lower(), name.lower()
    if name == pattern or name.startswith(pattern.rstrip("/") + "/"):
        return True
    return bool(re.search(r"[*?\[]", pattern)) and wildmatch(encode(pattern), encode(name))


COMMANDS = {
    "symbolic-ref": symbolic_ref, "update-ref": update_ref, "show-ref": show_ref,
    "for-each-ref": for_each_ref,
}  # fmt: skip
