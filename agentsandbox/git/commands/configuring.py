"""`git config`."""

from __future__ import annotations

import posixpath
import re

from agentsandbox.git.config import (
    Config,
    Value,
    as_bool,
    as_int,
    normal_key,
    read_text,
    rename_section,
    with_value,
    word_as_bool,
)
from agentsandbox.git.editor import edit
from agentsandbox.git.errors import BadUsage, Fatal, GitError, Quit
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.options import Options, parse_options
from agentsandbox.git.pretty import color_code
from agentsandbox.git.repository import global_files, load_config
from agentsandbox.git.texts import text_search
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

USAGES = {
    "config": """
git config [<options>]

Config file location
    --global              use the user's file
    --system              use the system's file
    --local               use the repository's file
    --worktree            use the worktree's file
    -f, --file <file>     use this file
    --blob <blob-id>      read from an object

Action
    --get                 print a value: name [value-pattern]
    --get-all             print all values: key [value-pattern]
    --get-regexp          print the values of keys that match: name-regex [value-pattern]
    --get-urlmatch        print the value for a URL: section[.var] URL
    --replace-all         replace all values: name value [value-pattern]
    --add                 add a value: name value
    --unset               remove a value: name [value-pattern]
    --unset-all           remove all values: name [value-pattern]
    --rename-section      rename a section: old-name new-name
    --remove-section      remove a section: name
    -l, --list            print all values
    --fixed-value         the pattern is the value itself
    -e, --edit            open an editor
    --get-color           find a colour: slot [default]
    --get-colorbool       find out about colours: slot [stdout-is-tty]

Type
    -t, --type <type>     the values have this type
    --bool                values are "true" or "false"
    --int                 values are numbers
    --bool-or-int         values are --bool or --int
    --bool-or-str         values are --bool or texts
    --path                values are paths
    --expiry-date         values are dates

Other
    -z, --null            end values with NUL
    --name-only           print only names
    --includes            follow includes
    --show-origin         print where a value is from
    --show-scope          print the scope of a value
    --default <value>     with --get: the value if there is none
""",
}

_ACTIONS = (
    "get", "get-all", "get-regexp", "get-urlmatch", "replace-all", "add", "unset", "unset-all",
    "rename-section", "remove-section", "list", "edit", "get-color", "get-colorbool",
)  # fmt: skip


def config(git: Invocation, words: list[str]) -> int:
    return _Configuring(git, words).run()


