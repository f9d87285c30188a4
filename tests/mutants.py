"""Which small faults of the sources the tests notice: a yardstick for rewriting the tests.

    python tests/mutants.py --number 60 --packages engine metrics      (or `make mutants`)

A fault is a number raised by one, an operator, a choice or a condition turned round, or a call left
out. They are drawn from the functions of the packages, those that draw left out, and pytest runs
for each of them in a fork, until a test fails. Tests are those of the package by
their names, and the golden values, or those that are named. ``--again FILE`` takes the faults that
an earlier output has as noticed: what a rewrite of the tests must notice, too.
"""

import argparse
import ast
import itertools
import os
import random
import re
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "src" / "dpbandits"
LIBRARIES = ("numba", "pandas", "pyarrow.parquet", "scipy.stats", "yaml", "click")
"""Imported once, before the forks."""
SECONDS = 400
DRAWING = re.compile(r"\b(?:plt|sns|axes?)\b")

Kind = type[ast.AST]
EACH_OTHER: list[tuple[Kind, Kind]] = [
    *((ast.Add, ast.Sub), (ast.And, ast.Or), (ast.Lt, ast.Gt), (ast.Eq, ast.NotEq)),
    (ast.Mult, ast.Div),
]
OPPOSITES: dict[Kind, Kind] = dict(EACH_OTHER) | {other: one for one, other in EACH_OTHER}
OPPOSITES |= {ast.LtE: ast.Gt, ast.GtE: ast.Lt}
OPPOSITES |= {ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.USub: ast.UAdd}
OTHER_CHOICES: dict[Kind, Kind] = {ast.In: ast.NotIn, ast.NotIn: ast.In}
OTHER_CHOICES |= {ast.Is: ast.IsNot, ast.IsNot: ast.Is}
Edit = tuple[str, object, str]
"""Field of a node, its other value, and what is changed."""


def statements(tree: ast.AST) -> Iterator[tuple[ast.stmt, ast.AST]]:
    """Yield each node of a tree with the innermost statement that it belongs to."""
    waiting: list[tuple[ast.stmt | None, ast.AST]] = [(None, tree)]
    while waiting:
        statement, node = waiting.pop(0)
        statement = node if isinstance(node, ast.stmt) else statement
        if statement is not None:
            yield statement, node
        waiting += [(statement, child) for child in ast.iter_child_nodes(node)]


def compared(node: ast.AST, table: dict[Kind, Kind]) -> Iterator[Edit]:
    """Yield the edit of the first operator of a comparison, if the table has another one."""
    if isinstance(node, ast.Compare) and (other := table.get(type(node.ops[0]))):
        yield "ops", [other(), *node.ops[1:]], type(node.ops[0]).__name__


def called(node: ast.AST, table: dict[str, str]) -> Iterator[Edit]:
    """Yield the edit of the name of a call, if the table has another one."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in table:
        other = ast.Name(table[node.func.id], ast.Load())
        yield "func", ast.copy_location(other, node.func), node.func.id


def number_edits(node: ast.AST) -> Iterator[Edit]:
    """Yield the edit of a number, one more, or of a truth value, the other one."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        changed = not node.value if isinstance(node.value, bool) else node.value + 1
        yield "value", changed, str(node.value)


def operator_edits(node: ast.AST) -> Iterator[Edit]:
    """Yield the edits of an operator, a condition, or a call of min or max."""
    operated = isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp | ast.UnaryOp)
    if operated and (opposite := OPPOSITES.get(type(node.op))):
        yield "op", opposite(), type(node.op).__name__
    yield from compared(node, OPPOSITES)
    if isinstance(node, ast.If | ast.IfExp) and not isinstance(node.test, ast.Compare | ast.BoolOp):
        yield "test", ast.UnaryOp(ast.Not(), node.test), "condition"
    yield from called(node, {"min": "max", "max": "min"})


def choice_edits(node: ast.AST) -> Iterator[Edit]:
    """Yield the edits of a membership, an identity, a filter, any or all, or a call for its effect.

    Code that computes little has hardly another edit.
    """
    yield from compared(node, OTHER_CHOICES)
    if isinstance(node, ast.comprehension):
        for place, test in enumerate(node.ifs):
            changed = [*node.ifs]
            changed[place] = ast.UnaryOp(ast.Not(), test)
            yield "ifs", changed, "filter"
    yield from called(node, {"any": "all", "all": "any"})
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield "value", ast.Constant(None), "call left out"


def faults(source: str) -> Iterator[tuple[str, Callable[[], str]]]:
    """Yield each fault of the functions of a source: its name, and what returns the source with it.

    A fault is named by what is changed and the first line of the innermost statement around it.
    A source is to be returned with one of them: they change the same tree.
    """
    tree = ast.parse(source)
    parents = [node for node in ast.walk(tree) if isinstance(node, ast.Module | ast.ClassDef)]
    functions = [f for parent in parents for f in parent.body if isinstance(f, ast.FunctionDef)]

    def changed(node: ast.AST, field: str, value: object) -> str:
        setattr(node, field, value)
        return ast.unparse(tree)

    for edits in (number_edits, operator_edits, choice_edits):
        for statement, node in [each for function in functions for each in statements(function)]:
            if isinstance(statement, ast.While) and edits is operator_edits:
                # Its condition: the loop might not end.
                continue
            for field, value, what in edits(node):
                line = ast.unparse(statement).splitlines()[0]
                yield f"{what}: {line}", partial(changed, node, field, value)


