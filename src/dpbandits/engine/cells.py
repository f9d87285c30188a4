"""Cells: what is simulated and recorded, the unit of work and of caching."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbandits.algorithms import REGISTRY, Algorithm, Definition, find_definition
from dpbandits.algorithms.base import IdentificationAlgorithm, Parameters, Task
from dpbandits.bandits import Bandit, LinearBandit
from dpbandits.engine.checks import checked, is_user_defined, require_task, settings_of
from dpbandits.engine.custom import digest
from dpbandits.engine.execute import play_block
from dpbandits.engine.identity import (
    EXECUTE,
    LOCKSTEP,
    TRIALS_OF,
    digest_of,
    fingerprint,
    registered,
    require_unedited,
    stream_key,
)
from dpbandits.engine.lockstep import Watch, play_together
from dpbandits.engine.trials import TRIALS, play_trials
from dpbandits.errors import InputError
from dpbandits.metrics.names import CURVES, IDENTIFIED, NASH, NOMINAL, PER_ARM, require_metric
from dpbandits.metrics.nash import MAXIMAL_PULLS, MAXIMAL_RUNS

BLOCK = 10
"""Regret runs per block: run numbers are cut at multiples of it, so that more runs add blocks.

Identification trials come in blocks of ``TRIALS``, a stream each; a block with Nash metrics is all
runs of one curve.
"""

MAXIMAL_HORIZON = 2**53

CHECKS = "dpbandits.engine.checks"
"""The engine's part of user-defined algorithms alone: results without these checks are not used."""


