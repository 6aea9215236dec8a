"""`declare`, `typeset` and `local`"""

from __future__ import annotations

from agentsandbox.errors import CommandError, ShellSyntaxError
from agentsandbox.kernel.quoting import declare_quote_double
from agentsandbox.shell.builtins import UsageFailure, define, parse_letters
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.expansion.references import split_assignment, split_reference
from agentsandbox.shell.expansion.transformations import attribute_letters, format_array
from agentsandbox.shell.expansion.variables import (
    ARRAY,
    ASSOCIATIVE,
    CAPITALIZE,
    CASES,
    EXPORT,
    GIVEN,
    INTEGER,
    LOWER,
    NAMEREF,
    READONLY,
    SPECIAL,
    TRACE,
    UNSET,
    UPPER,
    AssociativeArray,
    IndexedArray,
    NameReference,
    is_name,
)
from agentsandbox.shell.interpreter.assignments import BoundAssignment, bind_assignment
from agentsandbox.shell.interpreter.functions import export_function
from agentsandbox.shell.interpreter.listing_variables import listed_value
from agentsandbox.shell.syntax.braced import NAME
from agentsandbox.shell.syntax.nodes import SimpleCommand
from agentsandbox.shell.syntax.parser import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell

    Argument = str | BoundAssignment

_FLAGS = {
    "a": ARRAY,
    "A": ASSOCIATIVE,
    "i": INTEGER,
    "l": LOWER,
    "u": UPPER,
    "c": CAPITALIZE,
    "n": NAMEREF,
    "r": READONLY,
    "t": TRACE,
    "x": EXPORT,
}
_ARRAYS = ARRAY | ASSOCIATIVE
_USAGE = "declare [-aAfFgiIlnrtux] [name[=value] ...] or declare -p [-aAfFilnrtux] [name ...]"


def parse_argument(
    shell: Shell, argument: Argument, on: int = 0, *, local: bool = False, lists: bool = True
) -> tuple[str, BoundAssignment | None]:
    """Return (name, assignment) of an argument. A text that was expanded from a word may be an
    assignment, too.

    Such a text is parsed again: its subscript is expanded, and (…) is an array literal if the name
    is an array.
    """
    if isinstance(argument, BoundAssignment):
        if argument.subscript is not None:
            argument.subscript = shell.key(
                argument.name, argument.subscript, associative=on & ASSOCIATIVE != 0
            )
        return argument.name, argument
    parts = split_assignment(argument)
    if parts is None:
        return argument, None
    name, subscript, operator, value = parts
    raw = subscript
    if subscript is not None:
        subscript = shell.key(name, subscript, associative=on & ASSOCIATIVE != 0)
    if lists and value.startswith("(") and value.endswith(")"):
        bound = None
        fresh = local and name not in shell.variables.scopes[-1]
        if subscript is None or on & (ARRAY | ASSOCIATIVE):
            bound = array_from_text(shell, name, value, operator == "+=", on, fresh)
        elif name not in shell.values and not fresh:
            shell.complain(f"warning: {argument}: quoted compound array assignment deprecated")
        if bound is not None:
            return name, bound
    return name, BoundAssignment(name, value, subscript, operator == "+=", argument, raw)


def array_from_text(
    shell: Shell, name: str, value: str, append: bool, on: int, fresh: bool = False
) -> BoundAssignment | None:
    """Parse "(1 2)" of declare "a=(1 2)" if the name is an array; None for other texts."""
    if not (on if fresh else shell.attributes.get(name, 0) | on) & (ARRAY | ASSOCIATIVE):
        return None
    try:
        commands = parse(f"{name}{'+' if append else ''}={value}").commands
    except ShellSyntaxError:
        return None
    node = commands[0] if len(commands) == 1 else None
    if isinstance(node, SimpleCommand) and len(node.assignments) == 1 and not node.words:
        return bind_assignment(node.assignments[0])(shell, on & ASSOCIATIVE != 0)
    return None


@define("declare", _USAGE, declares=True)
def declare(shell: Shell, words: list[Argument]) -> int:
    """Set values and attributes of variables."""
    return _declare(shell, words, local=is_local(shell))


@define(
    "typeset",
    "typeset [-aAfFgiIlnrtux] name[=value] ... or typeset -p [-aAfFilnrtux] [name ...]",
    declares=True,
)
def typeset(shell: Shell, words: list[Argument]) -> int:
    """Set values and attributes of variables."""
    return _declare(shell, words, local=is_local(shell))


