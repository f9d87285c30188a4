"""What is simulated: cells, their runs as works, and series of a simulation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numba
import numpy as np

from dpbandits.algorithms import REGISTRY, Algorithm, Definition, find_definition
from dpbandits.algorithms.base import (
    LARGEST_INTEGER,
    IdentificationAlgorithm,
    Interpretations,
    Parameters,
    Task,
)
from dpbandits.bandits import Bandit, LinearBandit
from dpbandits.engine.identity import PLAY, digest_of, fingerprint, registered, stream_key
from dpbandits.engine.play import TRIALS, MetricArrays, play_curve, play_runs, play_trials
from dpbandits.errors import InputError, require_count
from dpbandits.metrics import CURVES, IDENTIFIED, NASH, NOMINAL, PER_ARM, require_metric
from dpbandits.metrics.nash import MAXIMAL_PULLS, MAXIMAL_RUNS

BATCH = 10
"""Regret runs that a worker plays at a time."""

MAXIMAL_HORIZON = LARGEST_INTEGER

MAXIMAL_VALUES = 2**30
"""Values that are recorded of one metric of the runs of a cell: 8 gigabytes."""


@dataclass(frozen=True)
class Cell:
    """One algorithm on one bandit, and what is recorded of its runs; made by ``make_cell``.

    ``algorithm`` is an id of the registry, except in an ``own.cells.OwnCell``; ``interpretations``
    are all of the algorithm's, as sorted pairs; ``horizon`` is a number of rounds, or a budget;
    ``grid`` increases; ``stream`` names a shared random stream.
    """

    algorithm: str | Definition
    parameters: Parameters
    variant: str
    interpretations: tuple[tuple[str, str], ...]
    bandit: Bandit
    horizon: int
    metrics: tuple[str, ...]
    grid: tuple[int, ...]
    stream: str | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields: a worker process makes anew what follows from them."""
        return {part.name: getattr(self, part.name) for part in fields(self)}

    @cached_property
    def definition(self) -> Definition:
        """The algorithm itself."""
        return find_definition(self.algorithm)

    @cached_property
    def settings(self) -> Any:
        """Settings of the kernel, or the task of an identification algorithm."""
        chosen = self.parameters, dict(self.interpretations)
        return prepared(self.definition, *chosen, self.bandit, self.horizon)

    @property
    def player(self) -> Any:
        """The algorithm as it is played on this bandit."""
        return self.definition

    @property
    def in_lockstep(self) -> bool:
        """Whether the cell has Nash metrics, so that all runs of a curve are played at once."""
        return any(name in NASH for name in self.metrics)

    @property
    def identifies(self) -> bool:
        """Whether the runs are trials of identification."""
        return isinstance(self.definition, IdentificationAlgorithm)

    @property
    def batch(self) -> int:
        """Runs that a worker plays at a time, where they are not those of one Nash curve."""
        return TRIALS if self.identifies else BATCH

    @property
    def departures(self) -> list[str]:
        """Interpretations off those of the variant, as ``log=natural``."""
        preset = self.definition.interpretations_from({}, self.variant)
        return [f"{key}={value}" for key, value in self.interpretations if value != preset[key]]

    @property
    def recorded(self) -> tuple[str, ...]:
        """What is recorded while the cell is played: of a Nash curve all that is known of it."""
        if not self.in_lockstep:
            return self.metrics
        nominal = any(name.startswith(NOMINAL) for name in self.metrics)
        parts = [name for name in NASH if nominal or not name.startswith(NOMINAL)]
        return (*(name for name in self.metrics if name not in NASH), *parts)

    @property
    def _what_is_played(self) -> dict[str, Any]:
        """What is played; cells of two variants with equal interpretations are one and the same."""
        return {
            "algorithm": self.definition.id,
            "parameters": dict(vars(self.parameters)),
            # A variant is its interpretations; the key keeps streams where they are.
            "variant": "as-written",
            "bandit": self.bandit.describe(),
            "horizon": self.horizon,
        }

    @cached_property
    def stream_description(self) -> dict[str, Any]:
        """What names the random stream; interpretations at their default are left out of it."""
        if self.stream is not None:
            return {"stream": self.stream}
        defaults = self.definition.interpretations
        readings = {k: v for k, v in self.interpretations if v != defaults[k][0]}
        return {**self._what_is_played, "readings": readings}

    @cached_property
    def description(self) -> dict[str, Any]:
        """Canonical description of the whole cell."""
        scored: dict[str, Any] = {}
        if self.in_lockstep and self.bandit.logarithms:
            scored["logarithms"] = list(self.bandit.logarithms)
        if any(name.startswith(NOMINAL) for name in self.metrics):
            scored["nominal"] = list(self.bandit.nominal)
        return {
            **self._what_is_played,
            **scored,
            "interpretations": dict(self.interpretations),
            "stream": self.stream_description,
            "metrics": list(self.metrics),
            "grid": list(self.grid),
        }

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules of this package that the algorithm is played with."""
        return registered()[self.definition.id], PLAY

    @cached_property
    def fingerprint(self) -> str:
        """Fingerprint of the sources that the cell's results depend on."""
        return fingerprint(*self.modules)