@dataclass(frozen=True)
class Cell:
    """Some runs of one algorithm on one bandit, and what is recorded of them.

    Make cells with ``make_cell``, which validates.

    Attributes:
        algorithm: an id of the registry, or an algorithm object of the user's own.
        parameters: those of the algorithm, validated.
        variant: ``as-written``, ``as-coded`` or ``repaired``.
        interpretations: every interpretation of the algorithm with its value, as sorted pairs.
        bandit: the instance.
        horizon: number of rounds, or budget of pulls, T.
        first_run: number of the first run.
        runs: how many runs.
        metrics: what is recorded.
        grid: increasing times in [1, T] at which curves are recorded.
        stream: name of a shared random stream, or None for the cell's own.
        runs_per_curve: how many runs make one Nash curve (0: all of them); ``runs`` is a multiple
            of it.
    """

    algorithm: str | Definition
    parameters: Parameters
    variant: str
    interpretations: tuple[tuple[str, str], ...]
    bandit: Bandit
    horizon: int
    first_run: int
    runs: int
    metrics: tuple[str, ...]
    grid: tuple[int, ...]
    stream: str | None = None
    runs_per_curve: int = 0

    @property
    def definition(self) -> Definition:
        """The algorithm itself."""
        return find_definition(self.algorithm)

    @cached_property
    def settings(self) -> Any:
        """Settings of the kernel; InputError where parameters and horizon do not fit together."""
        definition = self.definition
        if isinstance(definition, IdentificationAlgorithm):
            return self.task
        assert isinstance(definition, Algorithm)
        arms = len(self.bandit.arms)
        return settings_of(
            definition, self.parameters, dict(self.interpretations), self.horizon, arms
        )

    @cached_property
    def task(self) -> Task:
        """What an identification algorithm is asked; InputError where the budget is too small."""
        assert isinstance(self.bandit, LinearBandit)
        assert isinstance(self.definition, IdentificationAlgorithm)
        task = Task(self.parameters, dict(self.interpretations), self.bandit, self.horizon)
        require_task(self.definition, task)
        return task

    @property
    def player(self) -> Definition:
        """The algorithm as the engine plays it; one that is user-defined is checked."""
        return checked(self.definition, self.bandit, self.horizon)

    @property
    def in_lockstep(self) -> bool:
        """Whether the cell has Nash metrics, so that the runs of a curve are played together."""
        return any(name in NASH for name in self.metrics)

    @property
    def block_size(self) -> int:
        """Runs per block."""
        if self.in_lockstep:
            return self.runs_per_curve or self.runs
        return TRIALS if isinstance(self.definition, IdentificationAlgorithm) else BLOCK

    @property
    def _variant_apart_from_interpretations(self) -> str:
        """The variant, unless its interpretations say it: equal cells are then one and the same."""
        return "as-written" if self.definition.presets else self.variant

    @cached_property
    def stream_description(self) -> dict[str, Any]:
        """What names the random stream; interpretations at their default are left out of it."""
        if self.stream is not None:
            return {"stream": self.stream}
        defaults = self.definition.interpretations
        return {
            "algorithm": self.definition.id,
            "parameters": parameter_values(self.parameters),
            "variant": self._variant_apart_from_interpretations,
            "readings": {k: v for k, v in self.interpretations if v != defaults[k][0]},
            "bandit": self.bandit.describe(),
            "horizon": self.horizon,
        }

    @cached_property
    def description(self) -> dict[str, Any]:
        """Canonical description of the whole cell but its runs."""
        own = {
            "algorithm": self.definition.id,
            "parameters": parameter_values(self.parameters),
            "variant": self._variant_apart_from_interpretations,
            "interpretations": dict(self.interpretations),
            "bandit": self.bandit.describe(),
            "horizon": self.horizon,
        }
        scored: dict[str, Any] = {}
        if self.in_lockstep and self.bandit.logarithms:
            scored["logarithms"] = list(self.bandit.logarithms)
        if any(name.startswith(NOMINAL) for name in self.metrics):
            scored["nominal"] = list(self.bandit.nominal)
        return (
            own
            | scored
            | {
                "stream": self.stream_description,
                "metrics": list(self.metrics),
                "grid": list(self.grid),
            }
        )

    @cached_property
    def fingerprint(self) -> str:
        """Fingerprint of the sources that the cell's results depend on."""
        return algorithm_fingerprint(self.algorithm, self.metrics)

    def require_unedited(self) -> None:
        """Raise InputError where the sources on disk are no longer those that are played."""
        require_unedited(*_modules(self.definition, self.metrics))

    def blocks(self) -> list["Cell"]:
        """Return the aligned blocks that hold the cell's runs; the ends may reach beyond them.

        Nash curves are blocks of just their runs, and record all that is known of them.
        """
        size = self.block_size
        if self.in_lockstep:
            nominal = any(name.startswith(NOMINAL) for name in self.metrics)
            parts = [name for name in NASH if nominal or not name.startswith(NOMINAL)]
            others = [name for name in self.metrics if name not in NASH]
            curve = replace(self, runs=size, runs_per_curve=0, metrics=(*others, *parts))
            ends = range(self.first_run, self.first_run + self.runs, size)
            return [self._part(replace(curve, first_run=first)) for first in ends]
        first, last = self.first_run // size, (self.first_run + self.runs - 1) // size
        blocks = [replace(self, first_run=b * size, runs=size) for b in range(first, last + 1)]
        return [self._part(block) for block in blocks]

    def _part(self, block: "Cell") -> "Cell":
        """Return a block of this cell with its fingerprint, which takes a while to find."""
        vars(block)["fingerprint"] = self.fingerprint
        return block

    def play(self, root_seed: int, watch: Watch | None = None) -> dict[str, NDArray[np.float64]]:
        """Play the cell's runs, one block, and return each metric, one row a run.

        ``watch`` looks after the curve while it is played, where there are Nash metrics.
        """
        runs = range(self.first_run, self.first_run + self.runs)
        streams = (root_seed, stream_key(self.stream_description), runs)
        definition = self.player
        if isinstance(definition, IdentificationAlgorithm):
            return play_trials(definition, self.task, self.metrics, streams)
        assert isinstance(definition, Algorithm)
        grid = np.array(self.grid, np.int64)
        if self.in_lockstep:
            return play_together(
                definition, self.settings, self.bandit, grid, self.metrics, streams, watch
            )
        return play_block(definition, self.settings, self.bandit, grid, self.metrics, streams)


def algorithm_fingerprint(algorithm: str | Definition, metrics: Sequence[str] = ()) -> str:
    """Return the fingerprint of an algorithm, of the registry or of the user's own, as loaded.

    Args:
        algorithm: the algorithm.
        metrics: what is recorded of it, which decides on the engine's part.

    Raises:
        InputError: an algorithm of the user's own uses something that cannot be hashed.
    """
    definition = find_definition(algorithm)
    ours = fingerprint(*_modules(definition, metrics))
    if not is_user_defined(definition):
        return ours
    return digest_of([ours, parts_digest(definition)])[:16]


def _modules(definition: Definition, metrics: Sequence[str]) -> tuple[str, ...]:
    """Return the modules of this package that an algorithm is played with."""
    engine = LOCKSTEP if any(name in NASH for name in metrics) else EXECUTE
    if isinstance(definition, IdentificationAlgorithm):
        engine = TRIALS_OF
    if is_user_defined(definition):
        return (engine, CHECKS)
    return (registered()[definition.id], engine)


def parts_digest(definition: Definition) -> str:
    """Return the hash of all that an algorithm of the user's own is played with.

    Raises:
        InputError: something of it cannot be hashed.
    """
    names = {
        Algorithm: ("advance", "settings", "state"),
        IdentificationAlgorithm: ("play", "require"),
    }
    kind = Algorithm if isinstance(definition, Algorithm) else IdentificationAlgorithm
    parts = {name: getattr(definition, name) for name in (*names[kind], "parameters")}
    return digest(definition.id, parts)