@define("local", "local [option] name[=value] ...", declares=True)
def local(shell: Shell, words: list[Argument]) -> int:
    """Make variables local to a function."""
    if not shell.variables.scopes:
        for word in words[1:]:
            if isinstance(word, BoundAssignment) and isinstance(word.value, list):
                word.apply(shell)  # lists are assigned before the command looks where it is
        raise CommandError("can only be used in a function", 1)
    return _declare(shell, words, local=True)


def read_options(
    shell: Shell,
    words: list[Argument],
    texts: list[str],
    letters: str,
    *,
    local: bool = False,
    plus: bool = False,
) -> tuple[dict[str, str], int]:
    """As `parse_letters`, but assign array literals even if an option is wrong."""
    try:
        return parse_letters(texts, letters, plus=plus)
    except UsageFailure:
        assign_lists(shell, words, local=local)
        raise


def assign_lists(shell: Shell, words: list[Argument], *, local: bool) -> None:
    """Assign the array literals among the arguments, as bash does before it reads options."""
    letters = "".join(
        [word for word in words[1:] if isinstance(word, str) and word.startswith("-")]
    )
    on = 0
    for letter in "aAiluc":
        on |= _FLAGS[letter] if letter in letters else 0
    for word in words[1:]:
        if isinstance(word, BoundAssignment) and isinstance(word.value, list):
            declare_one(
                shell, word, on, local=local and "g" not in letters, to_global="g" in letters
            )


def _names(
    shell: Shell, words: list[Argument], arguments: list[Argument], *, local: bool
) -> list[Argument]:
    """Return the arguments of a command that prints; array literals are assigned even there."""
    if all(isinstance(argument, str) for argument in arguments):
        return arguments
    assign_lists(shell, words, local=local)
    return [
        argument.name
        if isinstance(argument, BoundAssignment) and isinstance(argument.value, list)
        else argument
        for argument in arguments
    ]


def is_local(shell: Shell) -> bool:
    """Whether `declare` makes local variables here."""
    return bool(shell.variables.scopes) and any(frame.is_function for frame in shell.stack.frames)


def _declare(shell: Shell, words: list[Argument], *, local: bool) -> int:
    texts = [word if isinstance(word, str) else word.word() for word in words]
    name = texts[0]
    options, position = read_options(shell, words, texts, "aAfFgiIlnrtuxpc", local=local, plus=True)
    arguments = words[position:]
    if not options.keys().isdisjoint(("f", "F", "p", "+p")):
        arguments = _names(shell, words, arguments, local=local)
    if "f" in options or "F" in options:
        return _functions(shell, arguments, options)
    if "p" in options or "+p" in options:
        return _print(shell, arguments, options, local and name == "local", name)
    if not arguments:
        _list(shell, options, local and name == "local")
        return 0
    on = off = 0
    for letter in options:
        if letter.startswith("+"):
            off |= _FLAGS.get(letter[1:], 0)
        else:
            on |= _FLAGS.get(letter, 0)
    if "g" in options:
        local = False
    status = 0
    for argument in arguments:
        if name == "local" and argument == "-":
            shell.keep_options()
            continue
        if (
            on & NAMEREF
            and on & INTEGER
            and not (isinstance(argument, str) and "=" not in argument)
        ):
            target = argument.partition("=")[2] if isinstance(argument, str) else argument.value
            if isinstance(target, str) and split_reference(target) is None:
                shell.complain(f"{name}: `{target}': invalid variable name for name reference")
            status = 1  # bash declares nothing then, and does not say so where the target is a name
            continue
        try:
            declare_one(
                shell,
                argument,
                on,
                off,
                local=local,
                to_global="g" in options,
                inherit="I" in options,
                command=name,
            )
        except ExpansionError as error:
            if error.ends:
                raise
            if error.readonly and name == "local":
                shell.complain(f"local: {error.message}")
            else:
                shell.complain(f"{name}: {error.message}" if error.readonly else error.message)
            status = 1
        except CommandError as error:
            shell.complain(f"{name}: {error.message}")
            status = 1
    return status


def declare_one(
    shell: Shell,
    argument: Argument,
    on: int,
    off: int = 0,
    *,
    local: bool,
    to_global: bool = False,
    inherit: bool = False,
    command: str = "declare",
    lists: bool = True,
) -> None:
    """Give one name attributes and, if there is one, a value.

    `lists` is whether a text like "(1 2)" may be the list of an array.
    """
    declaration = _Declaration(shell, argument, on, off, local=local, command=command, lists=lists)
    if local:
        declaration.make_local(inherit=inherit)
    elif to_global and _declare_global(shell, declaration.name, argument, on, off):
        return
    if on & (EXPORT | READONLY) and not local:
        shell.variables.keep(declaration.name)  # what stands before the command lasts
    declaration.make()


