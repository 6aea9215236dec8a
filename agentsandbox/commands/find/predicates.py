"""The options, tests and actions of `find` by name: each reads its arguments."""

from __future__ import annotations

from agentsandbox.commands._files.names import quote
from agentsandbox.commands.find import actions, tests
from agentsandbox.commands.find.tests import BadArgumentError
from agentsandbox.errors import CommandError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentsandbox.commands.find.search import Search
    from agentsandbox.commands.find.visits import Test, Visit

    Maker = Callable[["Predicates", str], Test]


_true = tests.EntryTest()


def _false(_visit: Visit) -> bool:
    return False


class Predicates:
    """A reader of predicates. Global options take effect on the search at once."""

    def __init__(self, search: Search, words: Sequence[str]) -> None:
        self.search = search
        self.words = words
        self.position = 0
        self.last = ""
        """The last predicate."""
        self.acts = False
        """Whether an action was read, so that -print is not implied."""
        self.regex_type = "findutils-default"
        self.midnight = False
        """Whether -daystart counts times from midnight."""
        self._deletes = self._prunes = self._asked_for_depth = False

    def next_word(self) -> str | None:
        """Return the next word, or None at the end."""
        if self.position >= len(self.words):
            return None
        self.position += 1
        return self.words[self.position - 1]

    def argument(self, name: str) -> str:
        """Return the argument of a predicate."""
        word = self.next_word()
        if word is None:
            raise CommandError(f"missing argument to `{name}'")
        return word

    def compile(self, name: str) -> Test:
        """Read the arguments of the predicate `name` and return its closure."""
        maker = _MAKERS.get(name[1:])
        if maker is None and len(name) == 8 and name.startswith("-newer"):
            made = self._newer(name)
        elif maker is None:
            raise CommandError(f"unknown predicate `{name}'")
        else:
            made = maker(self, name)
        self.last = name
        if self._deletes and self._prunes and not self._asked_for_depth:
            raise CommandError(
                "The -delete action automatically turns on -depth, but -prune does nothing when "
                "-depth is in effect.  If you want to carry on anyway, just explicitly use the "
                "-depth option."
            )
        return made

    # options

    def _depth_limit(self, name: str) -> Test:
        text = self.argument(name)
        if not (text.isascii() and text.isdecimal() and len(text) < 10):
            raise CommandError(
                f"Expected a positive decimal integer argument to {name}, but got {quote(text)}"
            )
        if name == "-maxdepth":
            self.search.max_depth = int(text)
        else:
            self.search.min_depth = int(text)
        return _true

    def _depth(self, _name: str) -> Test:
        self._asked_for_depth = self.search.depth_first = True
        return _true

    def _daystart(self, _name: str) -> Test:
        self.midnight = True
        return _true

    def _follow(self, _name: str) -> Test:
        self.search.follow = "L"
        return _true

    def _regextype(self, name: str) -> Test:
        kind = self.argument(name)
        if kind not in tests.REGEX_TYPES:
            known = ", ".join([quote(each) for each in tests.REGEX_TYPES])
            raise CommandError(
                f"Unknown regular expression type {quote(kind)}; valid types are {known}."
            )
        self.regex_type = kind
        return _true

    def _ignored(self, _name: str) -> Test:
        return _true

    # tests

    def _pattern(self, name: str, make: Callable[..., Test], *, ignore_case: bool) -> Test:
        return make(self.argument(name), ignore_case=ignore_case)

    def _regex(self, name: str) -> Test:
        return tests.regex(
            self.search, self.argument(name), self.regex_type, ignore_case=name == "-iregex"
        )

    def _size(self, name: str) -> Test:
        text = self.argument(name)
        if not text:
            raise CommandError("invalid null argument to -size")
        if text[-1] not in "0123456789bcwkMG":
            raise CommandError(f"invalid -size type `{text[-1]}'")
        try:
            return tests.size(text)
        except BadArgumentError:
            raise CommandError(f"Invalid argument `{text}' to -size") from None

    def _age(self, name: str) -> Test:
        """Make `-atime`, `-cmin` or one of the others like them."""
        unit = 60 if name.endswith("min") else 86400
        return tests.age(
            self.search, name[1], self.argument(name), unit=unit, midnight=self.midnight
        )

    def _newer(self, name: str) -> Test:
        which, other = name[6], name[7]
        if which not in "aBcm" or other not in "aBcmt":
            raise CommandError(f"invalid predicate `{name}'")
        if self.position >= len(self.words):
            raise CommandError(f"The {quote(name)} test needs an argument")
        return self._newer_than(which, other, name)

    def _newer_than(self, which: str, other: str, name: str) -> Test:
        return tests.newer(which, tests.reference_time(self.search, other, self.argument(name)))

    def _user(self, name: str) -> Test:
        text = self.argument(name)
        number = self.search.owners.user_number(text)
        if number is None:
            raise CommandError(
                f"{quote(text)} is not the name of a known user"
                if text
                else "The argument to -user should not be empty"
            )
        return lambda visit: visit.info.uid == number

    def _group(self, name: str) -> Test:
        text = self.argument(name)
        number = self.search.owners.group_number(text)
        if number is None:
            if not text:
                raise CommandError("argument to -group is empty, but should be a group name")
            raise CommandError(f"{quote(text)} is not the name of an existing group")
        return lambda visit: visit.info.gid == number

    def _number(self, name: str, value: Callable[[Visit], int]) -> Test:
        matches = tests.compare(self.argument(name))
        return lambda visit: matches(value(visit))

    def _fstype(self, name: str) -> Test:
        return _true if self.argument(name) == "ext4" else _false

    # actions

    def _act(self, test: Test) -> Test:
        self.acts = True
        return test

    def _fprintf(self, name: str) -> Test:
        file = self.argument(name)
        output = actions.open_output(self.search, file)
        format = self.next_word()
        if format is None:
            raise CommandError(f"invalid argument `{file}' to `{name}'")
        return self._act(actions.print_formatted(self.search, output, format))

    def _prune(self, _name: str) -> Test:
        self._prunes = True
        return actions.prune

    def _delete(self, _name: str) -> Test:
        self._deletes = True
        self.search.depth_first = True
        return self._act(actions.delete(self.search))

    def _exec(self, name: str) -> Test:
        """Read words up to ";", or up to "+" directly after "{}"."""
        start = position = self.position
        words = self.words
        asks = name.startswith("-ok")
        many = False
        while position < len(words) and words[position] != ";":
            if not asks and position > start and words[position - 1 : position + 1] == ["{}", "+"]:
                many = True
                break
            position += 1
        if position >= len(words):
            end = words.index("+", start) if "+" in words[start:] and not asks else start
            if end > start and "{}" in words[end - 1]:
                raise CommandError(
                    f"In {quote(f'{name} ... {{}} +')} the {quote('{}')} must appear by itself, "
                    f"but you specified {quote(words[end - 1])}"
                )
            raise CommandError(f"missing argument to `{name}'")
        if position == start:
            raise BadArgumentError
        self.position = position + 1
        given = list(words[start:position])
        in_directory = name.endswith("dir")
        if not many:
            return self._act(
                actions.execute(self.search, given, in_directory=in_directory, ask=asks)
            )
        if any("{}" in word for word in given[:-1]):
            raise CommandError(f"Only one instance of {{}} is supported with {name} ... +")
        return self._act(actions.execute_many(self.search, given[:-1], in_directory=in_directory))


