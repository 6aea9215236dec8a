"""`git cat-file`, `hash-object`, `ls-tree`, `mktree`, `write-tree`, `commit-tree`, `read-tree`."""

from __future__ import annotations

import re
from functools import partial

from agentsandbox.git.errors import (
    BadUsage,
    CorruptObject,
    Fatal,
    GitError,
    MissingObject,
    WrongUsage,
)
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.objects import (
    TYPES,
    ObjectStore,
    format_commit,
    is_directory,
    object_name,
    parse_tree,
)
from agentsandbox.git.options import Options, parse_options
from agentsandbox.git.paths import (
    kind_of_mode,
    mode_text,
    quote_path,
    relative_to,
    unquote_path,
)
from agentsandbox.git.revisions import Resolver, path_error, resolve, resolve_commit
from agentsandbox.git.texts import expand_elements
from agentsandbox.git.trees import tree_entry, write_index_tree
from agentsandbox.kernel.streams import decode, encode

USAGES = {
    "cat-file": """
git cat-file <type> <object>
   or: git cat-file (-e | -p) <object>
   or: git cat-file (-t | -s) [--allow-unknown-type] <object>
   or: git cat-file (--batch | --batch-check | --batch-command) [--batch-all-objects]

Check object existence or emit object contents
    -e                    check whether an object exists
    -p                    print the content of an object

Emit [broken] object attributes
    -t                    print the type of an object
    -s                    print the size of an object
    --allow-unknown-type  allow objects of unknown types

Batch objects requested on stdin (or --batch-all-objects)
    --batch[=<format>]    print information and content for each name of standard input
    --batch-check[=<format>]
                          print information for each name of standard input
    --batch-command[=<format>]
                          read commands from standard input: contents, info, flush
    --batch-all-objects   for all objects of the repository
    --buffer              do not flush after each object
    --follow-symlinks     follow links inside of trees
    --unordered           in any order
    -z                    input ends with NUL
    --textconv            run the filters of text
    --filters             run the filters of content
    --path <blob|tree>    the path for filters
""",
    "hash-object": """
git hash-object [<options>] [--] <file>...

    -t <type>             the type of the object
    -w                    write the object
    --stdin               read it from standard input
    --stdin-paths         read names of files from standard input
    --no-filters          do not convert the content
    --literally           make an object of any form
    --path <file>         convert as if it were this file
""",
    "ls-tree": """
git ls-tree [<options>] <tree-ish> [<path>...]

    -d                    show only trees
    -r                    show the entries of trees
    -t                    show trees too, with -r
    -z                    end entries with NUL
    -l, --long            show the size
    --name-only           show only paths
    --name-status         show only paths
    --object-only         show only objects
    --full-name           show paths from the top
    --full-tree           show the whole tree, also in a directory
    --format <format>     print in a format
    --abbrev[=<n>]        shorten objects
""",
    "mktree": """
git mktree [-z] [--missing] [--batch]

    -z                    input ends with NUL
    --missing             allow missing objects
    --batch               make several trees
""",
    "write-tree": """
git write-tree [--missing-ok] [--prefix=<prefix>/]

    --missing-ok          allow missing objects
    --prefix <prefix>     write the tree of a directory
""",
    "commit-tree": """
git commit-tree <tree> [(-p <parent>)...]
   or: git commit-tree [(-p <parent>)...] [(-m <message>)...] [(-F <file>)...] <tree>

    -p <parent>           a parent
    -m <message>          the message
    -F <file>             read the message from a file
    -S, --gpg-sign[=<key-id>]
                          sign the commit
""",
}


_BATCHES = ("batch", "batch-check", "batch-command")
_MODES = {"e": "-e", "p": "-p", "t": "-t", "s": "-s", "batch-all-objects": "--batch-all-objects",
          "textconv": "--textconv", "filters": "--filters"}  # fmt: skip
"""The options of cat-file of which one at most may be given, as they are shown."""


