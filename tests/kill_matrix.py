"""Which tests notice which small fault of the sources: a yardstick for rewriting the tests.

    python tests/kill_matrix.py         (or `make kill-matrix`)

600 faults of ``mutations.py`` are drawn from the bodies of functions of ``src``, by package in
proportion to its lines; functions that draw are left out. All tests run once to record which lines
each of them touches. Then one process imports everything, and for each fault a fork of it takes the
fault in place and runs the tests that touch its statement, until one of them fails. The rows of
``kill_matrix.csv`` are kept: a run that was ended goes on, and any part of it is a fair sample.
Remove rows to have them run again, and the file after the tests were rewritten.

Only what happens in the process of a test counts, neither a command that it starts nor a workflow.
Lines of compiled functions cannot be seen: their tests are those that run anything of the files in
which the function and its compiled callers stand.
"""

import ast
import contextlib
import csv
import functools
import gc
import hashlib
import itertools
import json
import os
import pkgutil
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, dataclass, fields
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import coverage
import pytest
from _pytest.runner import runtestprotocol

from drawn_mutants import SOURCES, Mutant, body, draw, functions, mutated

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / ".cache" / "kill_matrix"
SESSION = RECORD / "session"
RESULT = ROOT / "tests" / "kill_matrix.csv"

PYTEST = [
    *("tests", "src", "--ignore=tests/workflow", "--ignore=tests/faults"),
    *(
        "-q",
        "-s",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-p",
        "no:faulthandler",
        f"--rootdir={ROOT}",
    ),
]
LIMIT = 60.0
"""Seconds for the tests of one fault; of a compiled function three times as many."""

IMPORT = "import"
SWITCHES = 30
"""So often a cached function is a context of its own; then it has shown its lines."""


@dataclass(frozen=True)
class Row:
    """A line of the result; ``test`` is the first that failed, or that did not end."""

    package: str
    file: str
    line: int
    what: str
    statement: str
    result: str
    test: str
    seconds: float


def key_of(fault: Mutant | Row) -> tuple[str, int, str, str]:
    """Return what tells a fault from others."""
    return fault.file, fault.line, fault.what, fault.statement


# What touches what


