"""`git grep`."""

from __future__ import annotations

from agentsandbox.git.diff.options import DiffOptions, wants_color
from agentsandbox.git.diff.printing import DiffPrinter
from agentsandbox.git.errors import Fatal, MissingObject
from agentsandbox.git.grep import ExpressionParser, GrepPrinter, Style
from agentsandbox.git.index import Index
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.options import Options, parse_options
from agentsandbox.git.paths import Pathspec, quote_path, relative_to
from agentsandbox.git.pathspecs import parse_pathspec
from agentsandbox.git.patterns import has_glob
from agentsandbox.git.revisions import Resolver, verify_filename, verify_not_filename
from agentsandbox.git.trees import flat_tree
from agentsandbox.git.worktree import Worktree, scan_worktree
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

USAGES = {
    "grep": """
git grep [<options>] [-e] <pattern> [<rev>...] [[--] <path>...]

    --cached              search in index instead of in the work tree
    --untracked           search in both tracked and untracked files
    --[no-]exclude-standard
                          ignore files specified via '.gitignore'

    -v, --invert-match    show non-matching lines
    -i, --ignore-case     case insensitive matching
    -w, --word-regexp     match patterns only at word boundaries
    -a, --text            process binary files as text
    -I                    don't match patterns in binary files
    -r, --recursive       search in subdirectories (default)
    --max-depth <n>       descend at most <n> levels

    -E, --extended-regexp
                          use extended POSIX regular expressions
    -G, --basic-regexp    use basic POSIX regular expressions (default)
    -F, --fixed-strings   interpret patterns as fixed strings
    -P, --perl-regexp     use Perl-compatible regular expressions

    -n, --[no-]line-number
                          show line numbers
    --column              show column number of first match
    -h                    don't show filenames
    -H                    show filenames
    --full-name           show filenames relative to top directory
    -l, --files-with-matches
                          show only filenames instead of matching lines
    --name-only           synonym for --files-with-matches
    -L, --files-without-match
                          show only the names of files without match
    -z, --null            print NUL after filenames
    -o, --only-matching   show only matching parts of a line
    -c, --count           show the number of matches instead of matching lines
    --[no-]color[=<when>]
                          highlight matches
    --break               print empty line between matches from different files
    --heading             show filename only once above matches from same file

    -C, --context <n>     show <n> context lines before and after matches
    -B, --before-context <n>
                          show <n> context lines before matches
    -A, --after-context <n>
                          show <n> context lines after matches
    --threads <n>         changes nothing: there is one
    -p, --show-function   show a line with the function name before matches
    -W, --function-context
                          show the surrounding function

    -f <file>             read patterns from file
    -e <pattern>          match <pattern>
    --and                 combine patterns specified with -e
    --or                  combine patterns specified with -e
    --not                 combine patterns specified with -e
    -q, --quiet           indicate hit with exit status without output
    --all-match           show only matches from files that match all patterns
    -m, --max-count <n>   maximum number of results per file
    --no-index            is not supported: use grep -r
    --recurse-submodules  is not supported
    --textconv            is not supported
""",
}
_TYPES = {"basic": "G", "extended": "E", "fixed": "F", "perl": "P"}


def grep(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["grep"], words, bare=("(", ")"), number="context")
    for name in ("no-index", "recurse-submodules", "textconv"):
        if options.on(name):
            raise Fatal(f"git grep --{name} is not supported in this sandbox")
    style = _style(git, options)
    operands = list(options.operands)
    before = options.before_dashes
    tokens = _tokens(git, options)
    has_dashes = options.has_dashes
    if not tokens:
        if not operands:
            raise Fatal("no pattern given")
        tokens += [("e", each, "command line") for each in operands.pop(0).split("\n")]
        if has_dashes and not before:  # git grep -- PATTERN [-- PATH...]
            has_dashes = "--" in operands
            before = operands.index("--") if has_dashes else len(operands)
            operands[before : before + 1] = []
        else:
            before -= 1
    repository = git.repository
    parser = ExpressionParser(git, style, tokens)
    expression = parser.parse()
    driver = DiffPrinter(git, DiffOptions()).driver
    printer = GrepPrinter(git, style, expression, parser.terms(), driver)
    if options.on("untracked") and not has_dashes:
        trees: list[tuple[str, str]] = []
        paths = operands
        _demand_paths(git, paths)
    else:
        trees, paths = _split(git, operands, before if has_dashes else -1)
    wanted = parse_pathspec(git, paths or (["."] if repository.prefix else []))
    if options.on("cached") and (trees or options.on("untracked")):
        raise Fatal(
            "both --cached and trees are given"
            if trees
            else "options '--untracked' and '--cached' cannot be used together"
        )
    full = options.on("full-name", git.config.flag("grep.fullname"))
    search = _Search(git, printer, wanted, full, _depth(options), paths)
    found = False
    if options.on("untracked"):
        contents = search.untracked(standard=options.on("exclude-standard", True))
    elif trees:
        contents = search.trees(trees)
    else:
        contents = search.index(cached=options.on("cached"))
    for shown, path, data in contents:
        hit = printer.show(shown, path, data)
        if style.mode == "quiet" and options.on("files-without-match"):
            hit = not hit
        found = hit or found
        if found and style.mode == "quiet":
            return 0
    return 0 if found else 1


