"""References as `for-each-ref`, `branch` and `tag` list them: format, order, selection."""

from __future__ import annotations

import re

from agentsandbox.git.dates import parse_style
from agentsandbox.git.errors import Fatal, Plain
from agentsandbox.git.history import count_between, is_ancestor
from agentsandbox.git.objects import Commit
from agentsandbox.git.pretty import RESET, Person, Pretty, color_code
from agentsandbox.git.ref_atoms import check_atom
from agentsandbox.git.revisions import (
    push_ref,
    push_remote,
    push_target,
    resolve,
    resolve_commit,
    shortest_name,
    upstream_of,
)
from agentsandbox.git.texts import body_of, subject_of
from agentsandbox.git.trailers import TrailerForm
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.invocation import Invocation
    from agentsandbox.git.options import Options

_ATOM = re.compile(r"%(?:\(([^)]*+)(?:\)|\Z)|([0-9a-fA-F]{2})|(%))")


class RefFilter:
    """Which references are listed: --contains, --merged, --points-at."""

    def __init__(self, git: Invocation) -> None:
        self.git = git
        self.contains: list[str] = []
        self.lacks: list[str] = []
        self.merged: list[str] = []
        self.unmerged: list[str] = []
        self.points_at: list[str] = []

    def read(self, options: Options) -> None:
        """Take the options of a command line; values default to HEAD."""
        git = self.git

        def commits(name: str) -> list[str]:
            return [
                resolve_commit(git, text or "HEAD", f"malformed object name {text or 'HEAD'}")
                for text in (options.values.get(name) or ())
            ]

        self.contains, self.lacks = commits("contains"), commits("no-contains")
        self.merged, self.unmerged = commits("merged"), commits("no-merged")
        self.points_at = [resolve(git, text or "HEAD") for text in options.all("points-at")]

    def accepts(self, name: str, oid: str) -> bool:
        """Whether a reference is listed."""
        del name
        repository = self.git.repository
        objects = repository.objects
        if self.points_at and oid not in self.points_at and objects.peel(oid) not in self.points_at:
            return False
        if not (self.contains or self.lacks or self.merged or self.unmerged):
            return True
        commit = objects.peel(oid, "commit")
        if commit is None:
            return False
        if self.contains and not any(is_ancestor(repository, one, commit) for one in self.contains):
            return False
        if any(is_ancestor(repository, one, commit) for one in self.lacks):
            return False
        if self.merged and not any(is_ancestor(repository, commit, one) for one in self.merged):
            return False
        return not any(is_ancestor(repository, commit, one) for one in self.unmerged)


def open_atom(format: str) -> str:
    """Return the rest of a format from an atom that does not end, "" without one."""
    at = format.find("%(", format.rfind(")") + 1)
    return format[at:] if at >= 0 else ""


