"""`git tag`."""

from __future__ import annotations

from agentsandbox.git.dates import DEFAULT, parse_style, show_date
from agentsandbox.git.editor import edit
from agentsandbox.git.errors import BadUsage, Fatal, Quit
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.objects import seconds_of
from agentsandbox.git.options import Options, parse_options
from agentsandbox.git.patterns import wildmatch
from agentsandbox.git.ref_format import RefFilter, RefFormat, sort_refs
from agentsandbox.git.refs import is_ref_name
from agentsandbox.git.revisions import Resolver
from agentsandbox.git.texts import clean_message, subject_of
from agentsandbox.kernel.streams import decode, encode

USAGES = {
    "tag": """
git tag [-a | -s | -u <key-id>] [-f] [-m <msg> | -F <file>] [-e]
        <tagname> [<commit> | <object>]
   or: git tag -d <tagname>...
   or: git tag [-n[<num>]] -l [--contains <commit>] [--no-contains <commit>]
        [--points-at <object>] [--column[=<options>] | --no-column]
        [--create-reflog] [--sort=<key>] [--format=<format>]
        [--merged <commit>] [--no-merged <commit>] [<pattern>...]
   or: git tag -v [--format=<format>] <tagname>...

    -l, --list            list tags
    -n[<num>]             print lines of each message
    -d, --delete          delete tags
    -v, --verify          verify tags

Tag creation options
    -a, --annotate        make an annotated tag
    -m, --message <message>
                          the message
    -F, --file <file>     read the message from a file
    -e, --edit            edit the message
    -s, --sign            sign the tag
    --cleanup <mode>      how to clean the message
    -u, --local-user <key-id>
                          sign with a key
    -f, --force           replace an existing tag
    --create-reflog       make a log

Tag listing options
    --column[=<style>]    list tags in columns
    --contains <commit>   only tags that reach a commit
    --no-contains <commit>
                          only tags that do not reach a commit
    --merged <commit>     only tags that a commit reaches
    --no-merged <commit>  only tags that a commit does not reach
    --sort <key>          the order
    --points-at <object>  only tags of an object
    --format <format>     the format
    --color[=<when>]      use colours
    -i, --ignore-case     compare without case
""",
}


def with_defaults(words: list[str], names: tuple[str, ...]) -> list[str]:
    """Return a command line in which options that end it get the value HEAD."""
    if words and words[-1] in names:
        return [*words, "HEAD"]
    return words


LIST_FILTERS = ("--contains", "--no-contains", "--merged", "--no-merged", "--points-at")


def tag(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["tag"], with_defaults(words, LIST_FILTERS))
    if options.on("sign") or options.given("local-user") or options.on("verify"):
        raise Fatal("tags are not signed in this sandbox: it keeps no keys")
    if options.on("delete"):
        return _delete(git, options.operands)
    listing = options.on("list") or any(
        options.given(name)
        for name in ("n", "contains", "no-contains", "merged", "no-merged", "points-at")
    )
    makes = any(options.given(name) for name in ("annotate", "message", "file"))
    if (not options.operands and not makes) or listing:
        return _list(git, options)
    return _make(git, options)


def _list(git: Invocation, options: Options) -> int:
    if options.on("column"):
        raise Fatal("git tag --column is not supported in this sandbox")
    chosen = RefFilter(git)
    chosen.read(options)
    lines = None
    if options.given("n"):
        lines = int(options.get("n") or 1)
    form = options.get("format")
    if form is None:
        form = "%(refname:lstrip=2)"
        if lines is not None:
            form = f"%(align:15)%(refname:lstrip=2)%(end) %(contents:lines={lines})"
    format = RefFormat(git, form)
    ignore = options.on("ignore-case")
    items = [
        (name, oid)
        for name, oid in git.repository.refs.all("refs/tags/").items()
        if (
            not options.operands
            or any(
                wildmatch(encode(pattern), encode(name[10:]), pathname=False, ignore_case=ignore)
                for pattern in options.operands
            )
        )
        and chosen.accepts(name, oid)
    ]
    keys = options.all("sort") or git.config.get_all("tag.sort") or ["refname"]
    for name, oid in sort_refs(git, items, keys, ignore_case=ignore):
        git.write(encode(format.expand(name, oid) + "\n"))
    return 0


