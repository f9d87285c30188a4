"""Which small faults of the sources the tests notice: a yardstick for rewriting the tests.

    python tests/mutants.py --number 60 --packages engine metrics      (or `make mutants`)

Faults of ``mutations.py`` are drawn from the functions of the packages, those that draw left out,
and pytest runs for each of them in a fork, until a test fails. Tests are those of the package by
their names, and the golden values, or those that are named. ``--again FILE`` takes the faults that
an earlier output has as noticed: what a rewrite of the tests must notice, too.
"""

import argparse
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
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from mutations import Edits, choice_edits, faults, number_edits, operator_edits

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "src" / "dpbandits"
LIBRARIES = ("numba", "pandas", "pyarrow.parquet", "scipy.stats", "yaml", "click")
"""Imported once, before the forks."""
EDITS: tuple[Edits, ...] = (number_edits, operator_edits, choice_edits)
SECONDS = 400
DRAWING = re.compile(r"\b(?:plt|sns|axes?)\b")


def drawn(packages: list[str], number: int, seed: int) -> list[str]:
    """Return the names of faults: a file, and which of its faults."""
    pool = []
    for package in packages:
        for path in sorted((SOURCES / package).rglob("*.py")):
            source = path.read_text(encoding="utf-8")
            count = sum(1 for edits in EDITS for _ in faults(source, edits))
            if not DRAWING.search(source):
                pool += [f"{path.relative_to(SOURCES).as_posix()}#{k}" for k in range(count)]
    return random.Random(seed).sample(pool, min(number, len(pool)))


def planted(name: str) -> tuple[Path, CodeType, str]:
    """Return the file of a fault, its code with the fault, and what it is."""
    file, _, number = name.partition("#")
    path = SOURCES / file
    source = path.read_text(encoding="utf-8")
    every = itertools.chain.from_iterable(faults(source, edits) for edits in EDITS)
    fault = next(itertools.islice(every, int(number), None))
    return path, compile(fault.source, str(path), "exec", dont_inherit=True), str(fault)


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
    words = [
        "-x",
        "-q",
        "-rfE",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-p",
        "no:faulthandler",
    ]
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
    package = name.partition("/")[0]
    folder = ROOT / "tests"
    return [str(path) for path in sorted(folder.glob(f"test_{package}_*.py"))] + [
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
