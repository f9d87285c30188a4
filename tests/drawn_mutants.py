"""600 small faults drawn from the functions of the package, for `kill_matrix.py`."""

import ast
import itertools
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

from mutations import choice_edits, number_edits, operator_edits, statements

SOURCES = Path(__file__).resolve().parents[1] / "src" / "dpbandits"
DRAWN, SEED = 600, 29
DRAWING = {"Axes", "plt", "sns", "ax", "axes"}
"""Names by which a function is known to draw."""


@dataclass(frozen=True)
class Mutant:
    """A fault by its place.

    Attributes:
        package: folder below ``src/dpbandits``; empty for modules beside the packages.
        file: path below it.
        line: first line of the innermost statement.
        what: what is changed, numbered where the statement has it twice.
        statement: first line of the statement.
        lines: the statement's lines, of a compound one those of its head.
        function: qualified name of the function of a module or class in which it stands.
        place: of the edit among all of the file.
    """

    package: str
    file: str
    line: int
    what: str
    statement: str
    lines: range
    function: str
    place: int


def functions(tree: ast.AST, within: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield the functions of a module and its classes by qualified name, but those that draw."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from functions(node, f"{within}{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            names = {getattr(each, "id", getattr(each, "arg", "")) for each in ast.walk(node)}
            if not names & DRAWING:
                yield within + node.name, node


def body(function: ast.FunctionDef) -> list[ast.stmt]:
    """Return the statements of a function without its docstring."""
    return function.body[ast.get_docstring(function) is not None :]


def planted(tree: ast.Module) -> Iterator[tuple[str, ast.stmt, str, Callable[[], None]]]:
    """Yield function, statement, what is changed and the change, for each edit of a module."""
    for name, function in functions(tree):
        for statement, node in itertools.chain(*(statements(each) for each in body(function))):
            # A loop might not end.
            if not isinstance(statement, ast.While):
                for edits in (number_edits, operator_edits, choice_edits):
                    for what, change in edits(node):
                        yield name, statement, what, change


def mutants_of(path: Path) -> list[Mutant]:
    """Return all mutants of a file."""
    file = path.relative_to(SOURCES).as_posix()
    package = file.split("/")[0] if "/" in file else ""
    seen: Counter[tuple[int, str]] = Counter()
    found = []
    for place, (name, at, what, _) in enumerate(planted(ast.parse(path.read_text("utf-8")))):
        inner = getattr(at, "body", None)
        end = inner[0].lineno if inner else (at.end_lineno or at.lineno) + 1
        lines = range(at.lineno, max(end, at.lineno + 1))
        seen[at.lineno, what] += 1
        number = seen[at.lineno, what]
        text = ast.unparse(at).splitlines()[0]
        called = what if number == 1 else f"{what} #{number}"
        found.append(Mutant(package, file, at.lineno, called, text, lines, name, place))
    return found


def draw() -> list[Mutant]:
    """Return the sample, in an order of which each beginning is a sample in proportion, too."""
    chance = random.Random(SEED)
    size: Counter[str] = Counter()
    pool: dict[str, list[Mutant]] = defaultdict(list)
    for path in sorted(SOURCES.rglob("*.py")):
        found = mutants_of(path)
        if found:
            pool[found[0].package] += found
            trees = functions(ast.parse(path.read_text("utf-8")))
            code = [ast.unparse(each) for _, tree in trees for each in body(tree)]
            size[found[0].package] += sum(text.count("\n") + 1 for text in code)
    total = sum(size.values())
    # The k-th of n of a package has its place at (k + u) / n, u drawn once for the package.
    placed = []
    for package in sorted(pool):
        number = round(DRAWN * size[package] / total)
        begin = chance.random()
        sample = chance.sample(pool[package], min(number, len(pool[package])))
        placed += [((k + begin) / number, each) for k, each in enumerate(sample)]
    return [each for _, each in sorted(placed, key=lambda pair: (pair[0], pair[1].package))]


def mutated(mutant: Mutant) -> CodeType:
    """Return the module's code with the fault, lines as they were."""
    path = SOURCES / mutant.file
    tree = ast.parse(path.read_text("utf-8"))
    change = next(itertools.islice(planted(tree), mutant.place, None))[-1]
    change()
    return compile(ast.fix_missing_locations(tree), str(path), "exec", dont_inherit=True)
