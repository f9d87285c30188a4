"""Cells: what is simulated and recorded, the unit of work and of caching."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbandits.algorithms import REGISTRY, Algorithm, find_algorithm
from dpbandits.bandits import Bandit
from dpbandits.engine.canonical import digest_of
from dpbandits.engine.execute import play_block
from dpbandits.engine.fingerprints import file_fingerprint, simulation_fingerprint
from dpbandits.engine.seeds import stream_key
from dpbandits.errors import InputError
from dpbandits.metrics import METRICS, require_metric

BLOCK = 10
"""Runs per block: run numbers are cut at multiples of it, so that more runs add whole blocks."""

MAXIMAL_HORIZON = 2**53


@dataclass(frozen=True)
class Cell:
    """Some runs of one algorithm on one bandit, and what is recorded of them.

    Make cells with ``make_cell``, which validates.

    Attributes:
        algorithm: an id of the registry, or an Algorithm of the user's own.
        parameters: the validated dataclass of the algorithm.
        variant: ``as-written``, ``as-coded`` or ``repaired``.
        readings: every reading of the algorithm with its value, as sorted pairs.
        bandit: the instance.
        horizon: number of rounds T.
        first_run: number of the first run.
        runs: how many runs.
        metrics: what is recorded.
        grid: increasing times in [1, T] at which curves are recorded.
        stream: name of a shared random stream, or None for the cell's own.
    """

    algorithm: str | Algorithm
    parameters: Any
    variant: str
    readings: tuple[tuple[str, str], ...]
    bandit: Bandit
    horizon: int
    first_run: int
    runs: int
    metrics: tuple[str, ...]
    grid: tuple[int, ...]
    stream: str | None = None

    @property
    def definition(self) -> Algorithm:
        """The algorithm itself."""
        return find_algorithm(self.algorithm)

    @cached_property
    def settings(self) -> Any:
        """What the kernel is told; InputError where parameters and horizon do not fit together."""
        arms = len(self.bandit.arms)
        return self.definition.settings(self.parameters, dict(self.readings), self.horizon, arms)

    @cached_property
    def stream_description(self) -> dict[str, Any]:
        """What names the random stream; readings at their default are left out of it."""
        if self.stream is not None:
            return {"stream": self.stream}
        defaults = self.definition.readings
        return {
            "algorithm": self.definition.id,
            "parameters": parameter_values(self.parameters),
            "variant": self.variant,
            "readings": {k: v for k, v in self.readings if v != defaults[k][0]},
            "bandit": self.bandit.describe(),
            "horizon": self.horizon,
        }

    @cached_property
    def description(self) -> dict[str, Any]:
        """Canonical description of the whole cell but its runs."""
        own = {
            "algorithm": self.definition.id,
            "parameters": parameter_values(self.parameters),
            "variant": self.variant,
            "readings": dict(self.readings),
            "bandit": self.bandit.describe(),
            "horizon": self.horizon,
        }
        return own | {
            "stream": self.stream_description,
            "metrics": list(self.metrics),
            "grid": list(self.grid),
        }

    @cached_property
    def fingerprint(self) -> str:
        """Fingerprint of the sources that the cell's results depend on."""
        return algorithm_fingerprint(self.algorithm)

    def blocks(self) -> list["Cell"]:
        """Return the aligned blocks that hold the cell's runs; the ends may reach beyond them."""
        first = self.first_run // BLOCK
        last = (self.first_run + self.runs - 1) // BLOCK
        return [replace(self, first_run=b * BLOCK, runs=BLOCK) for b in range(first, last + 1)]

    def play(self, root_seed: int) -> dict[str, NDArray[np.float64]]:
        """Play the cell's runs and return each metric, one row a run."""
        runs = range(self.first_run, self.first_run + self.runs)
        streams = (root_seed, stream_key(self.stream_description), runs)
        grid = np.array(self.grid, np.int64)
        return play_block(self.definition, self.settings, self.bandit, grid, self.metrics, streams)


def algorithm_fingerprint(algorithm: str | Algorithm) -> str:
    """Return the fingerprint of an algorithm, of the registry or of the user's own file."""
    definition = find_algorithm(algorithm)
    if definition is REGISTRY.get(definition.id):
        return simulation_fingerprint(definition.reference.__module__)
    kernel = getattr(definition.advance, "py_func", definition.advance)
    parts = [definition.reference, kernel, definition.settings, definition.state]
    sources = [_source_of(definition, part) for part in [*parts, definition.parameters]]
    names = [f"{part.__module__}.{part.__qualname__}" for part in parts]
    return digest_of([names, [file_fingerprint(path) for path in dict.fromkeys(sources)]])[:16]


def _source_of(definition: Algorithm, part: Any) -> Path:
    """Return the file that a function or class of a user's own algorithm stands in."""
    source = getattr(sys.modules.get(part.__module__), "__file__", None)
    if source is None:
        raise InputError(
            f"algorithm {definition.id}: {part.__name__} stands in no file; "
            f"allowed: an Algorithm defined in a module"
        )
    return Path(source)


def parameter_values(parameters: Any) -> dict[str, Any]:
    """Return a parameter dataclass as a dict; whole numbers of float fields become floats."""
    values = asdict(parameters)
    for each in fields(parameters):
        if each.type in (float, "float"):
            values[each.name] = float(values[each.name])
    return values


def _require_count(key: str, value: object, minimum: int, maximum: int) -> int:
    if isinstance(value, np.integer):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= maximum:
        raise InputError(f"{key} is {value!r}; allowed: an integer from {minimum} to {maximum}")
    return value


def make_cell(
    *,
    algorithm: str | Algorithm,
    bandit: Bandit,
    horizon: int,
    runs: int,
    parameters: Mapping[str, Any] | None = None,
    variant: str = "as-written",
    readings: Mapping[str, str] | None = None,
    first_run: int = 0,
    metrics: Sequence[str] = ("pseudo_regret",),
    grid: Sequence[int] = (),
    stream: str | None = None,
) -> Cell:
    """Validate everything and return the cell.

    Raises:
        InputError: unknown algorithm, parameter, reading, variant or metric; a value out of range;
            a time outside [1, horizon].
    """
    definition = find_algorithm(algorithm)
    if not isinstance(bandit, Bandit):
        raise InputError(f"bandit is {bandit!r}; allowed: a Bandit, such as bernoulli([0.7, 0.5])")
    if definition.id in REGISTRY and definition is not REGISTRY[definition.id]:
        raise InputError(f"algorithm: id {definition.id!r} is taken; allowed: an id of your own")
    _require_count("horizon", horizon, 1, MAXIMAL_HORIZON)
    times = sorted({_require_count("grid time", t, 1, horizon) for t in grid} or {horizon})
    names = tuple(require_metric(name) for name in METRICS if name in metrics)
    for name in metrics:
        require_metric(name)
    cell = Cell(
        algorithm=definition.id if definition.id in REGISTRY else definition,
        parameters=definition.parameters_from(parameters or {}),
        variant=definition.require_variant(variant),
        readings=tuple(sorted(definition.readings_from(readings or {}).items())),
        bandit=bandit,
        horizon=int(horizon),
        first_run=_require_count("first run", first_run, 0, 2**40),
        runs=_require_count("runs", runs, 1, 10**9),
        metrics=names,
        grid=tuple(times),
        stream=stream,
    )
    _ = cell.settings, cell.fingerprint
    return cell
