"""User-defined code: what is loaded is played, here and by workers, and keyed by all it uses.

A wrong key would answer with the results of other code; a key that moves costs a computation.
"""

import functools
import importlib
import math
import pickletools
import shutil
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

import dpbandits
from dpbandits.algorithms import REGRET, Algorithm
from dpbandits.bandits.draws import laplace
from dpbandits.own import identity
from dpbandits.own.identity import algorithm_fingerprint, digest, packed, unpacked
from dpbandits.privacy import Guarantee
from support import message_of, mostly_slow, refused, replace_in, run_python

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


class Settings(NamedTuple):
    horizon: int


class State(NamedTuple):
    clock: Any


def play(share: float, settings: Any, state: Any, arms: Any, rng: Any, out: Any) -> int:
    """Play arm 0 for a share of the rounds, then arm 1."""
    first = int(share * settings.horizon)
    out.arms[:2], out.lengths[:2], out.sums[:2] = (0, 1), (first, settings.horizon - first), 0.0
    state.clock[0] = settings.horizon
    return 2


def mine(advance: Any) -> Algorithm:
    return Algorithm(
        id="mine",
        name="Mine",
        paper="none",
        settings=lambda horizon, arms: Settings(horizon),
        state=lambda arms: State(np.zeros(1, np.int64)),
        advance=advance,
        reference=None,
        guarantee="none",
    )


def simulate(algorithm: Any, **changes: Any) -> dpbandits.Simulation:
    bandit = dpbandits.bernoulli([0.75, 0.5])
    base: dict[str, Any] = {"bandit": bandit, "horizon": 40, "runs": 20}
    return dpbandits.simulate(algorithm=algorithm, **(base | changes))


def first_arm(algorithm: Any, **changes: Any) -> float:
    """Return the mean number of pulls of the first arm."""
    return float(simulate(algorithm, **changes).pulls[:, 0].mean())


BASE = """
import functools
import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

import dpbandits

SCALE = 2.0
TABLE = np.arange(3)


class Base:
    FACTOR = 1

    def times(self, x):
        return self.FACTOR * x


class Own(Base):
    @property
    def half(self):
        return 0.5

    @staticmethod
    def add(x, y=1):
        return x + y

    @classmethod
    def made(cls):
        return Own()


OBJECT = Own()
OBJECT.size = 3


def helper(x):
    return even(x - 1) if x else SCALE


def even(x):
    return helper(x - 1) if x else math.sqrt(4.0)


def make(number, inner=None):
    def made(x):
        return number + (inner(x) if inner else 0)

    return made


FIRST, SECOND = make(1), make(2)
ONE, OTHER = make(0, FIRST), make(0, SECOND)


@dataclass(frozen=True)
class Parameters:
    share: float = 0.5
    more: list = field(default_factory=lambda: [1])


class Settings(NamedTuple):
    horizon: int
    share: float = 1.0


@functools.lru_cache(maxsize=4)
def kept(x):
    return x + 1


def root(x, y=3, *, z=4):
    values = [each for each in TABLE if each], OBJECT.half, Own.made()
    return helper(x), values, ONE(x), OTHER(x), Parameters(), Settings(1), kept(x)


LEAN = 0.25


@dpbandits.policy(name="Leans", pulls=dpbandits.whole(1))
class Leans:
    def choose(self, t, counts, sums, rng):
        return 0 if rng.random() < LEAN else t // self.pulls % counts.size
"""
Names = dict[str, Any]


@pytest.fixture
def namespace(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Names]:
    """Return the function that executes a text as a notebook does: its source is in no file."""
    monkeypatch.setitem(sys.modules, "own_namespace", ModuleType("own_namespace"))

    def executed(text: str) -> Names:
        names: Names = {"__name__": "own_namespace"}
        exec(compile(text, "own_namespace", "exec"), names)
        return names

    return executed