class _Configuring:
    def __init__(self, git: Invocation, words: list[str]) -> None:
        self.git = git
        self.options: Options = parse_options(USAGES["config"], words, stop=True)
        self.end = "\0" if self.options.on("null") else "\n"
        self.type = self.options.text("type")
        for name in ("bool", "int", "bool-or-int", "bool-or-str", "path", "expiry-date"):
            if self.options.on(name):
                self.type = name
        if self.type and self.type not in (
            "bool", "int", "bool-or-int", "bool-or-str", "path", "expiry-date", "color",
        ):  # fmt: skip
            raise Fatal(f"unrecognized --type argument, {self.type}")

    def run(self) -> int:
        # long: one action after the other
        options, operands = self.options, self.options.operands
        places = [
            name
            for name in ("global", "system", "local", "worktree", "file", "blob")
            if options.given(name)
        ]
        if len(places) > 1:
            raise BadUsage("only one config file at a time")
        actions = [name for name in _ACTIONS if options.on(name)]
        if len(actions) > 1:
            raise BadUsage("only one action at a time")
        action = actions[0] if actions else ""
        if options.given("local") and self.git.find_repository() is None:
            raise Fatal("--local can only be used inside a git repository")
        if not action:
            action = {1: "get", 2: "set", 3: "replace"}.get(len(operands), "")
            if not action:
                raise BadUsage
        try:
            return self._act(action, operands)
        except GitError as error:
            if isinstance(error, Fatal | BadUsage | Quit):
                raise
            self.git.error(error.message)
            return 1

    def _act(self, action: str, operands: list[str]) -> int:
        least, most = {
            "get": (1, 2), "get-all": (1, 2), "get-regexp": (1, 2), "set": (2, 2),
            "replace": (3, 3), "replace-all": (2, 3), "add": (2, 2), "unset": (1, 2),
            "unset-all": (1, 2), "rename-section": (2, 2), "remove-section": (1, 1),
            "list": (0, 0), "edit": (0, 0), "get-color": (1, 2), "get-colorbool": (1, 2),
            "get-urlmatch": (2, 2),
        }[action]  # fmt: skip
        if not least <= len(operands) <= most:
            counts = str(least) if least == most else f"from {least} to {most}"
            raise BadUsage(f"wrong number of arguments, should be {counts}")
        work: dict[str, Callable[[list[str]], int]] = {
            "get": lambda words: self._get(words, all=False),
            "get-all": lambda words: self._get(words, all=True),
            "get-regexp": self._get_regexp, "list": lambda words: self._list(),
            "set": lambda words: self._set(words[0], words[1]),
            "replace": lambda words: self._set(words[0], words[1], words[2]),
            "replace-all": lambda words: self._set(words[0], words[1], *words[2:], every=True),
            "add": lambda words: self._set(words[0], words[1], add=True),
            "unset": lambda words: self._unset(words, every=False),
            "unset-all": lambda words: self._unset(words, every=True),
            "rename-section": lambda words: self._rename(words[0], words[1]),
            "remove-section": lambda words: self._rename(words[0], None),
            "edit": lambda words: self._edit(), "get-color": self._color,
            "get-colorbool": self._color_bool, "get-urlmatch": self._url_match,
        }  # fmt: skip
        return work[action](operands)

    # where

    def _place(self) -> str | None:
        """Return the one file that was chosen, None for all."""
        options, git = self.options, self.git
        if options.on("global"):
            files = list(global_files(git))
            if not files:
                raise Fatal("$HOME not set")
            existing = [path for path in files if git.fs.exists(path)]
            if files[-1] not in existing and existing:
                return existing[-1]
            return files[-1]
        if options.on("system"):
            return git.env.get("GIT_CONFIG_SYSTEM", "/etc/gitconfig")
        if options.on("local"):
            return f"{git.repository.common}/config"
        if options.on("worktree"):
            if not git.config.flag("extensions.worktreeconfig"):
                return f"{git.repository.common}/config"
            return f"{git.repository.folder}/config.worktree"
        if options.given("file"):
            name = options.text("file")
            return "-" if name == "-" else git.path(name)
        if git.env.get("GIT_CONFIG"):
            return git.path(git.env["GIT_CONFIG"])
        return None

    def _target(self) -> str:
        place = self._place()
        if place is not None:
            return place
        repository = self.git.find_repository()
        if repository is None:
            raise Fatal("not in a git directory")
        return f"{repository.common}/config"

    def _config(self) -> Config:
        """Return the values to look at."""
        git, options = self.git, self.options
        if options.given("blob"):
            from agentsandbox.git.revisions import resolve

            name = options.text("blob")
            text = git.repository.objects.blob(resolve(git, name))
            found = Config(git.fs, git.home, "", lambda: "")
            found.add_text(
                _text(text), f"blob:{name}", "command", f"blob {name}", "", includes=False
            )
            return found
        place = self._place()
        if place is None:
            return load_config(git, git.find_repository())
        found = Config(git.fs, git.home, "", lambda: "")
        scope = next(
            (name for name in ("global", "system", "local", "worktree") if options.on(name)),
            "command",
        )
        includes = options.on("includes")
        if place == "-":
            found.add_text(
                _text(git.read_input()),
                "standard input:",
                scope,
                "standard input",
                "",
                includes=includes,
            )
            return found
        shown = place
        if options.given("file"):
            shown = options.text("file")
        elif options.on("local"):
            shown = f"{git.repository.shown_folder}/config"
        if not found.add_file(place, scope, shown, includes=includes) and not options.on("local"):
            if options.given("file") or options.on("global") or options.on("system"):
                if options.on("list"):
                    raise Fatal(f"unable to read config file '{shown}': No such file or directory")
        return found

    # printing

    def _typed(self, value: Value) -> str:
        text, key = value.text, value.key
        if not self.type:
            return text or ""
        if self.type == "bool":
            return "true" if as_bool(text, key) else "false"
        if self.type == "int":
            return str(as_int(text or "", key, value.origin))
        if self.type in ("bool-or-int", "bool-or-str"):
            if self.type == "bool-or-int" and text and re.fullmatch(r"[+-]?\d+[kmgKMG]?", text):
                return str(as_int(text, key))
            found = word_as_bool(text)
            if found is None or (self.type == "bool-or-str" and text and text.isdigit()):
                if self.type == "bool-or-str":
                    return text or ""
                raise Fatal(f"bad boolean config value '{text}' for '{key}'")
            return "true" if found else "false"
        if self.type == "path":
            config = Config(self.git.fs, self.git.home, "", lambda: "")
            return config.expand(text or "")
        if self.type == "color":
            code = color_code(text or "")
            if code is None:
                raise GitError(f"invalid color value: {text}")
            return code
        from agentsandbox.git.dates import approxidate

        return str(approxidate(text or "", self.git.now, self.git.tz))

    def _line(self, value: Value, *, name: bool, between: str) -> str:
        out = ""
        if self.options.on("show-scope"):
            out += value.scope + ("\0" if self.end == "\0" else "\t")
        if self.options.on("show-origin"):
            out += value.origin + ("\0" if self.end == "\0" else "\t")
        if name:
            out += value.key
            if self.options.on("name-only"):
                return out + self.end
        if not name or value.text is not None:
            out += (between if name else "") + self._typed(value)
        elif self.type:
            out += between + self._typed(value)
        return out + self.end

    def _print(self, values: list[Value], *, name: bool, between: str = " ") -> None:
        for value in values:
            self.git.write(encode(self._line(value, name=name, between=between)))

    def _list(self) -> int:
        between = "\n" if self.end == "\0" else "="
        self._print(self._config().values, name=True, between=between)
        return 0

    def _pattern(self, words: list[str], at: int) -> Callable[[str], bool]:
        if len(words) <= at:
            return lambda text: True
        return self._matcher(words[at])

    def _matcher(self, pattern: str) -> Callable[[str], bool]:
        if self.options.on("fixed-value"):
            return lambda text: text == pattern
        negated = pattern.startswith("!")
        try:
            search = text_search(pattern[negated:], self.git.budget, extended=True)
        except Fatal:
            raise GitError(f"invalid pattern: {pattern[negated:]}", 6) from None
        return lambda text: search(encode(text)) != negated

    def _get(self, words: list[str], *, all: bool) -> int:
        key = normal_key(words[0])
        matches = self._pattern(words, 1)
        values = [
            value
            for value in self._config().values
            if value.key == key and matches(value.text or "")
        ]
        if not values:
            if self.options.given("default"):
                made = Value(key, self.options.text("default"), "command line:", "command", 0, 0)
                self._print([made], name=False)
                return 0
            return 1
        self._print(values if all else values[-1:], name=False)
        return 0

    def _get_regexp(self, words: list[str]) -> int:
        try:
            search = text_search(_lowered(words[0]), self.git.budget, extended=True)
        except Fatal:
            self.git.error(f"invalid key pattern: {words[0]}")
            return 6
        matches = self._pattern(words, 1)
        values = [
            value
            for value in self._config().values
            if search(encode(value.key)) and matches(value.text or "")
        ]
        self._print(values, name=True, between="\n" if self.end == "\0" else " ")
        return 0 if values else 1

    def _url_match(self, words: list[str]) -> int:
        section, _, name = words[0].partition(".")
        best: dict[str, tuple[int, Value]] = {}
        for value in self._config().values:
            first, _, rest = value.key.partition(".")
            url, dot, last = rest.rpartition(".")
            if first != section.lower() or (name and last != name.lower()):
                continue
            if dot and not words[1].startswith(url.rstrip("/")):
                continue
            if last not in best or len(url) >= best[last][0]:
                best[last] = (len(url), value)
        for last in sorted(best):
            value = best[last][1]
            text = self._typed(value)
            self.git.write(
                encode(
                    f"{text}{self.end}" if name else f"{section.lower()}.{last} {text}{self.end}"
                )
            )
        return 0 if best else 1

    # changing

    def _given_value(self, text: str) -> str:
        if self.type in ("bool", "int", "bool-or-int"):
            return (
                self._typed(Value("", text, "", "", 0, 0))
                if self.type != "bool"
                else ("true" if as_bool(text, self.options.operands[0]) else "false")
            )
        return text

    def _change(self, edit_text: Callable[[str], tuple[str, int]]) -> int:
        """Change the chosen file by a function from text to text and a status."""
        git = self.git
        if self.options.given("blob"):
            raise Fatal("writing config blobs is not supported")
        path = self._target()
        if path == "-":
            raise Fatal("writing to stdin is not supported")
        for _ in range(8):
            if not (git.fs.exists(path, follow=False) and git.fs.stat(path, follow=False).is_link):
                break
            path = posixpath.join(posixpath.dirname(path), git.fs.readlink(path))
        before = read_text(git.fs, path)
        after, status = edit_text(before)
        if status == 0 and (after != before or not git.fs.exists(path)):
            folder = path.rpartition("/")[0]
            if not git.fs.is_dir(folder or "/"):
                raise GitError(f"could not lock config file {path}: No such file or directory", 255)
            lock = f"{path}.lock"
            if git.fs.exists(lock, follow=False):
                self.git.error(f"could not lock config file {_shown(git, path)}: File exists")
                return 255
            permissions = (
                git.fs.stat(path).permissions if git.fs.exists(path) else (0o666 & ~git.ctx.umask)
            )
            git.fs.write_bytes(lock, encode(after), permissions=permissions)
            git.fs.rename(lock, git.fs.realpath(path) if git.fs.exists(path) else path)
            git.forget_config()
        return status

    def _set(
        self, name: str, value: str, pattern: str | None = None, *, every: bool = False,
        add: bool = False,
    ) -> int:  # fmt: skip
        key = normal_key(name)
        text = self._given_value(value)
        matches = self._matcher(pattern) if pattern is not None else (lambda text: True)

        def change(before: str) -> tuple[str, int]:
            after, count = with_value(
                before, key, text, matches, replace_all=every, add=add, spelling=name
            )
            if count > 1 and not every:
                self.git.warn(f"{name} has multiple values")
                if pattern is None:
                    self.git.say(
                        "error: cannot overwrite multiple values with a single value\n"
                        f"       Use a regexp, --add or --replace-all to change {name}."
                    )
                return before, 5
            return after, 0

        return self._change(change)

    def _unset(self, words: list[str], *, every: bool) -> int:
        key = normal_key(words[0])
        matches = self._pattern(words, 1)

        def change(before: str) -> tuple[str, int]:
            after, count = with_value(before, key, None, matches, replace_all=every)
            if count == 0:
                return before, 5
            if count > 1 and not every:
                self.git.warn(f"{words[0]} has multiple values")
                return before, 5
            return after, 0

        return self._change(change)

    def _rename(self, old: str, new: str | None) -> int:
        if new is not None and not re.match(r"[A-Za-z0-9.-]+", new):
            self.git.error(f"invalid section name: {new}")
            return 1
        name, dot, rest = old.partition(".")

        def change(before: str) -> tuple[str, int]:
            after, count = rename_section(before, name.lower() + dot + rest, new)
            if not count:
                raise Fatal(f"no such section: {old}")
            return after, 0

        return self._change(change)

    def _edit(self) -> int:
        path = self._target()
        try:
            edit(self.git, path, path, message=False)
        except Quit:
            return 0
        return 0

    def _color(self, words: list[str]) -> int:
        text = self._config().get(normal_key(words[0])) if words[0] else ""
        if not text and len(words) > 1:
            text = words[1]
        code = color_code(text)
        if code is None:
            raise Fatal("unable to parse default color value")
        self.git.write(encode(code))
        return 0

    def _color_bool(self, words: list[str]) -> int:
        choice = self._config().get(words[0].lower()) or self._config().get("color.ui", "auto")
        terminal = words[1] == "true" if len(words) > 1 else self.git.is_terminal()
        on = choice == "always" or (choice in ("auto", "true") and terminal)
        if len(words) > 1:
            self.git.print("true" if on else "false")
            return 0
        return 0 if on else 1


def _text(data: bytes) -> str:
    from agentsandbox.kernel.streams import decode

    return decode(data)


def _shown(git: Invocation, path: str) -> str:
    repository = git.find_repository()
    if repository is not None and path == f"{repository.common}/config":
        return f"{repository.shown_folder}/config"
    return path


def _lowered(pattern: str) -> str:
    """Return a pattern of keys with the section and the name in lower case."""
    first, dot, rest = pattern.partition(".")
    middle, dot2, last = rest.rpartition(".")
    return first.lower() + dot + middle + dot2 + last.lower()


COMMANDS = {"config": config}