class _Declaration:
    """One argument of `declare` and its kin.

    name            the variable, once name references are followed
    assignment      its value, None for a mere name
    on, off         attributes that it gets and loses
    is_new_local    whether the function had no local of the name
    """

    def __init__(
        self,
        shell: Shell,
        argument: Argument,
        on: int,
        off: int,
        *,
        local: bool,
        command: str,
        lists: bool,
    ) -> None:
        self.shell = shell
        self.argument = argument
        self.local = local
        self.command = command
        if on & NAMEREF and on & _ARRAYS:
            on &= ~NAMEREF
        name, assignment = parse_argument(shell, argument, on, local=local, lists=lists)
        if assignment is None and "[" in name:  # declare a[3]: the array is meant
            found = split_reference(name)
            if found is None:
                raise CommandError(f"`{name}': not a valid identifier")
            if on & NAMEREF:
                raise CommandError(f"{name}: reference variable cannot be an array")
            name = found[0]
            known = not local or name in shell.variables.scopes[-1]
            is_associative = known and shell.variables.is_associative(name)
            on |= 0 if on & ASSOCIATIVE or is_associative else ARRAY
        if NAME.fullmatch(name) is None:
            shown = argument if isinstance(argument, str) else argument.source
            raise CommandError(f"`{shown}': not a valid identifier")
        self.is_new_local = local and name not in shell.variables.scopes[-1]
        # declare -a a="$text" reads an expanded text as an array literal too
        if (
            assignment is not None
            and lists
            and isinstance(assignment.value, str)
            and assignment.subscript is None
            and assignment.value.startswith("(")
            and assignment.value.endswith(")")
        ):
            value, append = assignment.value, assignment.append
            literal = array_from_text(shell, name, value, append, on, self.is_new_local)
            assignment = literal or assignment
        self.name = name
        self.assignment = assignment
        self.on = on
        self.off = off

    @property
    def flags(self) -> int:
        """The attributes that the variable has."""
        return self.shell.attributes.get(self.name, 0)

    def follow(self) -> None:
        """Continue with the variable that the name reference leads to."""
        self.name = self.shell.variables.resolve(self.name) or self.name
        if self.assignment is not None:
            self.assignment.name = self.name

    def make_local(self, *, inherit: bool) -> None:
        """Make the name local to the function; a new array loses the value from outside."""
        shell, on, assignment = self.shell, self.on, self.assignment
        is_own = self.name in shell.variables.scopes[-1]
        if is_own and self.flags & NAMEREF and not (on | self.off) & NAMEREF:
            self.follow()
        _make_local(shell, self.name, inherit, on)
        as_array = on & _ARRAYS or (
            assignment is not None
            and (isinstance(assignment.value, list) or assignment.subscript is not None)
        )
        text = shell.values.get(self.name)
        if as_array and isinstance(text, (str, int)) and not self.flags & READONLY:
            inherits = inherit or shell.options.shopt["localvar_inherit"]
            shell.values[self.name] = (
                AssociativeArray({"0": str(text)} if inherits else None)
                if on & ASSOCIATIVE
                else IndexedArray.of([str(text)] if inherits else [])
            )
            shell.variables.add(self.name, ASSOCIATIVE if on & ASSOCIATIVE else ARRAY)

    def make(self) -> None:
        """Change the attributes, and assign."""
        shell, variables = self.shell, self.shell.variables
        before = shell.values.get(self.name)
        was_reference = isinstance(before, NameReference)
        if isinstance(before, NameReference) and self.flags & READONLY and not self.is_new_local:
            assigns = self.assignment is not None and not before.target
            if assigns or self.off & NAMEREF or (self.on & NAMEREF and self.off & READONLY):
                raise CommandError(f"{self.name}: readonly variable")
        if self.on & NAMEREF or (self.off & NAMEREF and was_reference):
            try:
                _reference(shell, self.name, self.assignment, self.on, self.off, self.command)
            except CommandError:
                if self.is_new_local:
                    variables.unmake_local(self.name)
                raise
            target = before.shown if isinstance(before, NameReference) and before.target else ""
            if not self.off & NAMEREF or not target or not (self.on or self.assignment):
                return
            self.off &= ~NAMEREF  # the other attributes are for what it named
            self.name = target
            if self.assignment is not None:
                self.assignment.name = self.name
        if self.on & _ARRAYS and isinstance(before, NameReference) and not before.target:
            variables.drop(self.name, NAMEREF)
            shell.values.pop(self.name, None)
        if not self.local and self.flags & NAMEREF and not self.on & NAMEREF:
            self.follow()
        self._check_conversions()
        if (self.on & CASES).bit_count() > 1:  # contradictions cancel each other
            self.on &= ~CASES
            self.off |= CASES
        is_new = self.name not in shell.values
        self._change_attributes()
        if not self._assign(is_new):
            return
        if self.on & READONLY:
            variables.add(self.name, READONLY)
        if self.on & ARRAY and self.on & ASSOCIATIVE:
            raise CommandError(f"{self.name}: cannot convert associative to indexed array")
        exports = shell.options.allexport and self.assignment is not None
        if exports and not self.flags & _ARRAYS:
            variables.add(self.name, EXPORT)

    def _check_conversions(self) -> None:
        """Raise `CommandError` for a conversion that bash refuses."""
        on, off, name = self.on, self.off, self.name
        if off & READONLY and self.flags & READONLY:
            raise CommandError(f"{name}: readonly variable")
        argument, assignment = self.argument, self.assignment
        is_literal = not isinstance(argument, str) and isinstance(argument.value, list)
        if off & ARRAY and assignment is not None and is_literal:
            assignment.apply(self.shell)
        flags = self.flags
        has_subscript = assignment is not None and assignment.subscript is not None
        if flags & off & _ARRAYS or (off & ARRAY and has_subscript):
            raise CommandError(f"{name}: cannot destroy array variables in this way")
        if on & ASSOCIATIVE and flags & ARRAY:
            raise CommandError(f"{name}: cannot convert indexed to associative array")
        if on & ARRAY and not on & ASSOCIATIVE and flags & ASSOCIATIVE:
            raise CommandError(f"{name}: cannot convert associative to indexed array")

    def _change_attributes(self) -> None:
        """Add and drop attributes. READONLY comes last, after the assignment."""
        variables, name, assignment = self.shell.variables, self.name, self.assignment
        kinds = self.on & ~(READONLY | _ARRAYS)
        is_readonly = self.flags & READONLY != 0
        if kinds & CASES:
            variables.drop(name, CASES)
        if self.on & _ARRAYS:
            if is_readonly and assignment is not None:
                raise ExpansionError(f"{name}: readonly variable", readonly=True)
            if not isinstance(variables.lookup(name), (IndexedArray, AssociativeArray)):
                self._become_array()
        if is_readonly and assignment is not None:
            kinds &= INTEGER | CASES if isinstance(assignment.value, list) else 0
        if kinds:
            variables.add(name, kinds)
        if self.off:
            variables.drop(name, self.off)

    def _become_array(self) -> None:
        """Turn a scalar into an array; its text becomes the first element."""
        shell, variables, name = self.shell, self.shell.variables, self.name
        if self.assignment is None:
            _declare_array(shell, name, self.on)
        elif not isinstance(self.assignment.value, list) and variables.get(name) is None:
            is_associative = self.on & ASSOCIATIVE
            shell.values[name] = AssociativeArray() if is_associative else IndexedArray()
            variables.add(name, self.on & _ARRAYS)
        else:
            variables.array_for_writing(name, associative=bool(self.on & ASSOCIATIVE))

    def _assign(self, is_new: bool) -> bool:
        """Assign the value, or mark the name as declared; return whether to continue."""
        shell, variables, name = self.shell, self.shell.variables, self.name
        assignment, on = self.assignment, self.on
        if assignment is None:
            if name not in shell.values and name not in variables.readers:
                shell.values[name] = UNSET
            return True
        if assignment.subscript == "" and (
            not assignment.raw or variables.is_associative(name) or on & ASSOCIATIVE
        ):
            if is_new or variables.get(name) is not None:
                variables.array_for_writing(name, associative=bool(on & ASSOCIATIVE))
            elif not self.flags & _ARRAYS:
                variables.add(name, ARRAY)
            raise ExpansionError(f"{name}[{assignment.raw or ''}]: bad array subscript")
        if assignment.subscript is not None and on & READONLY:  # bash makes it so before it assigns
            variables.array_for_writing(name, associative=bool(on & ASSOCIATIVE))
            variables.add(name, READONLY)
            shell.complain(f"{name}: readonly variable")
            return False
        assignment.apply(shell)
        return True