def cat_file(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["cat-file"], words)
    modes = list(dict.fromkeys(name for name, _, _ in options.order if name in _MODES))
    if len(modes) > 1:
        kind = "switch" if len(modes[1]) == 1 else "option"
        raise BadUsage(f"{kind} `{modes[1]}' is incompatible with {_MODES[modes[0]]}", usage=False)
    mode = modes[0] if modes else ""
    converts = mode in ("textconv", "filters")
    if options.given("path") and not converts:
        raise WrongUsage("'--path=<path|tree-ish>' needs '--filters' or '--textconv'")
    batch = [name for name, _, _ in options.order if name in _BATCHES]
    if len(batch) > 1:
        raise BadUsage("only one batch option may be specified", usage=False)
    if not batch:
        for name in ("follow-symlinks", "buffer", "batch-all-objects", "z"):
            if options.given(name):
                shown = f"--{name}" if len(name) > 1 else f"-{name}"
                raise WrongUsage(f"'{shown}' requires a batch mode")
    elif mode and not converts and mode != "batch-all-objects":
        raise WrongUsage(f"'-{mode}' is incompatible with batch mode")
    elif options.operands and not converts:
        raise WrongUsage("batch modes take no arguments")
    for name in ("textconv", "filters", "follow-symlinks"):
        if options.on(name) and (batch or options.operands):
            raise Fatal(f"git cat-file --{name} is not supported in this sandbox")
    if batch:
        return _Batch(git, options, batch[0]).run()
    return _show_object(git, mode, options.operands)


def _show_object(git: Invocation, mode: str, operands: list[str]) -> int:
    if mode:
        if not operands:
            what = "<rev>" if len(mode) > 1 else "<object>"
            raise WrongUsage(f"{what} required with '{_MODES[mode]}'")
        if len(operands) > 1:
            raise WrongUsage("too many arguments")
    elif not operands:
        raise BadUsage
    elif len(operands) != 2:
        raise WrongUsage(f"only two arguments allowed in <type> <object> mode, not {len(operands)}")
    objects = git.repository.objects
    name = operands[-1]
    kind = "" if mode else operands[0]
    if not mode and kind not in TYPES:
        raise Fatal(f'invalid object type "{kind}"')
    oid = Resolver(git).find(name, kind=kind)
    if oid is None:
        raise path_error(git, name) or Fatal(f"Not a valid object name {name}")
    if mode == "e":
        return 0 if oid in objects else 1
    if not mode:
        try:
            is_blob = kind == "blob" and objects.header(oid)[0] == "blob"
            peeled = oid if is_blob else objects.peel(oid, kind)
        except MissingObject:
            peeled = None
        if peeled is None:
            raise Fatal(f"git cat-file {name}: bad file")
        git.write(_content(objects, peeled))
        return 0
    try:
        kind, size = objects.header(oid)
    except MissingObject:
        raise Fatal(
            "git cat-file: could not get object info"
            if mode != "p"
            else f"Not a valid object name {name}"
        ) from None
    if mode == "t":
        git.print(kind)
    elif mode == "s":
        git.print(str(size))
    elif kind == "tree":
        for entry_name, entry_mode, entry in objects.tree(oid):
            shown = f"{mode_text(entry_mode)} {kind_of_mode(entry_mode)} {entry}"
            git.print(f"{shown}\t{quote_path(entry_name)}")
    else:
        git.write(_content(objects, oid))
    return 0


def _content(objects: ObjectStore, oid: str) -> bytes:
    try:
        return objects.read(oid)[1]
    except CorruptObject:
        if objects.header(oid)[0] != "blob":
            raise
        raise Fatal(f"unable to stream {oid} to stdout") from None


