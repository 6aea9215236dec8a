"""`git symbolic-ref`, `update-ref`, `show-ref`, `for-each-ref`."""

from __future__ import annotations

import re

from agentsandbox.git.errors import BadUsage, Fatal, GitError, Quit
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.objects import NULL
from agentsandbox.git.options import parse_options
from agentsandbox.git.patterns import wildmatch
from agentsandbox.git.ref_format import RefFilter, RefFormat, open_atom, sort_refs
from agentsandbox.git.refs import is_ref_name, is_safe
from agentsandbox.git.revisions import Resolver
from agentsandbox.kernel.streams import decode, encode

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
            found = short_name(git, found)
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


def short_name(git: Invocation, name: str) -> str:
    """Return the shortest form of a full name that is not ambiguous."""
    refs = git.repository.refs
    for prefix in ("refs/heads/", "refs/tags/", "refs/remotes/", "refs/"):
        if not name.startswith(prefix):
            continue
        short = name[len(prefix) :]
        rules = [
            f"refs/{short}",
            f"refs/tags/{short}",
            f"refs/heads/{short}",
            f"refs/remotes/{short}",
            f"refs/remotes/{short}/HEAD",
        ]
        if all(rule == name or refs.read(rule) is None for rule in rules):
            return short
    return name.removeprefix("refs/")


def update_ref(git: Invocation, words: list[str]) -> int:
    # long: the forms of the command line
    options = parse_options(USAGES["update-ref"], words)
    repository = git.repository
    refs = repository.refs
    message = options.text("m")
    if options.given("m") and not message:
        raise Fatal("Refusing to perform update with empty message.")
    if options.on("stdin"):
        if options.operands or options.on("d"):
            raise BadUsage
        return _Transaction(git, message, options.on("z")).run()
    if options.on("z"):
        raise BadUsage
    operands = options.operands
    deref = not options.off("deref") and not options.on("no-deref")
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
    _write(git, name, new, old, message, deref)
    return 0


def _write(
    git: Invocation, name: str, new: str, old: str | None, message: str, deref: bool
) -> None:
    repository = git.repository
    target = repository.refs.target(name) if deref else name
    if not is_safe(target):
        raise Fatal(
            f"update_ref failed for ref '{name}': refusing to update ref with bad name '{name}'"
        )
    if new not in repository.objects:
        raise Fatal(
            f"update_ref failed for ref '{name}': cannot update ref '{target}': trying to "
            f"write ref '{target}' with nonexistent object {new}"
        )
    if target.startswith("refs/heads/") or target == "HEAD":
        if repository.objects.type_of(new) != "commit":
            raise Fatal(
                f"update_ref failed for ref '{name}': cannot update ref '{target}': trying "
                f"to write non-commit object {new} to branch '{target}'"
            )
    try:
        if repository.refs.read(target) == new and old is None:
            return
        repository.refs.write(name, new, message, old=old, deref=deref)
    except GitError as error:
        if error.message.startswith("cannot lock"):
            raise Fatal(f"update_ref failed for ref '{name}': {error.message}") from None
        raise


def _old_value(git: Invocation, text: str) -> str:
    if not text:
        return NULL
    found = NULL if text == NULL else Resolver(git).find(text)
    if found is None:
        raise Fatal(f"{text}: not a valid old SHA1")
    return found


class _Transaction:
    """The commands of standard input: all take effect, or none."""

    def __init__(self, git: Invocation, message: str, nul: bool) -> None:
        self.git = git
        self.message = message
        self.nul = nul
        self.todo: list[tuple[str, str, str | None, str | None, bool]] = []

    def run(self) -> int:
        # long: one command after the other
        data = decode(self.git.read_input())
        lines = data.split("\0" if self.nul else "\n")
        if self.nul:
            raise Fatal("git update-ref --stdin -z is not supported in this sandbox; leave -z out")
        no_deref = False
        for line in lines:
            self.git.budget.step()
            if not line:
                continue
            command, _, rest = line.partition(" ")
            parts = rest.split(" ") if rest else []
            if command == "option" and rest == "no-deref":
                no_deref = True
                continue
            if command in ("start", "prepare"):
                self.git.print(f"{command}: ok")
                continue
            if command == "commit":
                self._apply()
                self.git.print("commit: ok")
                continue
            if command == "abort":
                self.todo.clear()
                self.git.print("abort: ok")
                continue
            if command not in ("update", "create", "delete", "verify"):
                raise Fatal(f"unknown command: {line}")
            if not parts:
                raise Fatal(f"{command}: missing <ref>")
            name = parts[0]
            if not is_safe(name):
                raise Fatal(f"invalid ref format: {name}")
            new = old = None
            if command in ("update", "create"):
                if len(parts) < 2:
                    raise Fatal(f"{command} {name}: missing <newvalue>")
                new = self._value(command, name, parts[1], "newvalue")
                old = (
                    NULL
                    if command == "create"
                    else (
                        self._value(command, name, parts[2], "oldvalue") if len(parts) > 2 else None
                    )
                )
            else:
                old = self._value(command, name, parts[1], "oldvalue") if len(parts) > 1 else None
                if command == "verify" and old is None:
                    old = NULL
            self.todo.append((command, name, new, old, no_deref))
            no_deref = False
        self._apply()
        return 0

    def _value(self, command: str, name: str, text: str, what: str) -> str:
        if not text:
            return NULL
        found = text if text == NULL else Resolver(self.git).find(text)
        if found is None:
            raise Fatal(f"{command} {name}: invalid <{what}>: {text}")
        return found

    def _apply(self) -> None:
        refs = self.git.repository.refs
        seen: set[str] = set()
        for _, name, new, old, _ in self.todo:
            if name in seen:
                raise Fatal(f"multiple updates for ref '{name}' not allowed")
            seen.add(name)
            before = refs.read(name) or NULL
            if old is not None and old != before:
                from agentsandbox.git.refs import RefMismatch

                raise Fatal(RefMismatch(name, before, old).message)
            if new is not None and new != NULL and new not in self.git.repository.objects:
                raise Fatal(
                    f"cannot update ref '{name}': trying to write ref '{name}' with "
                    f"nonexistent object {new}"
                )
        for command, name, new, _, no_deref in self.todo:
            if command == "delete" or new == NULL:
                refs.delete(name, message=self.message)
            elif new is not None:
                refs.write(name, new, self.message, deref=not no_deref)
        self.todo.clear()


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
        if not options.operands or any(_selects(pattern, name) for pattern in options.operands)
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
    for name, oid in items:
        git.write(encode(format.expand(name, oid) + "\n"))
    return 0


def _selects(pattern: str, name: str) -> bool:
    if name == pattern or name.startswith(pattern.rstrip("/") + "/"):
        return True
    return bool(re.search(r"[*?\[]", pattern)) and wildmatch(encode(pattern), encode(name))


COMMANDS = {
    "symbolic-ref": symbolic_ref, "update-ref": update_ref, "show-ref": show_ref,
    "for-each-ref": for_each_ref,
}  # fmt: skip