def state() -> str:
    """Return the hash of sources and tests, without which the record says nothing."""
    digest = hashlib.sha256()
    for path in [*sorted(SOURCES.rglob("*.py")), *sorted((ROOT / "tests").rglob("test_*.py"))]:
        digest.update(path.as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


class Recorder:
    """Plays all tests and notes for coverage which of them runs.

    What tests share is a context of its own, whichever of them comes first: fixtures of modules,
    cached functions, the folder of the session. ``uses`` notes who asked for it.
    """

    def __init__(self) -> None:
        self.coverage = coverage.Coverage(
            data_file=str(RECORD / "coverage"), source=[str(SOURCES)], config_file=False
        )
        self.stack = [IMPORT]
        self.uses: dict[str, set[str]] = defaultdict(set)
        self.entered: Counter[str] = Counter()
        self.caches: list[Any] = []
        self.seconds: dict[str, float] = {}
        self.failed: list[str] = []

    @contextlib.contextmanager
    def context(self, name: str) -> Iterator[None]:
        """Count lines for this context."""
        self.uses[self.stack[-1]].add(name)
        self.entered[name] += 1
        self.stack.append(name)
        self.coverage.switch_context(name)
        try:
            yield
        finally:
            self.stack.pop()
            self.coverage.switch_context(self.stack[-1])

    def lru_cache(
        self, maxsize: Any = 128, typed: bool = False, made: Any = functools.lru_cache
    ) -> Any:
        """Stand in for ``functools.lru_cache``: misses of our functions are contexts."""
        if callable(maxsize):
            return self.lru_cache()(maxsize)

        def decorate(function: Any) -> Any:
            code = getattr(function, "__code__", None)
            if code is None or not Path(code.co_filename).is_relative_to(ROOT):
                return made(maxsize, typed)(function)
            name = f"cache {function.__module__}.{function.__qualname__}"

            @functools.wraps(function)
            def computed(*args: Any, **kwargs: Any) -> Any:
                if self.entered[name] >= SWITCHES or self.stack == [IMPORT]:
                    return function(*args, **kwargs)
                with self.context(name):
                    return function(*args, **kwargs)

            kept = made(maxsize, typed)(computed)
            self.caches.append(kept)

            @functools.wraps(function)
            def called(*args: Any, **kwargs: Any) -> Any:
                self.uses[self.stack[-1]].add(name)
                return kept(*args, **kwargs)

            for each in ("cache_info", "cache_clear", "cache_parameters"):
                setattr(called, each, getattr(kept, each))
            return called

        return decorate

    def pytest_collection_finish(self) -> None:
        """Forget what collecting has computed: it belongs to the tests that ask for it."""
        import shared

        self.session, os.environ[shared.VARIABLE] = os.environ[shared.VARIABLE], str(SESSION)
        locked = shared.locked

        @contextlib.contextmanager
        def noted(name: str) -> Iterator[Path]:
            with self.context(f"shared {name}"), locked(name) as path:
                yield path

        shared.locked = noted
        for each in self.caches:
            each.cache_clear()

    def pytest_sessionfinish(self) -> None:
        """Keep what the tests have shared: faults that it does not touch leave it as it is."""
        os.environ["DPBANDITS_TEST_SESSION"] = self.session

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Any:
        """Count a fixture of more than one test for itself."""
        if fixturedef.scope == "function":
            return (yield)
        with self.context(f"fixture {fixturedef.baseid}::{fixturedef.argname}"):
            return (yield)

    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """Run a test in its context."""
        begin = time.perf_counter()
        info = getattr(item, "_fixtureinfo", None)
        definitions = info.name2fixturedefs if info else {}
        for name, each in ((n, each) for n, found in definitions.items() for each in found):
            if each.scope != "function":
                self.uses[item.nodeid].add(f"fixture {each.baseid}::{name}")
        with self.context(item.nodeid):
            reports = runtestprotocol(item, nextitem=nextitem)
        self.failed += [item.nodeid] * any(each.failed for each in reports)
        self.seconds[item.nodeid] = round(time.perf_counter() - begin, 3)
        return True


def record() -> None:
    """Run all tests, several times slower than they are."""
    shutil.rmtree(RECORD, ignore_errors=True)
    SESSION.mkdir(parents=True)
    recorder = Recorder()
    functools.lru_cache = recorder.lru_cache
    functools.cache = lambda function: recorder.lru_cache(None)(function)
    recorder.coverage.start()
    recorder.coverage.switch_context(IMPORT)
    pytest.main(PYTEST, plugins=[recorder])
    recorder.coverage.stop()
    recorder.coverage.save()
    uses = {name: sorted(each) for name, each in recorder.uses.items()}
    noted = {"uses": uses, "seconds": recorder.seconds, "failed": recorder.failed}
    (RECORD / "uses.json").write_text(json.dumps({"state": state(), **noted}))


class Touched:
    """Which tests touch a line, themselves or by what they share."""

    def __init__(self) -> None:
        noted = json.loads((RECORD / "uses.json").read_text())
        self.is_present = noted["state"] == state()
        self.seconds: dict[str, float] = noted["seconds"]
        self.failed = set(noted["failed"])
        self.data = coverage.CoverageData(str(RECORD / "coverage"))
        self.data.read()
        self.shared = {each for each in noted["uses"] if each.startswith("shared ")}
        # Context -> those that use it: the tests, and what tests share.
        self.users: dict[str, set[str]] = defaultdict(set)
        for user in {*self.seconds, *noted["uses"]} - {IMPORT}:
            waiting = [user]
            while waiting:
                name = waiting.pop()
                if user not in self.users[name]:
                    self.users[name].add(user)
                    waiting += noted["uses"].get(name, ())

    @functools.cache  # noqa: B019  (one of them lives as long as the process)
    def contexts(self, file: str) -> dict[int, list[str]]:
        """Return the contexts of each line of a file."""
        return self.data.contexts_by_lineno(str(SOURCES / file))

    def users_of(self, file: str, lines: Collection[int]) -> set[str]:
        """Return the contexts in which one of these lines is run, or that use such a one."""
        found = {name for line in lines for name in self.contexts(file).get(line, ())}
        return found.union(*(self.users[name] for name in found))

    def ordered(self, tests: Collection[str]) -> list[str]:
        """Return tests, cheap ones first, one case of each test before its second one."""
        cases: dict[str, list[str]] = defaultdict(list)
        for test in sorted(tests, key=lambda each: (self.seconds[each], each)):
            cases[test.partition("[")[0]].append(test)
        rank = {test: number for each in cases.values() for number, test in enumerate(each)}
        return sorted(rank, key=lambda each: (rank[each], self.seconds[each], each))


# Planting and running


class Planter:
    """Puts faults into the functions that are loaded; used in a fork."""

    def __init__(self) -> None:
        from numba.core.registry import CPUDispatcher

        self.functions: dict[tuple[str, str, int], list[FunctionType]] = defaultdict(list)
        self.caches: list[Any] = []
        self.compiled: dict[FunctionType, Any] = {}
        for each in gc.get_objects():
            if isinstance(each, FunctionType) and each.__code__.co_filename.startswith(str(ROOT)):
                self.functions[self.key(each.__code__)].append(each)
            elif isinstance(each, functools._lru_cache_wrapper):
                code = getattr(getattr(each, "__wrapped__", None), "__code__", None)
                if code is not None and code.co_filename.startswith(str(ROOT)):
                    self.caches.append(each)
            elif isinstance(each, CPUDispatcher):
                self.compiled[each.py_func] = each  # type: ignore[index]
        # Compiled function -> the compiled ones, or those of Python, that name it.
        self.callers: dict[Any, set[Any]] = defaultdict(set)
        for function in itertools.chain(self.compiled, *self.functions.values()):
            for value in self.named(function):
                if isinstance(value, CPUDispatcher):
                    self.callers[value].add(self.compiled.get(function, function))

    @staticmethod
    def key(code: CodeType) -> tuple[str, str, int]:
        return code.co_filename, code.co_qualname, code.co_firstlineno

    @staticmethod
    def named(function: FunctionType) -> Iterator[Any]:
        """Yield what a function may refer to."""
        for cell in function.__closure__ or ():
            with contextlib.suppress(ValueError):
                yield cell.cell_contents
        for name in function.__code__.co_names:
            value = function.__globals__.get(name)
            yield value
            if isinstance(value, ModuleType):
                yield from map(vars(value).get, function.__code__.co_names)

    def targets(self, mutant: Mutant) -> list[tuple[FunctionType, CodeType]]:
        """Return the functions to change and their code with the fault."""
        pairs = []
        waiting = [(mutated(mutant), False)]
        while waiting:
            code, inside = waiting.pop()
            inside = inside or code.co_qualname == mutant.function
            if inside:
                pairs += [(each, code) for each in self.functions[self.key(code)]]
            waiting += [(each, inside) for each in code.co_consts if isinstance(each, CodeType)]
        return pairs

    def reach(self, mutant: Mutant) -> set[Any]:
        """Return the compiled functions that hold the fault, and the functions that name them.

        There are none of a function of Python.
        """
        waiting = [self.compiled[f] for f, _ in self.targets(mutant) if f in self.compiled]
        found = set(waiting)
        while waiting:
            new = self.callers[waiting.pop()] - found
            found |= new
            waiting += new  # Nothing is noted as naming a function of Python.
        return found

    def plant(self, mutant: Mutant) -> None:
        """Change the code in place; compiled callers are not taken from the disk."""
        from numba.core.caching import NullCache

        for each in self.reach(mutant):
            if not isinstance(each, FunctionType):
                each._cache = NullCache()
        targets = self.targets(mutant)
        assert targets, "no function to change"
        for function, code in targets:
            function.__code__ = code


class Server:
    """Has everything imported; a fork of it runs the tests of one fault."""

    def __init__(self, mutants: list[Mutant], minutes: float) -> None:
        self.mutants = mutants
        self.end = time.monotonic() + 60 * minutes
        self.touched = Touched()
        self.believed: dict[str, bool] = {}

    def pytest_sessionstart(self) -> None:
        """Let hypothesis be content with the first example that fails."""
        from hypothesis import Phase, settings

        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("first", settings.default, phases=phases)
        settings.load_profile("first")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the faults that have no row yet."""
        import dpbandits

        for module in pkgutil.walk_packages(dpbandits.__path__, "dpbandits."):
            if not module.name.endswith("__main__"):
                import_module(module.name)
        self.items = {item.nodeid: item for item in session.items}
        self.planter = Planter()
        gc.freeze()
        rows = {key_of(row): row for row in read_rows()}
        for number, mutant in enumerate(self.mutants):
            if key_of(mutant) in rows:
                continue
            if time.monotonic() > self.end:
                break
            row = rows[key_of(mutant)] = self.row(mutant)
            write_rows([rows[key] for key in map(key_of, self.mutants) if key in rows])
            fault = f"{row.file}:{row.line} {row.what}: {row.statement[:50]}"
            print(f"{number + 1:4}{row.seconds:7.1f} s  {row.result:10} {fault}  {row.test}")
        return True

    def row(self, mutant: Mutant) -> Row:
        """Return what becomes of a fault."""
        begin = time.perf_counter()
        users = self.users(mutant)
        # Nothing can be told by what fails without a fault, or has not been recorded.
        out = {*self.touched.failed, *(each for each, good in self.believed.items() if not good)}
        tests = self.touched.ordered(
            (users & self.items.keys() & self.touched.seconds.keys()) - out
        )
        result, test = ("" if tests else "import" if IMPORT in users else "untested"), ""
        while not result:
            result, test = self.run(mutant, tests, users)
            if test and not self.believe(test, is_late=result == "timeout"):
                tests = tests[tests.index(test) + (not self.believed[test]) :]
                result, test = "" if tests else "survived", ""
        names = [each.name for each in fields(Row)][:5]
        place = {name: getattr(mutant, name) for name in names}
        return Row(**place, result=result, test=test, seconds=round(time.perf_counter() - begin, 1))

    def users(self, mutant: Mutant) -> set[str]:
        """Return the tests that run the fault, and what they share that does."""
        users = self.touched.users_of(mutant.file, mutant.lines)
        reach = self.planter.reach(mutant)
        ran: dict[str, set[int]] = defaultdict(set)
        for each in reach:
            if isinstance(each, FunctionType):
                code = each.__code__
                ran[code.co_filename] |= {line for *_, line in code.co_lines() if line} - {
                    code.co_firstlineno
                }
            else:
                path = each.py_func.__code__.co_filename
                for _, function in functions(ast.parse(Path(path).read_text("utf-8"))):
                    for at in body(function):
                        ran[path] |= {*range(at.lineno, (at.end_lineno or 0) + 1)}
        for path, lines in ran.items():
            if Path(path).is_relative_to(SOURCES):
                file = Path(path).relative_to(SOURCES).as_posix()
                users |= self.touched.users_of(file, lines)
        # Those that call a compiled function themselves run no line that can be seen.
        names = {*ran, f"test_{Path(mutant.file).stem}"} if reach else set()
        users |= {n for n, each in self.items.items() if names & {str(each.path), each.path.stem}}
        return users

    def believe(self, test: str, is_late: bool) -> bool:
        """Tell whether a test passes in a fork without a fault, and sooner if it was late.

        Some wait for what another test has computed when they were recorded.
        """
        known = self.touched.seconds[test]
        if test not in self.believed or is_late:
            begin = time.monotonic()
            self.believed[test] = self.run(None, [test], set()) == ("survived", "")
            self.touched.seconds[test] = max(known, time.monotonic() - begin)
            if not self.believed[test]:
                print(f"not believed: {test}")
        return self.believed[test] and not (is_late and self.touched.seconds[test] > 1.5 * known)

    def run(self, mutant: Mutant | None, tests: list[str], users: set[str]) -> tuple[str, str]:
        """Return what a fork has found, and the test that failed or did not end."""
        limit = (3 if mutant is None or self.planter.reach(mutant) else 1) * LIMIT
        folder = Path(tempfile.mkdtemp(prefix="kill-matrix-"))
        receive, send = os.pipe()
        child = os.fork()
        if not child:
            os.close(receive)
            self.play(mutant, tests, users, folder, send)
        os.close(send)
        begin = last = time.monotonic()
        result, test, text = "", "", b""
        while not result:
            # Compiling belongs to the first test that needs it.
            allowed = limit / 3 + 4 * self.touched.seconds.get(test, 10.0)
            if not select.select([receive], [], [], max(last + allowed - time.monotonic(), 0))[0]:
                result = "timeout"
                break
            got = os.read(receive, 1 << 16)
            *lines, text = (text + got).split(b"\n")
            for line in lines:
                word, test = json.loads(line)
                last = time.monotonic()
                if word != "begin":
                    result = word
            if not got:
                # It has crashed.
                result = result or "killed"
            elif not result and last > begin + limit:
                result = "unfinished"
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(receive)
        shutil.rmtree(folder, ignore_errors=True)
        return result, test if result in ("killed", "timeout") else ""

    def play(
        self, mutant: Mutant | None, tests: list[str], users: set[str], folder: Path, send: int
    ) -> None:
        """Plant the fault, run the tests, tell what fails first; never returns."""

        def tell(word: str, test: str) -> None:
            os.write(send, json.dumps([word, test]).encode() + b"\n")

        try:
            os.setsid()
            null = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(null, stream)
            resource.setrlimit(resource.RLIMIT_DATA, (8 << 30, 8 << 30))
            items = [self.items[each] for each in tests]
            (folder / "tests").mkdir()
            for shared in self.touched.shared - users:
                at = folder / "session" / shared.removeprefix("shared ")
                at.parent.mkdir(parents=True, exist_ok=True)
                if (SESSION / shared.removeprefix("shared ")).exists():
                    at.symlink_to(SESSION / shared.removeprefix("shared "))
            (folder / "session").mkdir(exist_ok=True)
            items[0].config._tmp_path_factory._basetemp = folder / "tests"  # type: ignore[attr-defined]
            os.environ["DPBANDITS_TEST_SESSION"] = str(folder / "session")
            for each in self.planter.caches:
                each.cache_clear()
            if mutant is not None:
                self.planter.plant(mutant)
            for item, following in itertools.zip_longest(items, items[1:]):
                tell("begin", item.nodeid)
                reports = runtestprotocol(item, log=False, nextitem=following)
                if any(each.failed for each in reports):
                    tell("killed", item.nodeid)
                    os._exit(0)
            tell("survived", "")
        except BaseException as error:
            tell(f"{error!r}", "")
        finally:
            os._exit(0)


# What has been found


def read_rows() -> list[Row]:
    """Return the rows that exist."""
    if not RESULT.exists():
        return []
    kinds: list[Callable[[str], Any]] = [
        int if each.name == "line" else str for each in fields(Row)
    ]
    kinds[-1] = float
    with RESULT.open(encoding="utf-8", newline="") as lines:
        return [
            Row(*(kind(text) for kind, text in zip(kinds, texts, strict=True)))
            for texts in itertools.islice(csv.reader(lines), 1, None)
        ]


def write_rows(rows: list[Row]) -> None:
    """Write the rows, in the order in which they were drawn."""
    new = RESULT.with_suffix(".new")
    with new.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.DictWriter(lines, [each.name for each in fields(Row)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(asdict, rows))
    new.replace(RESULT)


def summary(drawn: int) -> Iterator[str]:
    """Yield a line for each package: of so many that tests could notice, so many are."""
    rows = read_rows()
    results = ("killed", "timeout", "survived", "unfinished", "untested", "import")
    yield f"{'package':14}{'run':>6}" + "".join(f"{each:>11}" for each in results) + "   score"
    packages = sorted({each.package for each in rows})
    for package in [*packages, None]:
        found = Counter(row.result for row in rows if package in (None, row.package))
        noticed, judged = found["killed"] + found["timeout"], found.total() - found["import"]
        cells = "".join(f"{found[each]:11}" for each in results)
        name = "all" if package is None else package or "(modules)"
        yield f"{name:14}{found.total():6}{cells}{noticed / max(judged, 1):8.1%}"
    yield f"{len(rows)} of {drawn} faults"


def main(words: list[str]) -> None:
    """Record where needed, run, and print the summary; the word is how many minutes to run."""
    os.chdir(ROOT)
    drawn = draw()
    if not (RECORD / "uses.json").exists() or not Touched().is_present:
        if not os.fork():
            record()
            os._exit(0)
        os.wait()
    pytest.main(PYTEST, plugins=[Server(drawn, float(words[0]) if words else 1e9)])
    print(*summary(len(drawn)), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
