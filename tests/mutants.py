"""Which small faults of the sources the tests notice: a yardstick for rewriting the tests.

    python tests/mutants.py --number 60 --packages engine metrics      (or `make mutants`)

A fault is a number raised by one, an operator, a choice or a condition turned round, or a call left
out. They are drawn from the functions of the packages, those that draw left out, and pytest runs
for each of them in a fork, until a test fails. Tests are those of the package by their names, and
the golden values, or those that are named. Where they have no end in time, that is all that is
known. ``--again FILE`` takes the faults that an earlier output has as noticed: what a rewrite of
the tests must notice, too.
"""

import argparse
import ast
import os
import random
import re
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from operator import itemgetter
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "src" / "dpbandits"
SECONDS = 400
DRAWING = re.compile(r"\b(?:plt|sns|axes?)\b")

OPERATORS: list[tuple[Any, Any]] = [(ast.Add, ast.Sub), (ast.And, ast.Or), (ast.Lt, ast.Gt)]
OPERATORS += [(ast.Eq, ast.NotEq), (ast.Mult, ast.Div), ("min", "max")]
# Code that computes little has hardly another edit.
CHOICES: list[tuple[Any, Any]] = [(ast.In, ast.NotIn), (ast.Is, ast.IsNot), ("any", "all")]
OTHER = {a: b for one, two in OPERATORS + CHOICES for a, b in ((one, two), (two, one))}
OTHER |= {ast.LtE: ast.Gt, ast.GtE: ast.Lt, ast.Mod: ast.FloorDiv, ast.USub: ast.UAdd}
OTHER |= {ast.FloorDiv: ast.Mult, ast.Pow: ast.Mult}
TURN = {each: 2 for pair in CHOICES for each in pair}
"""Numbers are edited first, then operators, then choices, which the names of faults count on."""
Fault = tuple[int, ast.AST, str, object, str]
"""Turn, node, the field that changes, its other value, and what is changed."""


def edits(node: ast.AST) -> Iterator[tuple[int, str, object, str]]:
    """Yield the edits of a node: their turn, the field, its other value, and what is changed."""
    match node:
        case ast.Constant(value=bool(value)):
            yield 0, "value", not value, str(value)
        case ast.Constant(value=int(value) | float(value)):
            yield 0, "value", value + 1, str(value)
        case (
            ast.BinOp(op=operator)
            | ast.AugAssign(op=operator)
            | ast.BoolOp(op=operator)
            | ast.UnaryOp(op=operator)
        ) if type(operator) in OTHER:
            yield 1, "op", OTHER[type(operator)](), type(operator).__name__
        case ast.Compare(ops=[first, *others]) if other := OTHER.get(type(first)):
            yield TURN.get(type(first), 1), "ops", [other(), *others], type(first).__name__
        case ast.If(test=test) | ast.IfExp(test=test):
            if not isinstance(test, ast.Compare | ast.BoolOp):
                yield 1, "test", ast.UnaryOp(ast.Not(), test), "condition"
        case ast.Call(func=ast.Name(id=name)) if name in OTHER:
            yield TURN.get(name, 1), "func", ast.Name(OTHER[name], ast.Load()), name
        case ast.comprehension(ifs=tests):
            for place, test in enumerate(tests):
                opposite = ast.UnaryOp(ast.Not(), test)
                yield 2, "ifs", [*tests[:place], opposite, *tests[place + 1 :]], "filter"
        case ast.Expr(value=ast.Call()):
            yield 2, "value", ast.Constant(None), "call left out"


def faults(tree: ast.AST) -> list[Fault]:
    """Return the faults of the functions of a source.

    A fault is named by what is changed and the first line of the innermost statement around it.
    """
    parents = [node for node in ast.walk(tree) if isinstance(node, ast.Module | ast.ClassDef)]
    functions = [f for parent in parents for f in parent.body if isinstance(f, ast.FunctionDef)]
    found: list[Fault] = []
    for function in functions:
        inner: list[tuple[ast.stmt, ast.AST]] = [(function, function)]
        for around, node in inner:
            statement = node if isinstance(node, ast.stmt) else around
            inner += [(statement, child) for child in ast.iter_child_nodes(node)]
            for turn, field, value, what in edits(node):
                # The condition of a loop is left as it is: the loop might not end.
                if not (isinstance(statement, ast.While) and turn == 1):
                    line = ast.unparse(statement).splitlines()[0]
                    found.append((turn, node, field, value, f"{what}: {line}"))
    return sorted(found, key=itemgetter(0))


def drawn(packages: list[str], number: int, seed: int) -> list[str]:
    """Return the names of faults: a file, and which of its faults."""
    pool = []
    for package in packages:
        module = SOURCES / f"{package}.py"
        for path in [module] if module.exists() else sorted((SOURCES / package).rglob("*.py")):
            source = path.read_text(encoding="utf-8")
            if not DRAWING.search(source):
                file, count = path.relative_to(SOURCES).as_posix(), len(faults(ast.parse(source)))
                pool += [f"{file}#{place}" for place in range(count)]
    return random.Random(seed).sample(pool, min(number, len(pool)))


def planted(name: str) -> tuple[Path, CodeType, str]:
    """Return the file of a fault, its code with the fault, and what it is."""
    file, _, place = name.partition("#")
    path = SOURCES / file
    tree = ast.parse(path.read_text(encoding="utf-8"))
    _, node, field, value, what = faults(tree)[int(place)]
    setattr(node, field, value)
    return path, compile(ast.unparse(tree), str(path), "exec", dont_inherit=True), what


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
        found = [each for each in functions if each.py_func.__code__.co_filename == self.path]
        for each in found:
            each._cache = NullCache()
            # Those that call one are gone through, too.
            found += [f for f in functions if f not in found and self.calls(f.py_func, each)]

    @staticmethod
    def calls(function: Any, other: Any) -> bool:
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        names = map(function.__globals__.get, function.__code__.co_names)
        return any(each is other for each in [*cells, *names])


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
            return "no end", f"{SECONDS} s"
        code = os.waitstatus_to_exitcode(status)
        printed.seek(0)
        text = printed.read()
    named = re.findall(r"^(?:FAILED|ERROR) (\S+)", text, re.MULTILINE)
    words = {0: "missed", 1: "noticed", 2: "noticed", 4: "noticed"}
    return words.get(code, f"exit {code}"), named[0] if named else text.strip().rpartition("\n")[2]


def tests_of(name: str) -> list[str]:
    """Return the tests of the package of a fault, by their names, and the golden values."""
    package = re.split(r"[/.]", name)[0]
    by_name = sorted(map(str, (ROOT / "tests").glob(f"test_{package}*.py")))
    return [*by_name, str(ROOT / "tests/golden/test_golden.py")]


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
    # Once, before the forks.
    for library in ("numba", "pandas", "pyarrow.parquet", "scipy.stats", "yaml", "click"):
        __import__(library)
    names = drawn(given.packages, given.number, given.seed)
    if given.again:
        lines = given.again.read_text(encoding="utf-8").splitlines()
        names = [line.split()[1] for line in lines if line.startswith("noticed")]
    count: Counter[str] = Counter()
    for name in names:
        begin = time.perf_counter()
        result, test = outcome(name, given.tests or tests_of(name))
        seconds = time.perf_counter() - begin
        count[result] += 1
        print(f"{result:8} {name} {seconds:.0f} s  {planted(name)[2]}  {test}", flush=True)
    print(dict(count))


if __name__ == "__main__":
    main()