def _declare_array(shell: Shell, name: str, on: int) -> None:
    """Declare an array without elements, which stays unset."""
    variables = shell.variables
    if variables.get(name) is not None:
        variables.array_for_writing(name, associative=bool(on & ASSOCIATIVE))
        return
    shell.values[name] = UNSET
    variables.add(name, on & (ARRAY | ASSOCIATIVE))


def _make_local(shell: Shell, name: str, inherit: bool, on: int) -> None:
    variables = shell.variables
    flags = shell.attributes.get(name, 0)
    if flags & READONLY and variables.globals_scope(name) is None:
        raise CommandError(f"{name}: readonly variable")
    depth, scope = next(
        (each for each in reversed(variables.temporary) if name in each[1]), (0, None)
    )
    value = shell.values.get(name)
    if not variables.make_local(name):
        return
    # an assignment in front of the function or of `local` itself: the local takes its place
    if scope is not None and depth == len(variables.scopes):
        variables.scopes[-1][name] = scope.pop(name)
        variables.add(name, GIVEN)
    if inherit or shell.options.shopt["localvar_inherit"]:
        if isinstance(value, (IndexedArray, AssociativeArray)):
            shell.values[name] = value.copy()
        return
    if scope is not None and isinstance(value, (str, int)) and not on & (ARRAY | ASSOCIATIVE):
        return
    if name in variables.writers or name in variables.readers:
        shell.values[name] = UNSET
        shell.attributes[name] = SPECIAL
        if name in variables.writers:
            variables.writers[name](shell, None)
        return
    shell.values[name] = UNSET
    if flags & EXPORT:
        shell.attributes[name] = EXPORT  # a local of an exported name is exported
    else:
        shell.attributes.pop(name, None)
    if flags & EXPORT:
        variables.drop(name, 0)
        variables.forget_environment()