def _depth(options: Options) -> int:
    """Return how many directories down files are searched, -1 for all."""
    most = -1
    for name, value, negated in options.order:
        if name == "max-depth":
            most = int(value or -1)
        elif name == "recursive":
            most = 0 if negated else -1
    return most


def _style(git: Invocation, options: Options) -> Style:
    # long: one option after the other
    style, config = Style(), git.config
    kind = config.get("grep.patterntype")
    if kind in _TYPES:
        style.matcher = _TYPES[kind]
    elif config.flag("grep.extendedregexp"):
        style.matcher = "E"
    style.numbers = options.on("line-number", config.flag("grep.linenumber"))
    style.columns = options.on("column", config.flag("grep.column"))
    mode = "lines"
    for name, value, negated in options.order:
        if name in ("extended-regexp", "basic-regexp", "fixed-strings", "perl-regexp"):
            style.matcher = {"e": "E", "b": "G", "f": "F", "p": "P"}[name[0]]
        elif name in ("h", "H"):
            style.names = name == "H"
        elif name in ("text", "I"):
            style.binary = "text" if name == "text" else "skip"
        elif name == "context":
            style.before = style.after = int(value or 0)
        elif name == "before-context":
            style.before = int(value or 0)
        elif name == "after-context":
            style.after = int(value or 0)
        del negated
    for name, chosen in (
        ("count", "count"), ("files-without-match", "others"), ("name-only", "names"),
        ("files-with-matches", "names"), ("quiet", "quiet"),
    ):  # fmt: skip
        if options.on(name):
            mode = chosen
    style.mode = mode
    style.ignore_case = options.on("ignore-case")
    style.whole_words = options.on("word-regexp")
    style.invert = options.on("invert-match")
    style.all_match = options.on("all-match")
    style.heading, style.breaks = options.on("heading"), options.on("break")
    style.nul = options.on("null")
    style.only_matching = options.on("only-matching")
    style.functions, style.bodies = options.on("show-function"), options.on("function-context")
    style.most = options.number("max-count", -1)
    when = (options.get("color") or "always") if options.on("color") else "never"
    if not options.given("color"):
        when = config.get("color.grep") or config.get("color.ui") or "auto"
    style.color = wants_color(git, when)
    return style


def _tokens(git: Invocation, options: Options) -> list[tuple[str, str, str]]:
    """Return the expression as (kind, pattern, where it comes from)."""
    found: list[tuple[str, str, str]] = []
    for name, value, _ in options.order:
        if name == "e":
            found += [("e", each, "-e option") for each in (value or "").split("\n")]
        elif name == "f":
            found += _file_patterns(git, value or "")
        elif name in ("and", "not"):
            found.append((name, f"--{name}", ""))
        elif name in ("(", ")"):
            found.append((name, name, ""))
    return found


def _file_patterns(git: Invocation, name: str) -> list[tuple[str, str, str]]:
    if name == "-":
        data = git.read_input()
    else:
        try:
            data = git.fs.read_bytes(git.path(name))
        except OSError as error:
            raise Fatal(f"cannot open '{name}': {error.strerror}") from None
    lines = decode(data).split("\n")
    return [
        ("e", line, f"In '{name}' at {number}, ") for number, line in enumerate(lines, 1) if line
    ]


