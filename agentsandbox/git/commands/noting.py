"""`git notes`."""

from __future__ import annotations

from agentsandbox.git.editor import edit
from agentsandbox.git.errors import BadUsage, Fatal, GitError
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.notes import default_ref, full_ref, read_notes, write_notes
from agentsandbox.git.options import Options, parse_options
from agentsandbox.git.revisions import Resolver
from agentsandbox.git.texts import strip_space
from agentsandbox.kernel.streams import decode, encode

USAGES = {
    "notes": """
git notes [--ref <notes-ref>] [list [<object>]]
   or: git notes [--ref <notes-ref>] add [-f] [--allow-empty] [-m <msg> | -F <file> | (-c | -C) <object>] [<object>]
   or: git notes [--ref <notes-ref>] copy [-f] <from-object> <to-object>
   or: git notes [--ref <notes-ref>] append [--allow-empty] [-m <msg> | -F <file> | (-c | -C) <object>] [<object>]
   or: git notes [--ref <notes-ref>] edit [--allow-empty] [<object>]
   or: git notes [--ref <notes-ref>] show [<object>]
   or: git notes [--ref <notes-ref>] remove [<object>...]
   or: git notes [--ref <notes-ref>] prune [-n] [-v]
   or: git notes [--ref <notes-ref>] get-ref

    --ref <notes-ref>     use notes from <notes-ref>
"""  # noqa: E501 - as git prints it
}
_TEXTS = """
git notes add [<options>] [<object>]

    -m, --message <message>
                          note contents as a string
    -F, --file <file>     note contents in a file
    -c, --reedit-message <object>
                          is not supported
    -C, --reuse-message <object>
                          reuse specified note object
    --allow-empty         allow storing empty note
    -f, --force           replace existing notes
"""
_COPY = """
git notes copy [<options>] <from-object> <to-object>

    -f, --force           replace existing notes
    --stdin               is not supported
    --for-rewrite <command>
                          is not supported
"""
_REMOVE = """
git notes remove [<object>]

    --ignore-missing      attempt to remove non-existent note is not an error
    --stdin               read object names from the standard input
"""
_PRUNE = """
git notes prune [<options>]

    -n, --dry-run         do not remove, show only
    -v, --verbose         report pruned notes
"""


def notes(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["notes"], words, stop=True)
    ref = full_ref(options.text("ref")) if options.get("ref") else default_ref(git.repository)
    operands = options.operands
    action, rest = (operands[0], operands[1:]) if operands else ("list", [])
    actions = {
        "add": _add, "append": _append, "copy": _copy, "edit": _edit, "get-ref": _get_ref,
        "list": _list, "prune": _prune, "remove": _remove, "show": _show,
    }  # fmt: skip
    if action == "merge":
        raise Fatal("git notes merge is not supported in this sandbox")
    if action not in actions:
        raise BadUsage(f"unknown subcommand: `{action}'")
    if action not in ("list", "show", "get-ref") and not ref.startswith("refs/notes/"):
        raise Fatal(f"refusing to {action} notes in {ref} (outside of refs/notes/)")
    return actions[action](git, ref, rest)


def _object(git: Invocation, word: str) -> str:
    oid = Resolver(git).find(word)
    if oid is None:
        raise Fatal(f"failed to resolve '{word}' as a valid ref.")
    return oid


def _one(git: Invocation, operands: list[str]) -> str:
    if len(operands) > 1:
        git.error("too many arguments")
        raise BadUsage
    return _object(git, operands[0] if operands else "HEAD")


def _list(git: Invocation, ref: str, words: list[str]) -> int:
    options = parse_options("git notes [list [<object>]]\n", words)
    found = read_notes(git.repository, ref)
    if options.operands:
        oid = _one(git, options.operands)
        if oid not in found:
            git.error(f"no note found for object {oid}.")
            return 1
        git.print(found[oid])
        return 0
    for name, blob in sorted(found.items()):
        git.print(f"{blob} {name}")
    return 0


def _show(git: Invocation, ref: str, words: list[str]) -> int:
    options = parse_options("git notes show [<object>]\n", words)
    oid = _one(git, options.operands)
    blob = read_notes(git.repository, ref).get(oid)
    if blob is None:
        git.error(f"no note found for object {oid}.")
        return 1
    git.write(git.repository.objects.blob(blob))
    return 0


def _given(git: Invocation, options: Options) -> bytes | None:
    """Return the text that options give, None without one."""
    if options.given("reedit-message"):
        raise Fatal("git notes -c is not supported in this sandbox; use -C, or edit")
    parts: list[bytes] = []
    for name, value, _ in options.order:
        text = value or ""
        if name == "message":
            parts.append(strip_space(encode(text)))
        elif name == "file":
            try:
                data = git.read_input() if text == "-" else git.fs.read_bytes(git.path(text))
            except OSError as error:
                raise Fatal(f"could not open or read '{text}': {error.strerror}") from None
            parts.append(strip_space(data))
        elif name == "reuse-message":
            oid = Resolver(git).find(text)
            if oid is None:
                raise Fatal(f"failed to resolve '{text}' as a valid ref.")
            if git.repository.objects.type_of(oid) != "blob":
                raise Fatal(f"cannot read note data from non-blob object '{text}'.")
            parts.append(git.repository.objects.blob(oid))
    return b"\n".join(parts) if parts else None