EDITS = {
    "SCALE = 2.0": ["SCALE = 2.5", "SCALE = 2"],
    "np.arange(3)": ["np.arange(4)", "np.arange(3.0)"],
    "FACTOR = 1": ["FACTOR = 2"],
    "return self.FACTOR * x": ["return x * self.FACTOR"],
    "return 0.5": ["return 0.25"],
    "x, y=1": ["x, y=2"],
    "OBJECT.size = 3": ["OBJECT.size = 4"],
    "even(x - 1) if x": ["even(x - 2) if x"],
    "math.sqrt(4.0)": ["math.cos(4.0)"],
    "make(1), make(2)": ["make(1), make(3)", "make(2), make(1)"],
    "share: float = 0.5": ["share: float = 0.75", "share: int = 0.5"],
    "lambda: [1]": ["lambda: [2]"],
    "share: float = 1.0": ["share: float = 2.0"],
    "return x + 1": ["return x + 2"],
    "y=3, *, z=4": ["y=4, *, z=4", "y=3, *, z=5"],
    "LEAN = 0.25": ["LEAN = 0.5"],
    "< LEAN": ["> LEAN"],
    "whole(1)": ["whole(2)"],
    "pulls=dpbandits": ["size=dpbandits"],
    "class Leans:": ["class Leans:\n    x = 0"],
    "return 0 if rng": ["return 1 if rng"],
}


def test_whatever_it_uses_counts_and_nothing_else(namespace: Callable[[str], Names]) -> None:
    def keys(old: str, *edits: str) -> set[tuple[str, str]]:
        """Return what a function and a policy are keyed by, after each edit."""
        assert BASE.count(old) == 1
        every = [namespace(BASE.replace(old, new)) for new in edits]
        return {
            (digest("own", each["root"]), algorithm_fingerprint(each["Leans"])) for each in every
        }

    same = ("SCALE = 2.0", "SCALE = 1.0 + 1.0", "# A remark.\nUNUSED = 3\n\n\nSCALE = 2.0")
    found = keys("SCALE = 2.0", *same)
    assert len(found) == 1
    found = found.union(*(keys(old, *edits) for old, edits in EDITS.items()))
    assert len(found) == 1 + sum(map(len, EDITS.values()))


@pytest.mark.slow
def test_a_cell_is_played_and_a_global_that_changes_afterwards_is_noticed(
    namespace: Callable[[str], Names],
) -> None:
    names = namespace(BASE)
    asked = functools.partial(simulate, names["Leans"], params={"pulls": 3})
    assert asked().pulls.sum() == 20 * 40
    names["LEAN"] = 0.5
    changed = (
        "kernel choose was compiled before something that it uses was changed; run its cell again"
    )
    refused(asked, f"algorithm leans: {changed}")


def test_what_it_uses_of_the_package_counts_and_not_all_that_the_package_loads(
    namespace: Callable[[str], Names],
) -> None:
    """A colour of a figure is of no account to a policy that names an instance."""
    for text, expected in (
        ("dpbandits.bernoulli([0.5])", "dpbandits.bandits.instances"),
        ("[lambda: dpbandits.audit]", "dpbandits.auditing.run"),
        ("dpbandits.bandits.draws.pull", "dpbandits.bandits.draws"),
        ("dpbandits", "dpbandits"),
        ("getattr(dpbandits, 'audit'), dpbandits.audit", "dpbandits"),
    ):
        hasher = identity._Hasher()
        names = namespace(f"import dpbandits\ndef root(): return {text}")
        pickled = identity._written("own", names["root"], hasher, "{}")
        steps = [step for step in pickletools.genops(pickled) if step[0].name == "GLOBAL"]
        every = hasher.modules.union(str(name).split()[0] for _, name, _ in steps)
        found = {name for name in every if name.startswith("dpbandits")}
        assert {expected} <= found <= {expected, "dpbandits.auditing.run"}


class Colour(Enum):
    RED = 1


class Plain:
    pass


class Pair(NamedTuple):
    x: int


@numba.njit
def compiled(x):  # type: ignore[no-untyped-def]
    return laplace(np.random.default_rng(), x)


@numba.vectorize
def vectorised(x):  # type: ignore[no-untyped-def]
    return x + 1


VALUES: list[Any] = [
    *(compiled, vectorised, compiled.py_func, functools.partial(compiled, 1.0), math.sin, np.add),
    *(np.sum, np.float64(1.0), np.array([1, None]), Path("x"), Colour.RED, Colour, Plain, Plain()),
    *(Pair(1), Pair, [1, [2]], {"a": {1, 2}}, frozenset({"a"}), 1j, b"x", range(3), slice(1, 2)),
    *(math.nan, -0.0, 0.0, True, 1, None, ..., [].append, str.join, property(abs), np.dtype("f8")),
    *({"two": 2}, {"four": 2}, {"two": 3}, {"a": [1, (2, 3.5)]}, {"a": [1, [2, 3.5]]}, {"a": None}),
    *(numba.float64, np.random.default_rng, isinstance, threading.Thread, np.int8, math, np),
]