def drawn(packages: list[str], number: int, seed: int) -> list[str]:
    """Return the names of faults: a file, and which of its faults."""
    pool = []
    for package in packages:
        module = SOURCES / f"{package}.py"
        for path in [module] if module.exists() else sorted((SOURCES / package).rglob("*.py")):
            source = path.read_text(encoding="utf-8")
            count = sum(1 for _ in faults(source))
            if not DRAWING.search(source):
                pool += [f"{path.relative_to(SOURCES).as_posix()}#{k}" for k in range(count)]
    return random.Random(seed).sample(pool, min(number, len(pool)))


def planted(name: str) -> tuple[Path, CodeType, str]:
    """Return the file of a fault, its code with the fault, and what it is."""
    file, _, number = name.partition("#")
    path = SOURCES / file
    source = path.read_text(encoding="utf-8")
    fault, changed = next(itertools.islice(faults(source), int(number), None))
    return path, compile(changed(), str(path), "exec", dont_inherit=True), fault


class CompiledAnew:
    """Compiled functions that have the fault in them are not taken from the disk."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def pytest_collection_finish(self) -> None:
        """Let no compiled function of the file, and none that calls one, look there."""
        import gc

        from numba.core.caching import NullCache
        from numba.core.registry import CPUDispatcher

        functions: list[Any] = [each for each in gc.get_objects() if type(each) is CPUDispatcher]
        waiting = [each for each in functions if each.py_func.__code__.co_filename == self.path]
        reached: set[int] = set()
        while waiting:
            found = waiting.pop()
            found._cache = NullCache()
            reached.add(id(found))
            waiting += [
                each
                for each in functions
                if id(each) not in reached and self.calls(each.py_func, found)
            ]

    @staticmethod
    def calls(function: Any, other: Any) -> bool:
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        names = map(function.__globals__.get, function.__code__.co_names)
        return any(each is other for each in itertools.chain(cells, names))


def play(name: str, tests: list[str]) -> None:
    """Run the tests with the fault in its module; never returns."""
    path, code, _ = planted(name)
    get_code = SourceFileLoader.get_code

    def changed(self: SourceFileLoader, module: str) -> CodeType | None:
        is_it = self.get_filename(module) == str(path)
        return code if is_it else get_code(self, module)

    SourceFileLoader.get_code = changed  # type: ignore[method-assign]
    without = ("no:cacheprovider", "no:xdist", "no:faulthandler")
    words = ["-x", "-q", "-rfE", *(word for name in without for word in ("-p", name))]
    status = pytest.main([*words, f"--rootdir={ROOT}", *tests], plugins=[CompiledAnew(path)])
    sys.stdout.flush()
    os._exit(status)


def outcome(name: str, tests: list[str]) -> tuple[str, str]:
    """Return what becomes of a fault, and the test that notices it."""
    with tempfile.TemporaryFile("w+") as printed:
        child = os.fork()
        if not child:
            os.setsid()
            os.dup2(printed.fileno(), 1)
            os.dup2(printed.fileno(), 2)
            try:
                play(name, tests)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(3)
        end, done, status = time.monotonic() + SECONDS, 0, 0
        while not done and time.monotonic() < end:
            time.sleep(0.05)
            done, status = os.waitpid(child, os.WNOHANG)
        if not done:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "noticed", "no end"
        code = os.waitstatus_to_exitcode(status)
        printed.seek(0)
        text = printed.read()
    named = re.findall(r"^(?:FAILED|ERROR) (\S+)", text, re.MULTILINE)
    words = {0: "missed", 1: "noticed", 2: "noticed", 4: "noticed"}
    return words.get(code, f"exit {code}"), named[0] if named else text.strip().rpartition("\n")[2]


def tests_of(name: str) -> list[str]:
    """Return the tests of the package of a fault, by their names, and the golden values."""
    package = re.split(r"[/.]", name)[0]
    folder = ROOT / "tests"
    return [str(path) for path in sorted(folder.glob(f"test_{package}*.py"))] + [
        str(folder / "golden" / "test_golden.py")
    ]


def main() -> None:
    """Run the faults and print a line for each."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--packages", nargs="+", default=["algorithms", "bandits", "engine"])
    words.add_argument("--number", type=int, default=60)
    words.add_argument("--seed", type=int, default=29)
    words.add_argument("--again", type=Path)
    words.add_argument("--tests", nargs="+", default=[])
    given = words.parse_args()
    os.chdir(ROOT)
    for library in LIBRARIES:
        __import__(library)
    names = drawn(given.packages, given.number, given.seed)
    if given.again:
        lines = given.again.read_text(encoding="utf-8").splitlines()
        names = [line.split()[1] for line in lines if line.startswith("noticed")]
    count: Counter[str] = Counter()
    for name in names:
        begin = time.perf_counter()
        result, test = outcome(name, given.tests or tests_of(name))
        count[result] += 1
        seconds = time.perf_counter() - begin
        print(f"{result:8} {name} {seconds:.0f} s  {planted(name)[2]}  {test}", flush=True)
    print(dict(count))


if __name__ == "__main__":
    main()