@dataclass(frozen=True)
class Work:
    """Runs of a cell, the unit of play; those of a Nash curve are one work."""

    cell: Cell
    runs: range

    def __post_init__(self) -> None:
        """Raise InputError where the runs are too many to be recorded."""
        cell, count = self.cell, len(self.runs)
        require_size(count * max(len(cell.grid), len(cell.bandit.arms)))
        if not cell.in_lockstep:
            return
        require_count("runs of one Nash curve", count, 1, MAXIMAL_RUNS)
        longest = MAXIMAL_PULLS // count
        if cell.horizon > longest:
            raise InputError(
                f"horizon is {cell.horizon}, for a Nash curve of {count} runs; allowed: at most "
                f"{longest}, so that pulls are counted without overflow"
            )

    @property
    def rounds(self) -> int:
        """Rounds of all runs together."""
        return self.cell.horizon * len(self.runs)

    def key(self, root_seed: int) -> str:
        """Return the hash of all that the numbers depend on."""
        cell = self.cell
        described = {
            "cell": {**cell.description, "metrics": list(cell.recorded)},
            "root seed": root_seed,
            "fingerprint": cell.fingerprint,
            "numpy": np.__version__,
            "numba": numba.__version__,
        }
        if cell.in_lockstep:  # Nash regret does not add over runs.
            described["runs"] = [self.runs.start, len(self.runs)]
        return digest_of(described)[:32]

    def play(self, root_seed: int, threads: int = 1, player: Any = None) -> MetricArrays:
        """Play the runs and return each metric, one row a run; trials are those of one stream.

        Runs of a Nash curve are played in threads where the algorithm is of the registry.
        ``player`` replaces the cell's own algorithm, as one that counts its rounds does.
        """
        cell = self.cell
        player = player or cell.player
        streams = (root_seed, stream_key(cell.stream_description), self.runs)
        if cell.identifies:
            return play_trials(player, cell.settings, cell.recorded, streams)
        grid = np.array(cell.grid, np.int64)
        given = player, cell.settings, cell.bandit, grid, cell.recorded, streams
        if not cell.in_lockstep:
            return play_runs(*given)
        return play_curve(*given, threads if isinstance(cell.algorithm, str) else 1)