class _Batch:
    """The names or commands of standard input, each answered before the next is read."""

    def __init__(self, git: Invocation, options: Options, mode: str) -> None:
        self.git = git
        self.format = options.get(mode) or "%(objectname) %(objecttype) %(objectsize)"
        self.content = mode == "batch"
        self.takes_commands = mode == "batch-command"
        self.end = b"\0" if options.on("z") else b"\n"
        self.all = options.on("batch-all-objects")
        self.buffers = options.on("buffer", default=self.all)
        self.splits = "%(rest)" in self.format
        self.resolver = Resolver(git)
        self.queue: list[tuple[str, str]] = []
        """The commands that wait for "flush"."""

    def run(self) -> int:
        git = self.git
        self._expand("0" * 40, "", 0, "")  # an unknown element is an error in any case
        if self.all:
            for oid in sorted(set(git.repository.objects.names())):
                self._show(oid, oid, "")
            return 0
        for line in git.input_lines(self.end):
            text = decode(line.removesuffix(self.end))
            if self.takes_commands:
                self._command(text)
            else:
                self._answer(text)
        self._flush()
        return 0

    def _command(self, text: str) -> None:
        if not text:
            raise Fatal("empty command in input")
        if text[0].isspace():
            raise Fatal(f"whitespace before command: '{text}'")
        name = next((name for name in ("contents", "info", "flush") if text.startswith(name)), "")
        rest = text[len(name) :]
        if not name:
            raise Fatal(f"unknown command: '{text}'")
        if name == "flush":
            if rest:
                raise Fatal("flush takes no arguments")
            if not self.buffers:
                raise Fatal("flush is only for --buffer mode")
            self._flush()
            return
        if not rest.startswith(" "):
            raise Fatal(f"{name} requires arguments")
        self.queue.append((name, rest[1:]))
        self.git.budget.hold_input(len(text))
        if not self.buffers:
            self._flush()

    def _flush(self) -> None:
        for name, text in self.queue:
            self.content = name == "contents"
            self._answer(text)
        self.queue.clear()
        self.git.flush()

    def _answer(self, text: str) -> None:
        git = self.git
        git.budget.step()
        rest = ""
        if self.splits and not self.takes_commands:
            text, *more = re.split(r"[ \t]+", text, maxsplit=1)
            rest = more[0] if more else ""
        self.resolver.ambiguous = False
        try:
            found = self.resolver.find(text)
        except Fatal:
            found = None
        if found is None or found not in git.repository.objects:
            git.print(f"{text} {'ambiguous' if self.resolver.ambiguous else 'missing'}")
        else:
            self._show(text, found, rest)
        if not self.buffers:
            git.flush()

    def _expand(self, oid: str, kind: str, size: int, rest: str) -> str:
        values = {
            "objectname": oid, "objecttype": kind, "objectsize": str(size), "rest": rest,
            "deltabase": "0" * 40, "objectsize:disk": str(size),
        }  # fmt: skip

        def value(name: str) -> str:
            if name not in values:
                raise Fatal(f"unknown format element: {name}")
            return values[name]

        return expand_elements(self.format, value, "format ", literals=False)

    def _show(self, text: str, oid: str, rest: str) -> None:
        objects = self.git.repository.objects
        kind, size = objects.header(oid)
        self.git.print(self._expand(oid, kind, size, rest))
        if self.content:
            self.git.write(objects.read(oid)[1] + b"\n")


def hash_object(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["hash-object"], words)
    kind = options.text("t", "blob")
    if kind not in TYPES:
        raise Fatal(f'invalid object type "{kind}"')
    wrong = ""
    if options.on("stdin-paths"):
        if options.on("stdin"):
            wrong = "Can't use --stdin-paths with --stdin"
        elif options.operands:
            wrong = "Can't specify files with --stdin-paths"
        elif options.given("path"):
            wrong = "Can't use --stdin-paths with --path"
    elif options.count("stdin") > 1:
        wrong = "Multiple --stdin arguments are not supported"
    if options.given("path") and options.on("no-filters"):
        wrong = "Can't use --path with --no-filters"
    if wrong:
        raise BadUsage(wrong)
    write = options.on("w")
    repository = git.repository if write else git.find_repository()

    def put(data: bytes, path: str | None) -> None:
        if (
            path is not None
            and not options.on("no-filters")
            and repository is not None
            and (kind == "blob" and repository.worktree is not None)
        ):
            from agentsandbox.git.attributes import Attributes

            data = Attributes(repository).to_git(encode(path), data)
        if not options.on("literally"):
            _check_form(kind, data)
        if write:
            git.print(git.repository.objects.write(kind, data))
        else:
            git.print(object_name(kind, data))

    if options.on("stdin"):
        put(git.read_input(), options.get("path"))
    if options.on("stdin-paths"):
        for line in decode(git.read_input()).split("\n"):
            if line:
                put(git.fs.read_bytes(git.path(line)), line)
        return 0
    for name in options.operands:
        try:
            data = git.fs.read_bytes(git.path(name))
        except OSError as error:
            raise Fatal(f"could not open '{name}' for reading: {error.strerror}") from None
        put(data, options.get("path") or name)
    return 0


