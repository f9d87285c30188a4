"""Small faults for a source: each number raised by one, each operator replaced by its opposite.

They are found in the syntax tree. A fault is named by what is changed and the statement around it.
"""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

OPPOSITES: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Lt: ast.Gt,
    ast.Gt: ast.Lt,
    ast.LtE: ast.Gt,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.USub: ast.UAdd,
}
OTHER_CHOICES: dict[type[ast.AST], type[ast.AST]] = {
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
OTHER_CALLS = {"min": "max", "max": "min"}


@dataclass(frozen=True)
class Fault:
    """A source with one fault.

    Attributes:
        what: the number or the operator that is changed.
        line: first line of the innermost statement around it.
        original: the source without it.
        edits: what makes it and others.
        number: of its edit among them, from 0.
    """

    what: str
    line: str
    original: str
    edits: "Edits"
    number: int

    @property
    def source(self) -> str:
        """The source with the fault."""
        tree, _, (_, change) = next(islice(_planted(self.original, self.edits), self.number, None))
        change()
        return ast.unparse(tree)

    def __str__(self) -> str:
        """Return the name of the fault."""
        return f"{self.what}: {self.line}"


Edit = tuple[str, Callable[[], None]]
"""What is changed, and what changes the tree."""

Edits = Callable[[ast.AST], Iterator[Edit]]
"""The edits of one node."""


def statements(tree: ast.AST) -> Iterator[tuple[ast.stmt, ast.AST]]:
    """Yield each node of a tree with the innermost statement that it belongs to."""
    waiting: list[tuple[ast.stmt | None, ast.AST]] = [(None, tree)]
    while waiting:
        statement, node = waiting.pop(0)
        statement = node if isinstance(node, ast.stmt) else statement
        if statement is not None:
            yield statement, node
        waiting += [(statement, child) for child in ast.iter_child_nodes(node)]


def set_field(node: ast.AST, name: str, value: object, what: str) -> Edit:
    """Return the edit that gives a node another field."""
    return what, lambda: setattr(node, name, value)


def number_edits(node: ast.AST) -> Iterator[Edit]:
    """Yield the edit of a number, one more, or of a truth value, the other one."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        changed = not node.value if isinstance(node.value, bool) else node.value + 1
        yield set_field(node, "value", changed, str(node.value))


def operator_edits(node: ast.AST) -> Iterator[Edit]:
    """Yield the edits of an operator, a condition, or a call of min or max."""
    if isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp | ast.UnaryOp):
        opposite = OPPOSITES.get(type(node.op))
        if opposite is not None:
            yield set_field(node, "op", opposite(), type(node.op).__name__)
    if isinstance(node, ast.Compare):
        opposite = OPPOSITES.get(type(node.ops[0]))
        if opposite is not None:
            changed = [opposite(), *node.ops[1:]]
            yield set_field(node, "ops", changed, type(node.ops[0]).__name__)
    if isinstance(node, ast.If | ast.IfExp) and not isinstance(node.test, ast.Compare | ast.BoolOp):
        yield set_field(node, "test", ast.UnaryOp(ast.Not(), node.test), "condition")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        other = OTHER_CALLS.get(node.func.id)
        if other is not None:
            yield set_field(node.func, "id", other, node.func.id)


def choice_edits(node: ast.AST) -> Iterator[Edit]:
    """Yield the edits of a membership, an identity, a filter, any or all, or a call for its effect.

    Code that computes little has hardly another edit.
    """
    if isinstance(node, ast.Compare):
        opposite = OTHER_CHOICES.get(type(node.ops[0]))
        if opposite is not None:
            changed = [opposite(), *node.ops[1:]]
            yield set_field(node, "ops", changed, type(node.ops[0]).__name__)
    if isinstance(node, ast.comprehension):
        for place, test in enumerate(node.ifs):
            changed_tests = [*node.ifs]
            changed_tests[place] = ast.UnaryOp(ast.Not(), test)
            yield set_field(node, "ifs", changed_tests, "filter")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        other = {"any": "all", "all": "any"}.get(node.func.id)
        if other is not None:
            yield set_field(node.func, "id", other, node.func.id)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield set_field(node, "value", ast.Constant(None), "call left out")


def _planted(source: str, edits: Edits) -> Iterator[tuple[ast.Module, ast.stmt, Edit]]:
    """Yield the tree of a source, a statement of its functions and an edit in it, for each edit."""
    tree = ast.parse(source)
    parents = [node for node in ast.walk(tree) if isinstance(node, ast.Module | ast.ClassDef)]
    functions = [f for parent in parents for f in parent.body if isinstance(f, ast.FunctionDef)]
    for statement, node in [each for function in functions for each in statements(function)]:
        if isinstance(statement, ast.While) and edits is operator_edits:
            # Its condition: the loop might not end.
            continue
        for edit in edits(node):
            yield tree, statement, edit


def faults(source: str, edits: Edits) -> Iterator[Fault]:
    """Yield the faults that edits make in the functions of a source."""
    lines: dict[ast.stmt, str] = {}
    for number, (_, statement, (what, _)) in enumerate(_planted(source, edits)):
        if statement not in lines:
            lines[statement] = ast.unparse(statement).splitlines()[0]
        yield Fault(what, lines[statement], source, edits, number)