def _declare_global(shell: Shell, name: str, argument: Argument, on: int, off: int) -> bool:
    """declare -g for a name that a local hides: change the value that the scope keeps."""
    scope = shell.variables.globals_scope(name)
    if scope is None:
        return False
    variables = shell.variables
    hidden = (shell.values.get(name), shell.attributes.get(name, 0))
    variables.restore({name: scope[name]})
    try:
        declare_one(shell, argument, on, off, local=False)
    finally:
        fresh: dict[str, tuple[object, int]] = {}
        variables.save_in(fresh, name)
        scope[name] = fresh[name]
        variables.restore({name: hidden})
    return True


def _target_of(
    shell: Shell, name: str, assignment: BoundAssignment | None, *, is_array: bool
) -> str | None:
    """Return the target of a name reference: the assigned value, or the present one, or None."""
    if assignment is not None:
        target = str(assignment.value)
        if not target:
            raise CommandError("`': not a valid identifier")
        return target
    if is_array:
        raise CommandError(f"{name}: reference variable cannot be an array")
    current = shell.values.get(name)
    if isinstance(current, NameReference):
        return current.target or None
    if current == "":
        raise CommandError("`': invalid variable name for name reference")
    return str(current) if isinstance(current, (str, int)) else None


def _reference(
    shell: Shell, name: str, assignment: BoundAssignment | None, on: int, off: int, command: str
) -> None:
    variables = shell.variables
    if off & NAMEREF:
        value = shell.values.get(name)
        if assignment is not None and not (isinstance(value, NameReference) and value.target):
            assignment.apply(shell)
        variables.drop(name, NAMEREF)
        if isinstance(value, NameReference):
            shell.values[name] = value.shown or UNSET
        return
    if assignment is not None and (
        isinstance(assignment.value, list) or assignment.subscript is not None
    ):
        if assignment.subscript is None:
            assignment.apply(shell)
        shown = name if assignment.subscript is None else f"{name}[{assignment.subscript}]"
        raise CommandError(f"{shown}: reference variable cannot be an array")
    is_array = isinstance(variables.values.get(name), (IndexedArray, AssociativeArray))
    target = _target_of(shell, name, assignment, is_array=is_array)
    if target is None:
        shell.values[name] = NameReference("")
        variables.add(name, NAMEREF | on)
        return
    appends = assignment is not None and assignment.append
    before, given = shell.values.get(name), target
    if appends and isinstance(before, NameReference) and is_name(before.target):
        target = before.target + target
    problem = f"{name}: reference variable cannot be an array" if is_array else ""
    if split_reference(target) is None and not (problem and appends):
        what = "not a valid identifier" if appends else "invalid variable name for name reference"
        problem = f"`{given}': {what}"
    if problem:
        raise CommandError(problem)
    if target == name:
        if not shell.variables.scopes and assignment is not None:
            raise CommandError(f"{name}: nameref variable self references not allowed")
        if assignment is not None:
            shell.complain(f"{command}: warning: {name}: circular name reference")
        if variables.scopes:
            variables.refer_to_global(name)
            variables.add(name, on | NAMEREF)
            return
    if on & CASES:
        variables.drop(name, CASES)
    variables.add(name, on | NAMEREF)
    shell.values[name] = variables.reference(name, target)


