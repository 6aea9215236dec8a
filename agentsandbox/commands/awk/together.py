"""Rules that only count and sum, applied to many records at once: what a record adds no other rule
looks at.

`/ERROR/ { n[$3]++; size += length($0) }` need not go through the records one by one. For each of
its statements there is a column, a list made from all of them, and one call that counts or adds
what is in it, in the order of the records.
"""

from __future__ import annotations

from agentsandbox.commands.awk import nodes
from agentsandbox.commands.awk.scopes import SPECIAL_ARRAYS, SPECIAL_NAMES, children

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.commands.awk.expressions import Expressions
    from agentsandbox.commands.awk.nodes import Expression, Rule, Statement

_LAST = -1
"""The place of `$NF` among the fields; others are counted from 0."""
_RECORD = -2
_NOWHERE = -3
_DEEPEST = 8
_MOST_FIELDS = 1000


def together(compiler: Expressions, rules: Sequence[Rule]) -> tuple[list[str], list[str]] | None:
    """Code that applies all rules to the list `rows`: what it finds out, which may fail, and what
    it changes then; else None.

    It fails with `IndexError` or `ValueError` for records that have too few fields or none that are
    numbers, and has changed nothing by then.
    """
    scopes = compiler.scopes
    if (
        not rules
        or compiler.general
        or compiler.ignore_case
        or scopes.uses_getline
        or scopes.changes_record
        or scopes.indirect
    ):
        return None
    if "FNR" in scopes.names or (
        "NR" in scopes.names and not scopes.is_numeric("", nodes.Name(0, "NR"))
    ):
        return None
    made = _Together(compiler)
    if not all(made.rule(rule) for rule in rules):
        return None
    if "NR" in scopes.names:
        made.changes.append("rt.NR += len(rows)")
    return made.columns, made.changes


class _Together:
    """The code for some rules."""

    def __init__(self, compiler: Expressions) -> None:
        self.compiler = compiler
        self.columns: list[str] = []
        self.changes: list[str] = []
        self._targets: set[str] = set()

    def rule(self, rule: Rule) -> bool:
        """Add the code of a rule; whether it is one that only counts and sums."""
        statements = _sums(rule.action or [])
        if not statements or rule.kind not in ("always", "pattern"):
            return False
        rows = "rows"
        if rule.first is not None:
            if not _is_test(rule.first):
                return False
            condition = self.compiler.condition(rule.first)
            highest = _highest(rule.first)
            split = f" for f in (r.split(sep, {highest}),)" if highest else ""
            rows = self._column(f"[r for r in rows{split} if {condition}]")
        wanted = sorted(
            {place for statement in statements for place in _places(statement)}
            - {_RECORD, _NOWHERE}
        )
        texts = {_RECORD: rows}
        limit = f", {wanted[-1] + 1}" if wanted and _LAST not in wanted else ""
        if len(wanted) == 1:
            texts[wanted[0]] = self._column(f"[r.split(sep{limit})[{wanted[0]}] for r in {rows}]")
        elif wanted:
            split_rows = self._column(f"[r.split(sep{limit}) for r in {rows}]")
            texts.update(
                {place: self._column(f"[f[{place}] for f in {split_rows}]") for place in wanted}
            )
        return all(self._statement(statement, texts) for statement in statements)

    def _column(self, code: str) -> str:
        name = self.compiler.temporary()
        self.columns.append(f"{name} = {code}")
        return name

    def _statement(self, statement: nodes.Assign, texts: dict[int, str]) -> bool:
        """One sum; whether it is into a variable that nothing else here changes."""
        compiler, target, value = self.compiler, statement.target, statement.value
        name = _name(target)
        if name in self._targets or not compiler.numeric(target):
            return False
        self._targets.add(name)
        if isinstance(target, nodes.Index):
            if compiler.is_numbered(target.base):
                return False
            keys = texts[_place(target.subscripts[0])]
            if isinstance(value, nodes.Number):
                self.changes.append(f"count_all(v_{name}, {keys})")
                return value.value == 1.0
            key, number = compiler.temporary(), compiler.temporary()
            self.changes.append(
                f"for {key}, {number} in zip({keys}, {self._numbers(value, texts)}): v_{name}[{key}] += {number}"
            )
        else:
            self.changes.append(f"v_{name} = add_all(v_{name}, {self._numbers(value, texts)})")
        return True

    def _numbers(self, value: Expression, texts: dict[int, str]) -> str:
        """What is added, for one row after the other."""
        if isinstance(value, nodes.Number):
            return f"[{value.value!r}] * len({texts[_RECORD]})"
        column = texts[_place_of_value(value)]
        if isinstance(value, nodes.Call):
            return f"map(len, {column})"
        odd = self.compiler.odd()
        return self._column(
            f"list(map(known.__getitem__ if hot else num if {odd} else float, {column}))"
        )


