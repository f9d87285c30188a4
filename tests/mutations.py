"""Small faults for a source: each number raised by one, each operator replaced by its opposite.

They are found in the syntax tree. A fault is named by what is changed and by the statement around
it, so that a test can list those that change nothing.
"""

import ast
from collections.abc import Callable, Iterator

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
OTHER_CALLS = {"min": "max", "max": "min"}

Edit = tuple[str, Callable[[], None], Callable[[], None]]
"""What is changed, what changes the tree, and what undoes it."""


def statements(tree: ast.AST) -> Iterator[tuple[ast.stmt, ast.AST]]:
    """Yield each node of a tree with the innermost statement that it belongs to."""
    waiting: list[tuple[ast.stmt | None, ast.AST]] = [(None, tree)]
    while waiting:
        statement, node = waiting.pop(0)
        statement = node if isinstance(node, ast.stmt) else statement
        if statement is not None:
            yield statement, node
        waiting += [(statement, child) for child in ast.iter_child_nodes(node)]


def first_line(statement: ast.stmt) -> str:
    """Return the first line of a statement's source."""
    return ast.unparse(statement).splitlines()[0]


def set_field(node: ast.AST, name: str, value: object, what: str) -> Edit:
    """Return the edit that gives a node another field."""
    old = getattr(node, name)
    return what, lambda: setattr(node, name, value), lambda: setattr(node, name, old)


def number_edits(node: ast.AST) -> Iterator[Edit]:
    """Yield the edit of a number: one more."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield set_field(node, "value", node.value + 1, str(node.value))


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


def faults(
    source: str, edits: Callable[[ast.AST], Iterator[Edit]]
) -> Iterator[tuple[str, str, str]]:
    """Yield (what is changed, first line of its statement, changed source) for every edit."""
    tree = ast.parse(source)
    for statement, node in list(statements(tree)):
        for what, change, undo in edits(node):
            line = first_line(statement)
            change()
            yield what, line, ast.unparse(tree)
            undo()