def _check_form(kind: str, data: bytes) -> None:
    """Raise if an object is not in the form of its type."""
    good = True
    if kind == "tree":
        try:
            parse_tree(data)
        except ValueError:
            good = False
    elif kind == "commit":
        good = bool(
            re.match(
                rb"tree [0-9a-f]{40}\n(?:parent [0-9a-f]{40}\n)*author [^\n]*\n"
                rb"committer [^\n]*\n",
                data,
            )
        )
    elif kind == "tag":
        good = bool(re.match(rb"object [0-9a-f]{40}\ntype [a-z]+\ntag [^\n]+\n", data))
    if not good:
        raise Fatal(f"corrupt {kind}")


def ls_tree(git: Invocation, words: list[str]) -> int:
    # long: the walk and the forms of a line
    options = parse_options(USAGES["ls-tree"], words)
    forms = [
        name
        for name, _, _ in options.order
        if name in ("long", "name-only", "name-status", "object-only")
    ]
    forms = list(dict.fromkeys(forms))
    if options.given("format") and forms:
        raise WrongUsage("--format can't be combined with other format-altering options")
    if len(forms) > 1:
        raise BadUsage(f"option `{forms[1]}' is incompatible with --{forms[0]}", usage=False)
    if not options.operands:
        raise BadUsage
    repository = git.repository
    objects = repository.objects
    name, *paths = options.operands
    oid = resolve(git, name, kind="tree")
    try:
        tree = objects.peel(oid, "tree")
        if tree is not None:
            objects.tree(tree)
    except MissingObject:
        tree = None
    if tree is None:
        raise Fatal("not a tree object")
    whole = options.on("full-tree")
    prefix = b"" if whole else repository.prefix
    wanted = [
        encode(path.rstrip("/") + ("/" if path.endswith("/") else ""))
        if whole
        else _joined(prefix, path)
        for path in paths
    ]
    if not paths and prefix:
        wanted = [prefix]
    recursive, show_trees, only_trees = options.on("r"), options.on("t"), options.on("d")
    end = b"\0" if options.on("z") else b"\n"
    high = git.config.flag("core.quotepath", True)

    def show(path: bytes, mode: int, entry: str) -> None:
        seen = path if options.on("full-name") or whole else relative_to(path, prefix)
        shown = seen if end == b"\0" else encode(quote_path(seen, high=high))
        if options.on("name-only") or options.on("name-status"):
            git.write(shown + end)
            return
        kind = kind_of_mode(mode)
        short = (
            repository.short(entry, options.number("abbrev", 7))
            if options.given("abbrev")
            else entry
        )
        if options.on("object-only"):
            git.write(encode(short) + end)
            return
        size = ""
        if options.on("long"):
            number = str(len(objects.read(entry)[1])) if kind == "blob" else "-"
            size = f" {number:>7}"
        if options.get("format") is not None:
            values = {"objectmode": mode_text(mode), "objecttype": kind, "objectname": short,
                      "path": decode(shown), "objectsize": size.strip() or _size(git, kind, entry),
                      "objectsize:padded": f"{_size(git, kind, entry):>7}"}  # fmt: skip
            text = expand_elements(
                options.text("format"),
                lambda name: _element(name, values),
                "bad ls-tree format: ",
                literals=True,
            )
            git.write(encode(text) + end)
            return
        git.write(encode(f"{mode_text(mode)} {kind} {short}{size}\t") + shown + end)

    def walk(base: bytes, oid: str) -> None:
        for entry_name, mode, entry in objects.tree(oid):
            path = base + entry_name
            is_tree = is_directory(mode)
            inside = not wanted or any(
                (path == each.rstrip(b"/") and (not each.endswith(b"/") or not is_tree))
                or path.startswith(each if each.endswith(b"/") else each + b"/")
                or each == b""
                for each in wanted
            )
            above = is_tree and any(each.startswith(path + b"/") for each in wanted)
            if not inside and not above:
                continue
            if not is_tree:
                if not only_trees:
                    show(path, mode, entry)
                continue
            if (
                (inside and (not recursive or show_trees or only_trees))
                and not (above and not recursive)
            ) or (above and show_trees):
                show(path, mode, entry)
            if above or (recursive and inside):
                git.budget.nested(partial(walk, path + b"/", entry))

    walk(b"", tree)
    return 0


def _joined(prefix: bytes, path: str) -> bytes:
    parts: list[bytes] = []
    for part in (prefix + encode(path)).split(b"/"):
        if part == b"..":
            if parts:
                parts.pop()
        elif part not in (b"", b"."):
            parts.append(part)
    return b"/".join(parts) + (b"/" if path.endswith("/") and parts else b"")


