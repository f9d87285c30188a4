"""Compile kernels before worker processes need them, one at a time, and say that it is done."""

import fcntl
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache as once
from typing import Any

from numba.core import event

from dpbandits.algorithms import find_definition
from dpbandits.algorithms.base import IdentificationAlgorithm
from dpbandits.bandits import bernoulli, linear
from dpbandits.engine.cells import Cell, Work, make_cell
from dpbandits.kernels import KERNELS_HASH, kernels_folder
from dpbandits.metrics import NASH

_FEATURES = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [0.2, 0.2], [0.1, 0.3], [0.3, 0.1]]
"""Six arms in two dimensions: more than 2 * 2, so that a subset of arms has to be searched for."""


def compile_kernels(cells: Iterable[Cell]) -> None:
    """Compile what cells are played with, in this process, by playing a few rounds.

    Kernels outside the registry are left out: they are not kept on disk.
    """
    cells = list(cells)
    # Realised and Nash regret need every round, which another kernel plays where one skips some.
    kinds = [
        (cell.algorithm, cell.in_lockstep or "realised_regret" in cell.metrics) for cell in cells
    ]
    for name, every_round in sorted({kind for kind in kinds if isinstance(kind[0], str)}):
        _compile(name, every_round)
    if any(cell.in_lockstep for cell in cells):
        _compile("nash")


@once
def _compile(name: str, every_round: bool = False) -> None:
    """Compile an algorithm, or ``nash`` curves, by integers and by logarithms of means.

    Processes that would compile the same wait meanwhile, and then find it on disk.
    """
    if name == "nash":
        pairs = [bernoulli([0.6, worse]) for worse in (0.4, 0.0)]
        cells = [make_cell(algorithm="ucb1", bandit=b, horizon=10, metrics=NASH[:1]) for b in pairs]
    else:
        definition = find_definition(name)
        identifies = isinstance(definition, IdentificationAlgorithm)
        bandit = linear(_FEATURES, [0.5, 0.3]) if identifies else bernoulli([0.6, 0.4])
        metrics = ["realised_regret"] if every_round else None
        given: dict[str, Any] = {"parameters": definition.example, "metrics": metrics}
        cells = [make_cell(algorithm=name, bandit=bandit, horizon=100, **given)]
    with ExitStack() as stack:
        # Where the folder of kernels cannot be written nothing is kept, and none has to wait.
        with suppress(OSError):
            path = kernels_folder() / KERNELS_HASH / f"{name}.lock"
            path.parent.mkdir(parents=True, exist_ok=True)
            fcntl.flock(stack.enter_context(path.open("w")), fcntl.LOCK_EX)
        for cell in cells:
            Work(cell, range(2)).play(0)


class _FirstCompilation(event.Listener):
    """Prints one line at the first compilation that it hears of."""

    def __init__(self, name: str) -> None:
        self.name: str | None = name

    def on_start(self, event: Any) -> None:
        if self.name is not None:
            print(f"compiling {self.name} ...", file=sys.stderr)
        self.name = None

    def on_end(self, event: Any) -> None:
        pass


@contextmanager
def compilation_shown(name: str) -> Iterator[None]:
    """Print one line if a kernel is compiled in this process; none where all are on disk."""
    with event.install_listener("numba:compile", _FirstCompilation(name)):
        yield