def test_values_of_all_kinds_have_hashes_of_their_own() -> None:
    keys = [digest("own", [value]) for value in VALUES]
    assert len(set(keys)) == len(VALUES)
    assert keys == [digest("own", [value]) for value in VALUES]


@numba.experimental.jitclass([("x", numba.int64)])
class Jitted:
    def __init__(self) -> None:
        self.x = 1


LOCK = threading.Lock()


def late() -> Any:
    import support

    return support


def test_what_cannot_be_hashed_is_one_line() -> None:
    for reason, *values in (
        ("cannot pickle '_thread.lock' object", LOCK, [1, {"deep": LOCK}], lambda: LOCK),
        ("cannot pickle 'generator' object", (number for number in range(3))),
        ("it is a jitclass", Jitted),
        ("late imports support when it is called", late, [lambda: late()]),
    ):
        for value in values:
            message = message_of(lambda: digest("own", value))
            assert message.startswith("algorithm own: cannot be hashed (")
            assert reason in message


def test_compiled_modules_of_the_user_are_not_known_by_name_and_installed_ones_by_version(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = ModuleType("own_extension")
    vars(module)["ufunc"] = np.frompyfunc(abs, 1, 1)
    monkeypatch.setitem(sys.modules, "own_extension", module)
    monkeypatch.setattr(identity.sys.modules["math"], "__file__", "/own/math.so", raising=False)
    identity.is_installed.cache_clear()
    assert "math.sin is compiled code" in message_of(lambda: digest("own", math.sin))
    before = digest("own", np.sum)
    monkeypatch.setattr(identity, "_version", lambda top: f"{top} 0")
    assert digest("own", np.sum) != before


SHARE = {"share": 0.75}


def with_global(*arguments: Any) -> int:
    return play(SHARE["share"], *arguments)


PLAY = numba.njit(play)


def compiled_of_factory(share: float) -> Any:
    return numba.njit(
        lambda config, state, arms, rng, out: PLAY(share, config, state, arms, rng, out)
    )


@dataclass
class Playing:
    share: float

    def __call__(self, *arguments: Any) -> int:
        return play(self.share, *arguments)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_numbers_that_are_in_no_source_of_the_kernel_count(
    workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_factory: Any = lambda share: lambda *arguments: play(share, *arguments)  # noqa: E731
    for make in (of_factory, compiled_of_factory, Playing, lambda x: functools.partial(play, x)):
        played = [first_arm(mine(make(share)), workers=workers) for share in (0.25, 0.5)]
        assert played == [10, 20]
    assert first_arm(mine(with_global), workers=workers) == 30
    monkeypatch.setitem(SHARE, "share", 0.5)
    assert first_arm(mine(with_global), workers=workers) == 20


FILE = (Path(__file__).read_text().partition("EXAMPLES = ")[2]).partition("def simulate(")[0]
FILE = f"""
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpbandits.algorithms import Algorithm
from own_beside import part

EXAMPLES = {FILE}
DATA = int(Path(__file__).with_name("own_data.txt").read_text())


def advance(*arguments):
    return play(0.25 + (part.PART + 5 * DATA) / 40, *arguments)


ALGORITHM = mine(advance)
"""
"""An algorithm that uses a package beside it and data that it reads: 10 + 1 + 5 of 40 rounds."""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    (tmp_path / "own_file.py").write_text(FILE)
    inner = tmp_path / "own_beside/inner"
    inner.mkdir(parents=True)
    (inner.parent / "__init__.py").write_text("import own_beside.inner.deep\n")
    (inner.parent / "part.py").write_text("from .inner.deep import DEEP\n\nPART = DEEP - 1\n")
    (inner / "deep.py").write_text("DEEP = 2\n")
    (tmp_path / "own_data.txt").write_text("1")
    return tmp_path / "own_file.py"


@pytest.mark.parametrize("workers", mostly_slow([1, 2], 1))
def test_an_edited_file_is_new_code_in_the_same_interpreter(
    own: Path, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = dpbandits.load_algorithm(own)
    waiting = simulate(before, horizon=80, workers=workers)

    def found() -> float:
        return first_arm(dpbandits.load_algorithm(own), workers=workers)

    assert found() == 16
    replace_in(own, "0.25 +", "0.50 +")
    assert found() == 26
    replace_in(own.parent / "own_beside/part.py", "DEEP - 1", "DEEP + 0")
    assert found() == 27
    own.with_name("own_data.txt").write_text("2")
    assert found() == 32
    replace_in(own.parent / "own_beside/inner/deep.py", "2", "3")
    assert found() == 33
    assert dpbandits.load_algorithm(own) is dpbandits.load_algorithm(own)
    # What was loaded stays what it was.
    assert first_arm(before, workers=workers) == 16
    assert waiting.pulls[:, 0].mean() == 32
    assert not any(name.startswith("own_") for name in sys.modules)
    # Two files may have helpers of one name.
    shutil.copytree(own.parent, own.parent / "other")
    replace_in(own.parent / "other/own_beside/inner/deep.py", "3", "2")
    copy = dpbandits.load_algorithm(own.parent / "other/own_file.py")
    assert [first_arm(dpbandits.load_algorithm(own)), first_arm(copy)] == [33, 32]
    # A module edited after it was imported is played as it was.
    monkeypatch.syspath_prepend(own.parent)
    waiting = simulate(importlib.import_module("own_file").ALGORITHM, horizon=80)
    replace_in(own, "0.50 +", "0.25 +")
    assert waiting.pulls[:, 0].mean() == 66
    for name in [name for name in sys.modules if name.startswith("own_")]:
        del sys.modules[name]


def test_a_kernel_that_took_in_what_has_changed_is_refused(own: Path) -> None:
    text = "@numba.njit\ndef frozen(horizon):\n    return int(0.25 * horizon) + DATA\n\n\n"
    replace_in(own, "def advance", f"import numba\n\n\n{text}def advance")
    replace_in(own, "play(0.25 + (part.PART + 5 * DATA) / 40,", "play(frozen(40) / 40,")
    algorithm = dpbandits.load_algorithm(own)
    assert isinstance(algorithm, Algorithm)
    assert first_arm(algorithm) == 11
    algorithm.advance.__globals__["DATA"] = 3  # type: ignore[attr-defined]
    line = "algorithm mine: kernel frozen was compiled before something that it uses was changed; "
    refused(lambda: first_arm(algorithm), line)
    assert first_arm(dpbandits.load_algorithm(own)) == 11
    # Nor is numba's own cache used, which does not follow the data.
    replace_in(own, "@numba.njit\n", "@numba.njit(cache=True)\n")
    assert first_arm(dpbandits.load_algorithm(own)) == 11
    own.with_name("own_data.txt").write_text("2")
    assert first_arm(dpbandits.load_algorithm(own)) == 12


def test_workers_compile_what_they_are_sent() -> None:
    """A kernel that only they have compiled follows its globals too."""
    advance = compiled_of_factory(0.25)
    first = unpacked(packed("mine", advance))
    assert unpacked(packed("mine", advance)) is first
    cell = advance.py_func.__closure__[0]
    cell.cell_contents = 0.5
    second = unpacked(packed("mine", advance))
    assert second.py_func.__closure__[0].cell_contents == 0.5
    assert first.py_func.__closure__[0].cell_contents == 0.25


CALL = """
import sys

import dpbandits
from dpbandits.own.identity import algorithm_fingerprint

SHARE = {"share": 0.25}
LEAN = 0.25


@dpbandits.policy(name="In a script", share=dpbandits.fraction)
class InAScript:
    def choose(self, t, counts, sums, rng):
        return 0 if rng.random() < self.share * SHARE["share"] + 0.5 else 1


if __name__ == "__main__":
    mine = dpbandits.load_algorithm(sys.argv[1])
    drawn = [lambda rng: rng.random() < LEAN, lambda rng: 0.5 * rng.random()]
    arms = dpbandits.arms(drawn, means=[0.25, 0.25])
    own = dict(bandit=arms, horizon=100, runs=20, workers=int(sys.argv[2]))
    policy = dpbandits.simulate(algorithm=InAScript, params={"share": 1.0}, **own)
    loaded = dpbandits.simulate(algorithm=mine, **own)
    print(algorithm_fingerprint(mine), loaded.pulls.tolist(), policy.pulls.tolist())
"""


@pytest.mark.slow
def test_two_processes_and_two_workers_agree(own: Path, cache_folder: Path) -> None:
    own.with_name("own_call.py").write_text(CALL)
    found = set()
    for number in "12":
        words = ("own_call.py", own.name, number)
        run = run_python(*words, folder=own.parent, changes={"PYTHONHASHSEED": number})
        assert run.returncode == 0, run.stderr
        assert run.stderr.count("does not compile") == 1
        found.add(run.stdout)
        shutil.rmtree(cache_folder / "cells")
    assert len(found) == 1


ALIAS = "from dataclasses import replace\nfrom dpbandits.algorithms import REGRET\n"
ALIAS += "MINE, UCB1 = replace(REGRET['ucb1'], id='mine'), REGRET['ucb1']\n"
FILES = [
    *[(name, ALIAS, "mine") for name in ("own_one.py", "a.b.py", "import.py", "1 x.py")],
    ("two.py", f"{ALIAS}ALGORITHM = replace(MINE, id='algorithm')\n", "algorithm"),
    (
        "w.py",
        f"{ALIAS}B = replace(MINE)\n",
        "defines MINE, B; allowed: one, or one called ALGORITHM",
    ),
    ("w.py", "x = 1\n", "defines no algorithm; allowed: ALGORITHM = Algorithm(...)"),
    ("w.py", "def (:\n", "cannot be imported (SyntaxError: "),
    ("w.py", "1 / 0\n", "cannot be imported (ZeroDivisionError: division by zero)"),
    ("w.py", "import own_nowhere\n", "cannot be imported (ModuleNotFoundError: "),
    ("", None, "is no Python file; allowed: the path of a .py file"),
    ("nowhere.py", None, "is no Python file; allowed: the path of a .py file"),
]
"""Name of a file, its text, and the id of the algorithm in it, or how the one line begins."""


def test_the_algorithm_of_a_file_is_found_or_one_line_says_why(tmp_path: Path) -> None:
    for name, text, expected in FILES:
        path = tmp_path / name
        if text is not None:
            path.write_text(text)
        if expected in ("mine", "algorithm"):
            assert dpbandits.load_algorithm(str(path)).id == expected
        else:
            message = message_of(lambda: dpbandits.load_algorithm(path))
            assert message.startswith(f"{path}: {expected}")


def test_ids_of_the_registry_are_taken() -> None:
    copy = replace(REGRET["ucb1"], id="copy")
    assert algorithm_fingerprint(copy) != algorithm_fingerprint("ucb1")
    assert message_of(lambda: simulate(replace(copy, id="ucb1"))) == (
        "algorithm: id 'ucb1' is taken; allowed: an id of your own"
    )


@pytest.mark.slow
def test_the_example_is_private_and_noisy_enough() -> None:
    """One pull of an arm that pays 1 and of one that pays 0: the first one wins iff
    1 + (X - Y)/epsilon > 0, X and Y Laplace of scale 1, so that the other one wins with
    probability (2 + epsilon) exp(-epsilon) / 4."""
    algorithm = dpbandits.load_algorithm(EXAMPLES / "my_algorithm.py")
    stated = dpbandits.guarantee(algorithm, params={"epsilon": 0.5, "pulls": 3}, horizon=100)
    assert stated == Guarantee("pure", 0.5)
    certain = dpbandits.bernoulli([1.0, 0.0])
    parameters = {"epsilon": 1.0, "pulls": 1}
    chosen = simulate(algorithm, params=parameters, bandit=certain, horizon=3, runs=1000)
    expected = 1000 * 3 * math.exp(-1.0) / 4
    # Four standard deviations; noise of half the scale would be off by ten of them.
    assert abs((chosen.pulls[:, 1] == 2).sum() - expected) < 4 * math.sqrt(expected * 0.724)


def test_a_file_may_be_named_as_a_module_of_python(tmp_path: Path) -> None:
    """Python's own stays what it is, and this package."""
    text = (Path(__file__).resolve().parents[1] / "examples/my_algorithm.py").read_text()
    for name in ("random", "queue", "dpbandits", "__main__"):
        before = sys.modules[name]
        (tmp_path / f"{name}.py").write_text(text)
        assert dpbandits.load_algorithm(tmp_path / f"{name}.py").id == "private-explore-then-commit"
        assert sys.modules[name] is before
        (tmp_path / f"{name}.py").unlink()


@pytest.mark.slow
def test_workers_import_nothing_from_the_folder_one_stands_in(tmp_path: Path) -> None:
    (tmp_path / "random.py").write_text("raise ImportError('not this one')")
    words = "simulate ucb1 --arms 0.7 0.5 --horizon 50 --runs 40 --workers 2 --no-cache"
    code = f"import sys; sys.path.pop(0); from dpbandits.cli import main; main({words.split()})"
    run = run_python("-c", code, folder=tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