def describe(shell: Shell, name: str, *, listing: bool = False) -> str | None:
    """Return a variable as `declare -p` prints it; None without one. `listing` is for a list."""
    shell.variables.settle_exports()
    if name not in shell.values and name not in shell.variables.readers:
        return None
    value = shell.values.get(name)
    if value is None:
        value = listed_value(shell, name) if listing else shell.variables.lookup(name)
    letters = attribute_letters(shell.attributes.get(name, 0)) or "-"
    if value is UNSET or value is None:
        return f"declare -{letters} {name}"
    if isinstance(value, (IndexedArray, AssociativeArray)):
        return f"declare -{letters} {name}={format_array(value)}"
    if isinstance(value, NameReference):
        return f"declare -{letters} {name}" + (
            f"={declare_quote_double(value.shown, shell.budget.pieces)}" if value.target else ""
        )
    shown = declare_quote_double(shell.seen(str(value)), shell.budget.pieces)
    return f"declare -{letters} {name}={shown}"


def _print(
    shell: Shell,
    arguments: list[Argument],
    options: dict[str, str],
    local_only: bool,
    command: str = "declare",
) -> int:
    status = 0
    if not arguments:
        wanted = 0
        for letter in options:
            wanted |= _FLAGS.get(letter, 0)
        names = shell.variables.local_names() if local_only else iter(shell.variables.names())
        for name in names:
            if wanted and shell.attributes.get(name, 0) & wanted != wanted:
                continue
            described = describe(shell, name, listing=True)
            if described is not None:
                shell.write(described + "\n")
        return 0
    for argument in arguments:
        name = argument if isinstance(argument, str) else argument.word()
        described = describe(shell, name)
        if described is None:
            shell.complain(f"{command}: {name}: not found")
            status = 1
        else:
            shell.write(described + "\n")
    return status


def _list(shell: Shell, options: dict[str, str], local_only: bool) -> None:
    wanted = 0
    for letter in options:
        wanted |= _FLAGS.get(letter, 0)
    if wanted or local_only:
        _print(shell, [], options, local_only)
        return
    from agentsandbox.shell.builtins.set import print_variables

    print_variables(shell)


def _functions(shell: Shell, arguments: list[Argument], options: dict[str, str]) -> int:
    from agentsandbox.shell.syntax.printer import print_function

    names_only = "F" in options
    names = [argument if isinstance(argument, str) else argument.name for argument in arguments]
    status = 0
    if names and "i" in options:
        shell.complain("declare: -i: invalid option")
        return 1
    if names and "t" in options:
        return 0 if all(name in shell.definitions.functions for name in names) else 1
    known = shell.definitions
    marked = [
        kept
        for letter, kept in (("r", known.readonly_functions), ("x", known.exported_functions))
        if letter in options
    ]
    for name in names or [
        name for name in shell.function_names() if all(name in kept for kept in marked)
    ]:
        function = shell.definitions.functions.get(name)
        if function is None:
            if names:
                status = 1
                if "p" in options:
                    shell.complain(f"declare: {name}: not found")
            continue
        if names and "r" in options:
            shell.definitions = shell.definitions.with_readonly(name)
            continue
        if names and "x" in options:
            export_function(shell, name)
            continue
        if names_only:
            if names and "p" not in options:
                extra = (
                    f" {function.line} {function.source}" if shell.options.shopt["extdebug"] else ""
                )
                shell.write(f"{name}{extra}\n")
            else:
                shell.write(f"declare -f{shell.definitions.letters(name)} {name}\n")
        else:
            shell.write(print_function(function.node) + "\n")
            letters = shell.definitions.letters(name)
            if "p" in options and letters:
                shell.write(f"declare -f{letters} {name}\n")
    return status