class RefFormat:
    """A format with atoms such as %(refname:short)."""

    def __init__(
        self, git: Invocation, format: str, *, quote: str = "", color: bool = False
    ) -> None:
        if open_atom(format):
            raise Plain(
                f"error: malformed format string {open_atom(format)}\n"
                "fatal: unable to parse format string",
                128,
            )
        for found in _ATOM.finditer(format):
            if found[1] is not None:
                check_atom(found[1])
                if found[1] in ("raw", "*raw") and quote in ("shell", "python", "tcl"):
                    raise Fatal("--format=raw cannot be used with --python, --shell, --tcl")
        self.git = git
        self.format = format
        self.quote = quote
        self.color = color
        self.pretty = Pretty(git.repository)

    def expand(self, name: str, oid: str) -> str:
        """Return the text of a reference."""
        out: list[list[str]] = [[]]
        stack: list[tuple[str, object]] = []
        at = 0
        for found in _ATOM.finditer(self.format):
            out[-1].append(self.format[at : found.start()])
            at = found.end()
            atom, digits, _ = found.groups()
            if atom is None:
                out[-1].append(chr(int(digits, 16)) if digits else "%")
            elif not self._structure(atom, out, stack):
                value = self.atom(atom, name, oid)
                out[-1].append(self._quoted(value) if len(out) == 1 else value)
        out[-1].append(self.format[at:])
        if stack:
            raise Fatal("format: %(end) atom missing")
        return "".join(out[0])

    def _structure(self, atom: str, out: list[list[str]], stack: list[tuple[str, object]]) -> bool:
        """Take an atom that opens or closes a block; return whether it is one."""
        kind, _, rest = atom.partition(":")
        if kind in ("if", "align"):
            stack.append((kind, rest))
            out.append([])
            return True
        if kind == "then":
            if not stack or stack[-1][0] != "if":
                raise Fatal("format: %(then) atom used without a %(if) atom")
            text = "".join(out[-1])
            rest = str(stack[-1][1])
            if rest.startswith("equals="):
                holds = text == rest[7:]
            elif rest.startswith("notequals="):
                holds = text != rest[10:]
            else:
                holds = bool(text.strip())
            stack[-1] = ("then", holds)
            out[-1] = []
            return True
        if kind == "else":
            if not stack or stack[-1][0] != "then":
                raise Fatal("format: %(else) atom used without a %(then) atom")
            holds = bool(stack[-1][1])
            stack[-1] = ("else", (holds, "".join(out[-1])))
            out[-1] = []
            return True
        if kind == "end":
            if not stack:
                raise Fatal("format: %(end) atom used without corresponding atom")
            opened, data = stack.pop()
            text = "".join(out.pop())
            if opened == "align":
                text = _aligned(text, str(data))
            elif opened == "then":
                text = text if data else ""
            elif opened == "else":
                assert isinstance(data, tuple)
                text = str(data[1]) if data[0] else text
            else:
                raise Fatal("format: %(if) atom used without a %(then) atom")
            out[-1].append(self._quoted(text) if len(out) == 1 else text)
            return True
        return False

    def _quoted(self, value: str) -> str:
        if self.quote == "shell":
            return "'" + value.replace("'", "'\\''").replace("!", "'\\!'") + "'"
        if self.quote == "perl":
            return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
        if self.quote == "python":
            return "'" + value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"
        if self.quote == "tcl":
            return '"' + re.sub(r'([\[\]{}$\\"])', r"\\\1", value).replace("\n", "\\n") + '"'
        return value

    # atoms

    def atom(self, atom: str, name: str, oid: str) -> str:
        """Return the value of an atom; Fatal for an unknown one."""
        # long: a table of short answers
        deref = atom.startswith("*")
        repository = self.git.repository
        objects = repository.objects
        key, _, modifier = atom.removeprefix("*").partition(":")
        if key == "refname":
            return self._name(name, modifier)
        if key == "HEAD":
            return "*" if repository.branch() == name else " "
        if key in ("upstream", "push"):
            return self._upstream(name, modifier, push=key == "push")
        if key == "symref":
            target = repository.refs.symbolic(name)
            return "" if target is None else self._name(target, modifier)
        if key == "color":
            if not self.color:
                return ""
            return RESET if modifier == "reset" else color_code(modifier) or ""
        if key == "worktreepath":
            return (repository.worktree or "") if repository.branch() == name else ""
        if key == "flag":
            return "symref" if repository.refs.symbolic(name) else ""
        kind = objects.type_of(oid)
        if deref:
            if kind != "tag":
                return ""
            peeled = objects.tag(oid).object
            if peeled not in objects:
                raise Fatal(f"missing object {peeled} for {name}")
            oid = objects.peel(oid) or oid
            kind = objects.type_of(oid)
        if key == "objectname":
            return self._shortened(oid, modifier)
        if key == "objecttype":
            return kind
        if key == "objectsize" and modifier == "disk":
            raise Fatal("%(objectsize:disk) is not supported in this sandbox")
        if key == "deltabase":
            raise Fatal("%(deltabase) is not supported in this sandbox")
        if key == "objectsize" or (key == "raw" and modifier):
            return str(len(objects.read(oid)[1]))
        if key == "raw":
            return decode(objects.read(oid)[1])
        if key == "tree":
            return self._shortened(objects.commit(oid).tree, modifier) if kind == "commit" else ""
        if key == "parent":
            parents = objects.commit(oid).parents if kind == "commit" else ()
            return " ".join(self._shortened(parent, modifier) for parent in parents)
        if key == "numparent":
            return str(len(objects.commit(oid).parents)) if kind == "commit" else ""
        if key in ("object", "type", "tag"):
            if kind != "tag":
                return ""
            tag = objects.tag(oid)
            return {"object": tag.object, "type": tag.kind, "tag": decode(tag.name)}[key]
        if key in ("subject", "body", "contents", "trailers"):
            return self._message(key, modifier, oid, kind)
        return self._person(atom, key, modifier, oid, kind)

    def _shortened(self, oid: str, modifier: str) -> str:
        if not modifier:
            return oid
        length = modifier.partition("=")[2]
        return self.git.repository.short(oid, max(4, int(length)) if length else None)

    def _name(self, name: str, modifier: str) -> str:
        if not modifier:
            return name
        if modifier == "short":
            return shortest_name(self.git.repository, name)
        kind, _, number = modifier.partition("=")
        parts = name.split("/")
        count = int(number)
        if kind == "rstrip":
            return "/".join(parts[:-count] if count > 0 else parts[: -count or None])
        if count < 0:
            return "/".join(parts[count:])
        return "/".join(parts[count:]) if count < len(parts) else ""

    def _upstream(self, name: str, modifier: str, *, push: bool) -> str:
        repository = self.git.repository
        if not name.startswith("refs/heads/"):
            return ""
        branch = name.removeprefix("refs/heads/")
        words = modifier.split(",")
        if "remotename" in words:
            return (push_remote(repository, branch) if push else repository.config.get(
                f"branch.{branch}.remote")) or ""  # fmt: skip
        if "remoteref" in words:
            if push:
                return push_target(repository, branch) or ""
            return repository.config.get(f"branch.{branch}.merge") or ""
        other = push_ref(repository, branch) if push else upstream_of(repository, branch)
        if other is None:
            return ""
        if "track" not in words and "trackshort" not in words:
            return self._name(other, modifier)
        there, here = repository.refs.read(other), repository.refs.read(name)
        bare = "nobracket" in words
        if there is None or here is None:
            if "trackshort" in words:
                return ""
            return "gone" if bare else "[gone]"
        ahead, behind = count_between(repository, here, there)
        if "trackshort" in words:
            return "<>" if ahead and behind else ">" if ahead else "<" if behind else "="
        parts = [f"ahead {ahead}"] * bool(ahead) + [f"behind {behind}"] * bool(behind)
        if not parts:
            return ""
        return ", ".join(parts) if bare else f"[{', '.join(parts)}]"

    def _message(self, key: str, modifier: str, oid: str, kind: str) -> str:
        objects = self.git.repository.objects
        if kind == "commit":
            message = self.git.repository.readable(oid).message
        elif kind == "tag":
            message = objects.tag(oid).message
        else:
            return ""
        message = message.lstrip(b"\n")
        if key == "trailers" or modifier.startswith("trailers"):
            options = modifier.partition(":")[2] if key == "contents" else modifier
            return TrailerForm(options).text(message)
        if key == "subject" or modifier == "subject":
            if modifier == "sanitize":
                from agentsandbox.git.texts import sanitized_subject

                return sanitized_subject(message)
            return decode(subject_of(message))
        signature = message[_signature_at(message) :] if kind == "tag" else b""
        if modifier == "signature":
            return decode(signature)
        if key == "body":
            return decode(body_of(message))
        if modifier == "body":
            return decode(body_of(message[: len(message) - len(signature)]))
        if modifier == "size":
            return str(len(message))
        if modifier.startswith("lines="):
            lines = decode(message).rstrip("\n").split("\n")
            return "\n    ".join(lines[: int(modifier[6:])]) if modifier[6:].isdigit() else ""
        return decode(message)

    def _person(self, atom: str, key: str, modifier: str, oid: str, kind: str) -> str:
        objects = self.git.repository.objects
        found = re.fullmatch(r"(author|committer|tagger|creator)(name|email|date)?", key)
        if found is None:
            raise Fatal(f"unknown field name: {atom}")
        who, part = found.groups()
        ident = b""
        if kind == "commit" and who != "tagger":
            commit: Commit = self.git.repository.readable(oid)
            ident = commit.author if who == "author" else commit.committer
        elif kind == "tag" and who in ("tagger", "creator"):
            ident = objects.tag(oid).tagger
        if not ident:
            return ""
        person = Person(ident)
        if part is None:
            return decode(ident)
        if part == "name":
            return person.name
        if part == "email":
            if modifier == "trim":
                return person.mail
            return person.mail.partition("@")[0] if modifier == "localpart" else f"<{person.mail}>"
        style = parse_style(modifier or "default")
        if style is None:
            raise Fatal(f"unknown date format {modifier}")
        return self.pretty.date(person, style)