@dataclass(frozen=True)
class Series:
    """One curve of a simulation, chosen by its tags.

    ``runs_per_curve`` of the runs make one Nash curve, all where it is 0.
    """

    label: str
    tags: Mapping[str, Any]
    cell: Cell
    runs: range
    runs_per_curve: int = 0

    works: list[Work] = field(init=False, repr=False, compare=False)
    """The runs as they are played: all of them, or those of each Nash curve."""

    def __post_init__(self) -> None:
        """Split the runs; InputError where they make no whole number of Nash curves."""
        runs, size = self.runs, self.runs_per_curve if self.cell.in_lockstep else 0
        size = size or len(runs)
        if len(runs) % size:
            raise InputError(
                f"runs is {len(runs)}, {size} of them together; allowed: a multiple of it"
            )
        starts = range(runs.start, runs.stop, size)
        works = [Work(self.cell, range(start, start + size)) for start in starts]
        object.__setattr__(self, "works", works)


def prepared(
    definition: Definition,
    parameters: Parameters,
    interpretations: Interpretations,
    bandit: Any,
    length: int,
) -> Any:
    """Return the settings of a kernel, or the task of an identification algorithm."""
    if isinstance(definition, IdentificationAlgorithm):
        task = Task(parameters, interpretations, bandit, length)
        definition.require(task)
        return task
    assert isinstance(definition, Algorithm)
    return definition.settings(length, len(bandit.arms), **vars(parameters), **interpretations)


def require_size(values: int) -> None:
    """Raise InputError where an array or a table has too many values to be held."""
    if values > MAXIMAL_VALUES:
        raise InputError(
            f"runs and times make {values:,} values; allowed: at most {MAXIMAL_VALUES:,}"
        )


def runs_from(runs: object, first: object = 0) -> range:
    """Return the numbers of so many runs from the first on; InputError where it cannot be."""
    start = require_count("first run", first, 0, 2**40)
    return range(start, start + require_count("runs", runs, 1, 10**9))


def _require_bandit(bandit: object, identifies: bool) -> None:
    """Raise InputError where an algorithm of this kind cannot be played on the instance."""
    if not isinstance(bandit, LinearBandit if identifies else Bandit):
        example = "linear([[1, 0], [0, 1]], [0.5, 0.4])" if identifies else "bernoulli([0.7, 0.5])"
        kind = "linear bandit" if identifies else "Bandit"
        raise InputError(f"bandit is {bandit!r:.80}; allowed: a {kind}, such as {example}")
    if not identifies and bandit.largest_reward > 1.0:
        raise InputError(
            f"bandit: rewards reach {bandit.largest_reward:.6g}; allowed: at most 1, which the "
            f"guarantees and indices of regret algorithms assume"
        )


def make_cell(
    *,
    algorithm: str | Definition,
    bandit: Bandit,
    horizon: float,
    parameters: Mapping[str, Any] | None = None,
    variant: str = "as-written",
    interpretations: Mapping[str, str] | None = None,
    metrics: Sequence[str] | None = None,
    grid: Sequence[int] = (),
    stream: str | None = None,
    kind: type[Cell] = Cell,
) -> Cell:
    """Validate everything and return the cell.

    ``metrics`` are by default the pseudo-regret, or the success of an identification algorithm;
    ``kind`` is the class of the cell.
    """
    definition = find_definition(algorithm)
    identifies = isinstance(definition, IdentificationAlgorithm)
    _require_bandit(bandit, identifies)
    known = IDENTIFIED if identifies else (*CURVES, *PER_ARM, *NASH)
    metrics = known[:1] if metrics is None else metrics
    horizon = require_count("horizon", horizon, 1, MAXIMAL_HORIZON)
    times = sorted({require_count("grid time", t, 1, horizon) for t in grid} or {horizon})
    for name in metrics:
        require_metric(name, known)
    cell = kind(
        algorithm=definition.id if definition.id in REGISTRY else definition,
        parameters=definition.parameters_from(parameters or {}),
        variant=definition.require_variant(variant),
        interpretations=tuple(
            sorted(definition.interpretations_from(interpretations or {}, variant).items())
        ),
        bandit=bandit,
        horizon=horizon,
        metrics=tuple(name for name in known if name in metrics),
        grid=tuple(times),
        stream=stream,
    )
    _ = cell.settings, cell.fingerprint  # either raises InputError for code of the user's own
    return cell