def _size(git: Invocation, kind: str, oid: str) -> str:
    return str(len(git.repository.objects.read(oid)[1])) if kind == "blob" else "-"


def _element(name: str, values: dict[str, str]) -> str:
    if name not in values:
        raise Fatal(f"bad ls-tree format: %({name})")
    return values[name]


def mktree(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["mktree"], words)
    objects = git.repository.objects
    end = b"\0" if options.on("z") else b"\n"
    groups: list[list[bytes]] = [[]]
    lines = git.read_input().split(end)
    if lines and not lines[-1]:
        lines.pop()
    for line in lines:
        if not line and options.on("batch"):
            groups.append([])
        else:
            groups[-1].append(line)
    for group in groups:
        entries = []
        for line in group:
            found = re.fullmatch(
                rb"([0-7]+) (\w+) ([0-9a-f]{40})(?: +[-\d]+)?\t(.+)", line, re.DOTALL
            )
            if found is None:
                raise Fatal(f"input format error: {decode(line)}")
            mode, oid = int(found[1], 8), decode(found[3])
            name = found[4] if end == b"\0" else unquote_path(found[4])
            if kind_of_mode(mode) != decode(found[2]):
                raise Fatal(
                    f"entry '{decode(name)}' object type ({decode(found[2])}) doesn't match "
                    f"mode type ({kind_of_mode(mode)})"
                )
            if b"/" in name:
                raise Fatal(f"path {decode(name)} contains slash")
            if not options.on("missing") and mode != 0o160000:
                if oid not in objects:
                    raise Fatal(f"entry '{decode(name)}' object {oid} is unavailable")
                if objects.type_of(oid) != kind_of_mode(mode):
                    raise Fatal(
                        f"entry '{decode(name)}' object {oid} is a {objects.type_of(oid)} "
                        f"but specified type was ({kind_of_mode(mode)})"
                    )
            entries.append((name, mode, oid))
        git.print(objects.write_tree(entries))
    return 0


def write_tree(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["write-tree"], words)
    repository = git.repository
    index = repository.index()
    try:
        oid = write_index_tree(repository, index, missing_ok=options.on("missing-ok"))
    except GitError as error:
        for line in error.message.split("\n"):
            git.say(line if ": unmerged (" in line else f"error: {line}")
        raise Fatal("git-write-tree: error building trees") from None
    prefix = options.text("prefix").strip("/")
    if prefix:
        entry = tree_entry(repository.objects, oid, encode(prefix))
        if entry is None or not is_directory(entry[0]):
            raise Fatal(f"git-write-tree: prefix {options.text('prefix')} not found")
        oid = entry[1]
    git.print(oid)
    return 0


def commit_tree(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["commit-tree"], words)
    if options.on("gpg-sign"):
        raise Fatal("commits are not signed in this sandbox: it keeps no keys")
    if len(options.operands) != 1:
        raise Fatal("must give exactly one tree")
    tree = Resolver(git).find(options.operands[0], kind="tree") or ""
    if not tree:
        raise Fatal(f"not a valid object name {options.operands[0]}")
    if git.repository.objects.type_of(tree) != "tree":
        peeled = git.repository.objects.peel(tree, "tree")
        if peeled is None:
            raise Fatal(f"{tree} is not a valid 'tree' object")
        tree = peeled
    parents: list[str] = []
    for text in options.all("p"):
        parent = resolve_commit(git, text, f"not a valid object name {text}")
        if parent in parents:
            git.error(f"duplicate parent {parent} ignored")
        else:
            parents.append(parent)
    pieces: list[bytes] = []
    for name, value, _ in options.order:
        if name == "m":
            pieces.append(encode(value or "").rstrip(b"\n") + b"\n" if value else b"")
        elif name == "F":
            data = git.read_input() if value == "-" else git.fs.read_bytes(git.path(value or ""))
            pieces.append(data)
    message = b"\n".join(pieces) if pieces else git.read_input()
    repository = git.repository
    oid = repository.objects.write(
        "commit",
        format_commit(
            tree, parents, repository.ident("author"), repository.ident("committer"), message
        ),
    )
    git.print(oid)
    return 0


COMMANDS = {
    "cat-file": cat_file, "hash-object": hash_object, "ls-tree": ls_tree, "mktree": mktree,
    "write-tree": write_tree, "commit-tree": commit_tree,
}  # fmt: skip
