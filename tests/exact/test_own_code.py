"""The hash of code of the user's own: what it follows, what it does not, what it refuses."""

import functools
import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from dpbandits.bandits.draws import laplace
from dpbandits.engine import installed
from dpbandits.engine.own_code import own_digest
from support import message_of

BASE = """
import functools
import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

SCALE = 2.0
TABLE = np.arange(3)
NAMES = {"one", "two", "three"}
NESTED = {"a": [1, (2, 3.5)], "b": None}


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
        return cls()


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
    values = [each for each in TABLE if each in NAMES], NESTED, OBJECT.half, Own.made()
    return helper(x), values, ONE(x), OTHER(x), Parameters(), Settings(1), kept(x)
"""


def namespace(text: str) -> dict[str, Any]:
    """Return the names that a module of the user's has; it stands in no file."""
    names: dict[str, Any] = {"__name__": "own_namespace"}
    exec(compile(text, "own_namespace", "exec"), names)
    return names


@pytest.fixture(autouse=True)
def module(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the dataclasses of the namespace find the module that they think they stand in."""
    import sys
    import types

    monkeypatch.setitem(sys.modules, "own_namespace", types.ModuleType("own_namespace"))


def digest(text: str) -> str:
    return own_digest("own", {"advance": namespace(text)["root"]})


def test_equal_code_has_equal_hashes() -> None:
    assert digest(BASE) == digest(BASE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SCALE = 2.0", "SCALE = 2.5"),
        ("SCALE = 2.0", "SCALE = 2"),
        ("np.arange(3)", "np.arange(4)"),
        ("np.arange(3)", "np.arange(3.0)"),
        ('"three"', '"four"'),
        ("(2, 3.5)", "(2, 3.25)"),
        ("(2, 3.5)", "[2, 3.5]"),
        ('"b": None', '"b": 0'),
        ("FACTOR = 1", "FACTOR = 2"),
        ("return self.FACTOR * x", "return x * self.FACTOR"),
        ("return 0.5", "return 0.25"),
        ("x, y=1", "x, y=2"),
        ("OBJECT.size = 3", "OBJECT.size = 4"),
        ("even(x - 1) if x", "even(x - 2) if x"),
        ("math.sqrt(4.0)", "math.cos(4.0)"),
        ("make(1), make(2)", "make(1), make(3)"),
        ("make(1), make(2)", "make(2), make(1)"),
        ("make(0, FIRST), make(0, SECOND)", "make(0, SECOND), make(0, FIRST)"),
        ("share: float = 0.5", "share: float = 0.75"),
        ("share: float = 0.5", "share: int = 0.5"),
        ("lambda: [1]", "lambda: [2]"),
        ("share: float = 1.0", "share: float = 2.0"),
        ("return x + 1", "return x + 2"),
        ("y=3, *, z=4", "y=4, *, z=4"),
        ("y=3, *, z=4", "y=3, *, z=5"),
    ],
)
def test_whatever_it_uses_counts(old: str, new: str) -> None:
    assert BASE.count(old) == 1
    assert digest(BASE.replace(old, new)) != digest(BASE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SCALE = 2.0", "# A remark.\nUNUSED = 3\n\n\nSCALE = 2.0"),
        ('{"one", "two", "three"}', '{"three", "two", "one"}'),
        ("SCALE = 2.0", "SCALE = 1.0 + 1.0"),
    ],
)
def test_what_it_does_not_use_does_not_count(old: str, new: str) -> None:
    assert digest(BASE.replace(old, new)) == digest(BASE)


def test_copies_of_one_function_are_one() -> None:
    """As after a journey to another process, where two kernels no longer share a helper."""
    text = "def helper(x):\n    return x\n\n\ndef one(x):\n    return helper(x)\n\n\n"
    text += "def other(x):\n    return helper(x) + 1\n"
    shared = namespace(text)
    apart = namespace(text)
    digests = [
        own_digest("own", {"one": shared["one"], "other": each["other"]})
        for each in (shared, apart)
    ]
    assert digests[0] == digests[1]


class Colour(Enum):
    RED = 1


class Plain:
    pass


@dataclass
class Data:
    x: int


class Pair(NamedTuple):
    x: int


LOCK, FILE = threading.Lock(), (number for number in range(3))


@numba.njit
def compiled(x: float) -> float:
    return float(laplace(np.random.default_rng(), x))


@numba.vectorize
def vectorised(x):  # type: ignore[no-untyped-def]
    return x + 1


VALUES: list[Any] = [
    *(compiled, vectorised, compiled.py_func, functools.partial(compiled, 1.0), math.sin, np.add),
    *(np.sum, np.float64(1.0), np.array([1, None]), Path("x"), Colour.RED, Plain, Plain(), Data(1)),
    *(Pair(1), Pair, [1, [2]], {"a": {1, 2}}, frozenset({"a"}), 1j, b"x", range(3), slice(1, 2)),
    *(math.nan, -0.0, 0.0, True, 1, None, ..., [].append, str.join, Data.__init__, property(abs)),
    *(
        np.dtype("f8"),
        numba.float64,
        np.random.default_rng,
        isinstance,
        threading.Thread,
        np.int8,
    ),
]


def test_values_of_all_kinds_have_hashes_of_their_own() -> None:
    digests = [own_digest("own", {"part": [each]}) for each in VALUES]
    assert len(set(digests)) == len(VALUES)
    assert digests == [own_digest("own", {"part": [each]}) for each in VALUES]


@numba.experimental.jitclass([("x", numba.int64)])
class Jitted:
    def __init__(self) -> None:
        self.x = 1


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (LOCK, "it is a lock"),
        (FILE, "it is a generator"),
        ([1, {"deep": LOCK}], "it is a lock"),
        (Jitted, "it is a "),
    ],
)
def test_what_cannot_be_hashed_is_refused(value: Any, reason: str) -> None:
    message = message_of(lambda: own_digest("own", {"advance": value}))
    assert message.startswith("algorithm own: advance")
    assert f"cannot be hashed ({reason}" in message


def test_the_place_of_what_cannot_be_hashed_is_said() -> None:
    def inner() -> Any:
        return LOCK

    def outer() -> Any:
        return inner()

    message = message_of(lambda: own_digest("own", {"advance": outer}))
    assert "algorithm own: advance.inner.LOCK cannot be hashed" in message


def of_number(number: int) -> Callable[[], int]:
    return lambda: number


def test_one_factory_makes_different_algorithms() -> None:
    assert own_digest("own", {"f": of_number(1)}) != own_digest("own", {"f": of_number(2)})
    assert own_digest("own", {"f": of_number(1)}) == own_digest("own", {"f": of_number(1)})


def test_a_package_that_links_to_its_sources_is_the_users() -> None:
    assert installed.origin("numpy") == f"numpy {np.__version__}"
    assert str(installed.origin("json.decoder")).startswith("python 3.")
    assert installed.origin(__name__) is None
    assert installed.origin("pytest") == f"pytest {pytest.__version__}"
    assert str(installed.origin("dpbandits.bandits.draws")).startswith("dpbandits.bandits.draws ")