def _signature_at(message: bytes) -> int:
    """Return where the signature of a tag begins: at its end if it is not signed."""
    found = re.search(rb"(?m)^-----BEGIN (?:PGP SIGNATURE|PGP MESSAGE|SSH SIGNATURE)-----", message)
    return found.start() if found is not None else len(message)


def _aligned(text: str, data: str) -> str:
    width, side = 0, "left"
    for part in data.split(","):
        part = part.removeprefix("width=").removeprefix("position=")
        if part.isdigit():
            width = int(part[:5])
        elif part in ("left", "right", "middle"):
            side = part
    if side == "right":
        return text.rjust(width)
    if side == "middle":
        left = max(0, width - len(text)) // 2
        return " " * left + text + " " * max(0, width - len(text) - left)
    return text.ljust(width)


def sort_refs(
    git: Invocation, items: list[tuple[str, str]], keys: list[str], *, ignore_case: bool = False
) -> list[tuple[str, str]]:
    """Return references in the order of sort keys, the last one first; ties by name."""
    plain = RefFormat(git, "")
    items = sorted(items)
    for key in keys:
        descending = key.startswith("-")
        name = key.removeprefix("-")
        version = name.startswith(("version:", "v:"))
        name = name.partition(":")[2] if version else name

        def value(item: tuple[str, str], name: str = name, version: bool = version) -> object:
            base = name.partition(":")[0].removeprefix("*")
            if base.endswith("date"):
                text = plain.atom(f"{name.partition(':')[0]}:unix", *item)
                return int(text) if text else 0
            text = plain.atom(name, *item)
            if base in ("objectsize", "numparent"):
                return int(text or 0)
            if version:
                return version_key(text)
            return text.lower() if ignore_case else text

        items = sorted(items, key=value, reverse=descending)  # type: ignore[arg-type]
        if descending:  # equal items stay in the order of their names
            items = _stable_descending(items, value)
    return items


def _stable_descending(items: list[tuple[str, str]], value) -> list[tuple[str, str]]:  # type: ignore[no-untyped-def]
    return sorted(items, key=value, reverse=True)


def version_key(text: str) -> list[tuple[int, int, str]]:
    """Return a key that orders v1.2 before v1.10."""
    return [
        (1, int(piece), "") if piece.isdigit() else (0, 0, piece)
        for piece in re.split(r"([0-9]{1,18})", text)
        if piece
    ]