def _edited(git: Invocation, before: bytes) -> bytes:
    """Let the editor write a note."""
    repository = git.repository
    head = b"\n#\n# Write/edit the notes for the following object:\n#\n"
    repository.write_file("NOTES_EDITMSG", before + head)
    path = repository.file("NOTES_EDITMSG")
    try:
        edit(git, path, ".git/NOTES_EDITMSG")
    except GitError:
        raise Fatal("please supply the note contents using either -m or -F option") from None
    data = strip_space(git.fs.read_bytes(path), b"#")
    repository.remove_file("NOTES_EDITMSG")
    return data


def _store(
    git: Invocation, ref: str, found: dict[str, str], oid: str, data: bytes, action: str,
    *, empty: bool,
) -> int:  # fmt: skip
    """Set the note of an object, or remove an empty one."""
    repository = git.repository
    if data or empty:
        found[oid] = repository.objects.write("blob", data)
        write_notes(repository, ref, found, f"Notes added by 'git notes {action}'")
    else:
        git.say(f"Removing note for object {oid}")
        if found.pop(oid, None) is not None:
            write_notes(repository, ref, found, f"Notes removed by 'git notes {action}'")
    return 0


def _add(git: Invocation, ref: str, words: list[str]) -> int:
    options = parse_options(_TEXTS, words)
    oid = _one(git, options.operands)
    found = read_notes(git.repository, ref)
    given = _given(git, options)
    old = found.get(oid)
    if old is not None and not options.on("force"):
        if given is not None:
            git.error(
                f"Cannot add notes. Found existing notes for object {oid}. "
                "Use '-f' to overwrite existing notes"
            )
            return 1
        return _edit(git, ref, options.operands)
    if old is not None:
        git.say(f"Overwriting existing notes for object {oid}")
    data = _edited(git, b"") if given is None else given
    return _store(git, ref, found, oid, data, "add", empty=options.on("allow-empty"))


def _append(git: Invocation, ref: str, words: list[str]) -> int:
    options = parse_options(_TEXTS, words)
    oid = _one(git, options.operands)
    found = read_notes(git.repository, ref)
    given = _given(git, options)
    data = _edited(git, b"") if given is None else given
    old = found.get(oid)
    if old is not None:
        before = git.repository.objects.blob(old)
        data = before.rstrip(b"\n") + b"\n\n" + data if data and before else before or data
    return _store(git, ref, found, oid, data, "append", empty=options.on("allow-empty"))


def _edit(git: Invocation, ref: str, words: list[str]) -> int:
    options = parse_options(_TEXTS, words)
    oid = _one(git, options.operands)
    found = read_notes(git.repository, ref)
    given = _given(git, options)
    old = git.repository.objects.blob(found[oid]) if oid in found else b""
    if given is not None:
        git.say(
            "The -m/-F/-c/-C options have been deprecated for the 'edit' subcommand.\n"
            "Please use 'git notes add -f -m/-F/-c/-C' instead."
        )
    data = _edited(git, old) if given is None else given
    return _store(git, ref, found, oid, data, "edit", empty=options.on("allow-empty"))


def _copy(git: Invocation, ref: str, words: list[str]) -> int:
    options = parse_options(_COPY, words)
    if options.on("stdin") or options.given("for-rewrite"):
        raise Fatal("git notes copy --stdin is not supported in this sandbox")
    if not options.operands:
        git.error("too few arguments")
        raise BadUsage
    if len(options.operands) > 2:
        git.error("too many arguments")
        raise BadUsage
    source = _object(git, options.operands[0])
    oid = _object(git, options.operands[1] if len(options.operands) > 1 else "HEAD")
    found = read_notes(git.repository, ref)
    if oid in found:
        if not options.on("force"):
            git.error(
                f"Cannot copy notes. Found existing notes for object {oid}. "
                "Use '-f' to overwrite existing notes"
            )
            return 1
        git.say(f"Overwriting existing notes for object {oid}")
    if source not in found:
        git.error(f"missing notes on source object {source}. Cannot copy.")
        return 1
    found[oid] = found[source]
    write_notes(git.repository, ref, found, "Notes added by 'git notes copy'")
    return 0


def _remove(git: Invocation, ref: str, words: list[str]) -> int:
    options = parse_options(_REMOVE, words)
    names = list(options.operands)
    if options.on("stdin"):
        names += [line.rstrip() for line in decode(git.read_input()).split("\n") if line.strip()]
    elif not names:
        names = ["HEAD"]
    found = read_notes(git.repository, ref)
    status = 0
    changed = False
    for name in names:
        oid = Resolver(git).find(name)
        if oid is None:
            git.error(f"Failed to resolve '{name}' as a valid ref.")
            status = 1
        elif oid in found:
            git.say(f"Removing note for object {name}")
            del found[oid]
            changed = True
        else:
            git.say(f"Object {name} has no note")
            status = status if options.on("ignore-missing") else 1
    if changed and not status:
        write_notes(git.repository, ref, found, "Notes removed by 'git notes remove'")
    return status


def _prune(git: Invocation, ref: str, words: list[str]) -> int:
    options = parse_options(_PRUNE, words)
    if options.operands:
        git.error("too many arguments")
        raise BadUsage
    found = read_notes(git.repository, ref)
    gone = [oid for oid in sorted(found) if oid not in git.repository.objects]
    for oid in gone:
        if options.on("dry-run") or options.on("verbose"):
            git.print(oid)
        del found[oid]
    if gone and not options.on("dry-run"):
        write_notes(git.repository, ref, found, "Notes removed by 'git notes prune'")
    return 0


def _get_ref(git: Invocation, ref: str, words: list[str]) -> int:
    if words:
        git.error("too many arguments")
        raise BadUsage
    git.print(ref)
    return 0


COMMANDS = {"notes": notes}