def _delete(git: Invocation, names: list[str]) -> int:
    failed = 0
    repository = git.repository
    for name in names:
        full = f"refs/tags/{name}"
        oid = repository.refs.read(full)
        if oid is None:
            failed = git.error(f"tag '{name}' not found.")
            continue
        repository.refs.delete(full)
        git.print(f"Deleted tag '{name}' (was {repository.short(oid)})")
    return failed


def _make(git: Invocation, options: Options) -> int:
    # long: git's order of checks
    if len(options.operands) > 2:
        raise Fatal("too many arguments")
    if not options.operands:
        raise BadUsage
    repository = git.repository
    name = options.operands[0]
    target = options.operands[1] if len(options.operands) > 1 else "HEAD"
    if options.given("message") and options.given("file"):
        raise Fatal("options '-F' and '-m' cannot be used together")
    oid = Resolver(git).find(target)
    if oid is None:
        raise Fatal(f"Failed to resolve '{target}' as a valid ref.")
    if name.startswith("-") or not is_ref_name(f"refs/tags/{name}") or name == "HEAD":
        raise Fatal(f"'{name}' is not a valid tag name.")
    full = f"refs/tags/{name}"
    before = repository.refs.read(full)
    if before is not None and not options.on("force"):
        raise Fatal(f"tag '{name}' already exists")
    annotated = options.on("annotate") or options.given("message") or options.given("file")
    new = oid
    if annotated:
        new = _annotated(git, options, name, oid)
    repository.refs.write(full, new, _log_message(git, oid), deref=False)
    if options.on("force") and before is not None and before != new:
        git.print(f"Updated tag '{name}' (was {repository.short(before)})")
    return 0


def _log_message(git: Invocation, oid: str) -> str:
    """Return what the log of a tag says, where tags have logs."""
    repository = git.repository
    action = git.env.get("GIT_REFLOG_ACTION", f"tag: tagging {repository.short(oid)}")
    kind = repository.objects.type_of(oid)
    if kind != "commit":
        return f"{action} ({'other tag' if kind == 'tag' else kind} object)"
    commit = repository.objects.commit(oid)
    style = parse_style("short") or DEFAULT
    date = show_date(seconds_of(commit.committer), 0, style, 0, "UTC")
    return f"{action} ({decode(subject_of(commit.message))}, {date})"


def _annotated(git: Invocation, options: Options, name: str, oid: str) -> str:
    repository = git.repository
    kind = repository.objects.type_of(oid)
    edits = options.on("edit")
    if options.given("message"):
        text = encode("\n\n".join(options.all("message"))) + b"\n"
    elif options.given("file"):
        where = options.text("file")
        try:
            text = git.read_input() if where == "-" else git.fs.read_bytes(git.path(where))
        except OSError as error:
            raise Fatal(f"could not open or read '{where}': {error.strerror}") from None
    else:
        edits = True
        text = b""
        before = repository.refs.read(f"refs/tags/{name}")
        if before is not None and repository.objects.type_of(before) == "tag":
            text = repository.objects.tag(before).message
    mode = options.text("cleanup", "strip")
    if mode not in ("verbatim", "whitespace", "strip"):
        raise Fatal(f"Invalid cleanup mode {mode}")
    tagger = repository.ident("committer")
    if edits:
        text += encode(
            f"\n#\n# Write a message for tag:\n#   {name}\n# Lines starting with '#' will be "
            "ignored.\n"
        )
        repository.write_file("TAG_EDITMSG", text)
        edit(git, repository.file("TAG_EDITMSG"), ".git/TAG_EDITMSG")
        text = git.fs.read_bytes(repository.file("TAG_EDITMSG"))
    message = clean_message(text, mode)
    if not message.strip() and edits and not options.given("message"):
        git.say("fatal: no tag message?")
        raise Quit(128)
    repository.remove_file("TAG_EDITMSG")
    head = encode(f"object {oid}\ntype {kind}\ntag {name}\ntagger ") + tagger + b"\n\n"
    return repository.objects.write("tag", head + message)


COMMANDS = {"tag": tag}