def parameter_values(parameters: Parameters) -> dict[str, Any]:
    """Return parameters by name."""
    return dict(vars(parameters))


def _require_count(key: str, value: object, minimum: int, maximum: int) -> int:
    if isinstance(value, np.integer):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= maximum:
        raise InputError(f"{key} is {value!r}; allowed: an integer from {minimum} to {maximum}")
    return value


def _require_bandit(bandit: object, identifies: bool) -> None:
    """Raise InputError where an algorithm of this kind cannot be played on the instance."""
    if identifies:
        if not isinstance(bandit, LinearBandit):
            raise InputError(
                f"bandit is {_shortened(bandit)}; allowed: a linear bandit, such as "
                f"linear([[1, 0], [0, 1]], [0.5, 0.4])"
            )
        return
    if not isinstance(bandit, Bandit):
        raise InputError(
            f"bandit is {_shortened(bandit)}; allowed: a Bandit, such as bernoulli([0.7, 0.5])"
        )
    if bandit.largest_reward > 1.0:
        raise InputError(
            f"bandit: rewards reach {bandit.largest_reward:.6g}; allowed: at most 1, which the "
            f"guarantees and indices of regret algorithms assume"
        )


def _shortened(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


@dataclass(frozen=True)
class Series:
    """One curve of a simulation: its label, its tags and its cell."""

    label: str
    tags: Mapping[str, Any]
    cell: Cell


def make_cell(
    *,
    algorithm: str | Definition,
    bandit: Bandit,
    horizon: int,
    runs: int,
    parameters: Mapping[str, Any] | None = None,
    variant: str = "as-written",
    interpretations: Mapping[str, str] | None = None,
    first_run: int = 0,
    metrics: Sequence[str] | None = None,
    grid: Sequence[int] = (),
    stream: str | None = None,
    horizon_name: str = "horizon",
    runs_per_curve: int = 0,
) -> Cell:
    """Validate everything and return the cell.

    ``metrics`` are by default the pseudo-regret, or the success of an identification algorithm;
    ``horizon_name`` is what errors call the horizon; ``runs_per_curve`` is how many runs make one
    Nash curve, all of them where it is 0.

    Raises:
        InputError: unknown algorithm, parameter, interpretation, variant or metric; a value out of
            range; a time outside [1, horizon].
    """
    definition = find_definition(algorithm)
    identifies = isinstance(definition, IdentificationAlgorithm)
    _require_bandit(bandit, identifies)
    known = IDENTIFIED if identifies else (*CURVES, *PER_ARM, *NASH)
    metrics = known[:1] if metrics is None else metrics
    if definition.id in REGISTRY and definition is not REGISTRY[definition.id]:
        raise InputError(f"algorithm: id {definition.id!r} is taken; allowed: an id of your own")
    _require_count(horizon_name, horizon, 1, MAXIMAL_HORIZON)
    times = sorted({_require_count("grid time", t, 1, horizon) for t in grid} or {horizon})
    for name in metrics:
        require_metric(name, known)
    cell = Cell(
        algorithm=definition.id if definition.id in REGISTRY else definition,
        parameters=definition.parameters_from(parameters or {}),
        variant=definition.require_variant(variant),
        interpretations=tuple(
            sorted(definition.interpretations_from(interpretations or {}, variant).items())
        ),
        bandit=bandit,
        horizon=int(horizon),
        first_run=_require_count("first run", first_run, 0, 2**40),
        runs=_require_count("runs", runs, 1, 10**9),
        metrics=tuple(name for name in known if name in metrics),
        grid=tuple(times),
        stream=stream,
        runs_per_curve=runs_per_curve,
    )
    require_curves(cell)
    _ = cell.settings, cell.fingerprint
    return cell


def require_curves(cell: Cell) -> None:
    """Raise InputError where the runs of a cell make no Nash curves, or sums would overflow."""
    if not cell.in_lockstep:
        return
    _require_count("runs of one Nash curve", cell.block_size, 1, MAXIMAL_RUNS)
    if cell.runs % cell.block_size:
        raise InputError(
            f"runs is {cell.runs}, {cell.block_size} of them together; allowed: a multiple of it"
        )
    longest = MAXIMAL_PULLS // cell.block_size
    if cell.horizon > longest:
        raise InputError(
            f"horizon is {cell.horizon}, for a Nash curve of {cell.block_size} runs; allowed: at "
            f"most {longest}, so that pulls are counted without overflow"
        )