def _sums(action: Sequence[Statement]) -> list[nodes.Assign]:
    """The statements as sums; none if one of them is something else."""
    sums: list[nodes.Assign] = []
    for statement in action:
        expression = (
            statement.expression if isinstance(statement, nodes.ExpressionStatement) else None
        )
        if isinstance(expression, nodes.Step) and expression.amount > 0:
            expression = nodes.Assign(
                expression.line, "+=", expression.target, nodes.Number(0, 1.0)
            )
        if not isinstance(expression, nodes.Assign) or expression.operator != "+=":
            return []
        known = (
            isinstance(expression.value, nodes.Number)
            or _place_of_value(expression.value) != _NOWHERE
        )
        if not _name(expression.target) or not known:
            return []
        sums.append(expression)
    return sums


def _places(statement: nodes.Assign) -> tuple[int, int]:
    """The places of the fields in a sum, or `_NOWHERE`."""
    target = statement.target
    return _place(target.subscripts[0]) if isinstance(
        target, nodes.Index
    ) else _NOWHERE, _place_of_value(statement.value)


def _name(target: object) -> str:
    """The name of a variable of the program's own, or of the array of an element whose subscript is
    a field; else "".
    """
    if isinstance(target, nodes.Name):
        return "" if target.name in SPECIAL_NAMES else target.name
    if (
        not isinstance(target, nodes.Index)
        or not isinstance(target.base, nodes.Name)
        or target.base.name in SPECIAL_ARRAYS
    ):
        return ""
    return (
        target.base.name
        if len(target.subscripts) == 1 and _place(target.subscripts[0]) != _NOWHERE
        else ""
    )


def _place_of_value(value: object) -> int:
    """The place of what is added, or of what is measured."""
    if isinstance(value, nodes.Call):
        if value.name != "length" or len(value.arguments) > 1:
            return _NOWHERE
        return _place(value.arguments[0]) if value.arguments else _RECORD
    return _place(value)


def _place(expression: object) -> int:
    """The place of a field."""
    if not isinstance(expression, nodes.Field):
        return _NOWHERE
    number = expression.number
    if isinstance(number, nodes.Name):
        return _LAST if number.name == "NF" else _NOWHERE
    if isinstance(number, nodes.Number) and number.value in range(_MOST_FIELDS):
        return int(number.value) - 1 if number.value else _RECORD
    return _NOWHERE


def _is_test(condition: object, depth: int = 0) -> bool:
    """Whether it only compares texts and looks for patterns in the record and its fields."""
    if depth > _DEEPEST:
        return False
    if isinstance(condition, nodes.Regex):
        return True
    if isinstance(condition, nodes.Unary):
        return condition.operator in ("!", "()") and _is_test(condition.operand, depth + 1)
    if isinstance(condition, nodes.Match):
        return _place(condition.text) not in (_NOWHERE, _LAST) and isinstance(
            condition.pattern, nodes.Regex
        )
    if not isinstance(condition, nodes.Binary):
        return False
    if condition.operator in ("&&", "||"):
        return _is_test(condition.left, depth + 1) and _is_test(condition.right, depth + 1)
    if condition.operator not in ("==", "!="):
        return False
    return _place(condition.left) not in (_NOWHERE, _LAST) and isinstance(
        condition.right, nodes.Text
    )


def _highest(condition: object) -> int:
    """The highest number of a field in a condition."""
    return max(0, _place(condition) + 1, *map(_highest, children(condition)))