_OPTIONS: dict[str, Maker] = {
    "maxdepth": Predicates._depth_limit,
    "mindepth": Predicates._depth_limit,
    "depth": Predicates._depth,
    "d": Predicates._depth,
    "daystart": Predicates._daystart,
    "follow": Predicates._follow,
    "regextype": Predicates._regextype,
    "nowarn": Predicates._ignored,
    "noleaf": Predicates._ignored,
    "ignore_readdir_race": Predicates._ignored,
    "noignore_readdir_race": Predicates._ignored,
    "mount": Predicates._ignored,
    "xdev": Predicates._ignored,
    "true": lambda _, __: _true,
    "false": lambda _, __: _false,
}
_TESTS: dict[str, Maker] = {
    "name": lambda self, name: self._pattern(name, tests.name, ignore_case=False),
    "iname": lambda self, name: self._pattern(name, tests.name, ignore_case=True),
    "path": lambda self, name: self._pattern(name, tests.path, ignore_case=False),
    "wholename": lambda self, name: self._pattern(name, tests.path, ignore_case=False),
    "ipath": lambda self, name: self._pattern(name, tests.path, ignore_case=True),
    "iwholename": lambda self, name: self._pattern(name, tests.path, ignore_case=True),
    "lname": lambda self, name: self._pattern(name, tests.link_text, ignore_case=False),
    "regex": Predicates._regex,
    "iregex": Predicates._regex,
    "type": lambda self, name: tests.types(name, self.argument(name), target=False),
    "xtype": lambda self, name: tests.types(name, self.argument(name), target=True),
    "size": Predicates._size,
    "empty": lambda _, __: tests.empty,
    "perm": lambda self, name: tests.permissions(self.argument(name)),
    "newer": lambda self, name: self._newer_than("m", "m", name),
    "anewer": lambda self, name: self._newer_than("a", "m", name),
    "cnewer": lambda self, name: self._newer_than("c", "m", name),
    **{f"{which}{unit}": Predicates._age for which in "amc" for unit in ("time", "min")},
    "used": lambda self, name: tests.used(self.argument(name)),
    "user": Predicates._user,
    "group": Predicates._group,
    "uid": lambda self, name: self._number(name, lambda visit: visit.info.uid),
    "gid": lambda self, name: self._number(name, lambda visit: visit.info.gid),
    "links": lambda self, name: self._number(name, lambda visit: visit.info.nlink),
    "inum": lambda self, name: self._number(name, lambda visit: visit.info.ino),
    "nouser": lambda self, _: lambda visit: not self.search.owners.has_user(visit.info.uid),
    "nogroup": lambda self, _: lambda visit: not self.search.owners.has_group(visit.info.gid),
    "samefile": lambda self, name: tests.same_file(self.search, self.argument(name)),
    "fstype": Predicates._fstype,
    "readable": lambda _, __: lambda visit: visit.fs.access(visit.absolute, 4),
    "writable": lambda _, __: lambda visit: visit.fs.access(visit.absolute, 2),
    "executable": lambda _, __: lambda visit: visit.fs.access(visit.absolute, 1),
}
_ACTIONS: dict[str, Maker] = {
    "print": lambda self, _: self._act(actions.print_name(self.search.stdout, "\n")),
    "print0": lambda self, _: self._act(actions.print_name(self.search.stdout, "\0")),
    "printf": lambda self, name: self._act(
        actions.print_formatted(self.search, self.search.stdout, self.argument(name))
    ),
    "ls": lambda self, _: self._act(actions.ls(self.search, self.search.stdout)),
    "fprint": lambda self, name: self._act(
        actions.print_name(actions.open_output(self.search, self.argument(name)), "\n")
    ),
    "fprint0": lambda self, name: self._act(
        actions.print_name(actions.open_output(self.search, self.argument(name)), "\0")
    ),
    "fprintf": Predicates._fprintf,
    "prune": Predicates._prune,
    "quit": lambda _, __: actions.quit_search,
    "delete": Predicates._delete,
    "exec": Predicates._exec,
    "execdir": Predicates._exec,
    "ok": Predicates._exec,
    "okdir": Predicates._exec,
}
_MAKERS = _OPTIONS | _TESTS | _ACTIONS