def _split(
    git: Invocation, operands: list[str], before: int
) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the trees, as (name, object), and the paths of the operands."""
    resolver = Resolver(git)
    trees: list[tuple[str, str]] = []
    for at, word in enumerate(operands):
        if before >= 0 and at >= before:
            return trees, operands[at:]
        oid = resolver.find(word)
        if oid is None:
            if before >= 0:
                raise Fatal(f"unable to resolve revision: {word}")
            for number, path in enumerate(operands[at:]):
                verify_filename(git, path, first=number == 0)
            return trees, operands[at:]
        if before < 0:
            verify_not_filename(git, word)
        trees.append((word, oid))
    return trees, []


def _demand_paths(git: Invocation, paths: list[str]) -> None:
    for path in paths:
        if not path.startswith(":") and not has_glob(encode(path)):
            if not git.fs.exists(git.path(path), follow=False):
                raise Fatal(
                    f"{path}: no such path in the working tree.\n"
                    "Use 'git <command> -- <path>...' to specify paths that do not exist locally."
                )


class _Search:
    """The contents to search, as (name to print, path, content)."""

    def __init__(
        self, git: Invocation, printer: GrepPrinter, wanted: Pathspec, full: bool, most: int,
        paths: list[str],
    ) -> None:  # fmt: skip
        self.git = git
        self.repository = git.repository
        self.printer = printer
        self.wanted = wanted
        self.full = full
        self.most = most
        self.bases = [self.repository.prefix.rstrip(b"/")]
        if paths:
            self.bases = [item.path.rstrip(b"/") for item in wanted.items]
            if any(has_glob(base) for base in self.bases):  # a pattern matches at any depth
                self.most = -1

    def _name(self, path: bytes, tree: bytes = b"") -> bytes:
        shown = path if self.full else relative_to(path, self.repository.prefix)
        if not self.printer.style.nul:
            shown = encode(quote_path(shown, high=self.git.config.flag("core.quotepath", True)))
        return tree + shown

    def _is_wanted(self, path: bytes) -> bool:
        if self.wanted and not self.wanted.matches(path):
            return False
        if self.most < 0:
            return True
        for base in self.bases:
            inner = path[len(base) :].lstrip(b"/") if path.startswith(base) else None
            if inner is not None and inner.count(b"/") <= self.most:
                return True
        return False

    def index(self, *, cached: bool) -> Iterator[tuple[bytes, bytes, bytes]]:
        repository = self.repository
        if not cached:
            repository.need_worktree()
        tree = None if cached else Worktree(repository)
        last = b""
        for entry in repository.index():
            path = entry.path
            if entry.mode & 0o170000 != 0o100000 or not self._is_wanted(path):
                continue
            if tree is None or entry.assumed or entry.skips:
                if entry.stage or entry.intends or (entry.skips and tree is not None):
                    continue
                yield self._name(path), path, repository.objects.blob(entry.oid)
                continue
            if entry.stage and path == last:
                continue
            last = path
            data = _file(tree, path)
            if data is not None:
                yield self._name(path), path, data

    def untracked(self, *, standard: bool) -> Iterator[tuple[bytes, bytes, bytes]]:
        self.repository.need_worktree()
        tree = Worktree(self.repository)
        scan = scan_worktree(
            tree, Index(), self.wanted, untracked="all", ignored="no" if standard else "traditional"
        )
        paths = [*scan.untracked, *(() if standard else scan.ignored)]
        for path in sorted(paths):
            data = _file(tree, path) if self._is_wanted(path) else None
            if data is not None:
                yield self._name(path), path, data

    def trees(self, trees: list[tuple[str, str]]) -> Iterator[tuple[bytes, bytes, bytes]]:
        objects = self.repository.objects
        for word, oid in trees:
            kind = objects.type_of(oid)
            if kind == "blob":
                path = encode(word.partition(":")[2] or word)
                yield encode(word), path, objects.blob(oid)
                continue
            tree = objects.peel(oid, "tree")
            if tree is None:
                raise Fatal(f"unable to grep from object of type {kind}")
            try:
                found = flat_tree(objects, tree)
            except MissingObject:
                raise Fatal(f"unable to read tree ({oid})") from None
            for path, (mode, blob) in found.items():
                if mode & 0o170000 == 0o100000 and self._is_wanted(path):
                    yield self._name(path, encode(f"{word}:")), path, objects.blob(blob)


def _file(tree: Worktree, path: bytes) -> bytes | None:
    info = tree.stat(path)
    if info is None or not info.is_file:
        return None
    try:
        tree.repository.git.budget.charge(info.size)
        return tree.fs.read_bytes(tree.path(path))
    except OSError as error:
        tree.repository.git.error(f"failed to read '{decode(path)}': {error.strerror}")
        return None


COMMANDS = {"grep": grep}
