"""Simulate a regret algorithm on a bandit, lazily and from the cache."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpbandits.algorithms import Algorithm, find_algorithm
from dpbandits.algorithms.guarantees import guarantee_of
from dpbandits.bandits import Bandit, read_only
from dpbandits.engine.cache import require_cache
from dpbandits.engine.cells import Cell, Work, make_cell, require_size, runs_from
from dpbandits.engine.compilation import compilation_shown
from dpbandits.engine.compute import compute
from dpbandits.engine.identity import DEFAULT_ROOT_SEED
from dpbandits.errors import InputError, require_count
from dpbandits.metrics import CURVES, NOMINAL, PARTS, PER_ARM, require_metric
from dpbandits.metrics.intervals import Curve, runs_interval
from dpbandits.metrics.nash_curve import NashCurve, require_bias
from dpbandits.own.cells import cell_kind
from dpbandits.privacy.guarantee import Guarantee
from dpbandits.text_tables import aligned, html_table, interval_text, short

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Values = NDArray[np.float64]
Times = NDArray[np.int64]

SHOWN_TIMES = 100
"""Number of times at which frames and plots show a curve unless others are asked for."""


class PlayedRuns:
    """Runs of one algorithm on one bandit; played at first access, or taken from the cache.

    Attributes:
        cell: the algorithm, its parameters, the bandit, and the horizon or budget; what is recorded
            is added when it is asked for.
        runs: how many.
        root_seed: root of all random streams.
        workers: processes to compute with.
        cache: where results are kept.
    """

    horizon_sign: ClassVar[str] = "T"
    metrics: ClassVar[tuple[str, ...]]
    """What is recorded unless something else is asked for: all of it at once, so that a second
    question plays nothing again."""

    def __init__(self, cell: Cell, *, runs: float, seed: int, workers: int, cache: bool) -> None:
        """Keep what is to be played; InputError where a number is not allowed or too large."""
        self.cell = cell
        self.runs = len(runs_from(runs))
        self.root_seed = require_count("seed", seed, 0)
        self.workers = require_count("workers", workers, 1)
        self.cache = require_cache(cache)
        self._kept: dict[tuple[str, ...], tuple[Times, dict[str, Values]]] = {}
        # Raises InputError where they are too many to be recorded.
        self._work(self.metrics, self.times)

    def _work(self, metrics: tuple[str, ...], grid: Sequence[int]) -> Work:
        """Return the work of all runs; InputError where it is too large."""
        return Work(replace(self.cell, metrics=metrics, grid=tuple(grid)), range(self.runs))

    @property
    def guarantee(self) -> Guarantee:
        """What the algorithm guarantees as it is played here, and what is known of that."""
        cell = self.cell
        return guarantee_of(
            cell.definition,
            cell.parameters,
            cell.horizon,
            variant=cell.variant,
            interpretations=dict(cell.interpretations),
            bandit=cell.bandit,
        )

    @property
    def parameters(self) -> str:
        """Parameters, variant and interpretations, as ``epsilon=1, log=natural``; or ``""``."""
        cell = self.cell
        words = [f"{key}={short(value)}" for key, value in vars(cell.parameters).items()]
        words += [cell.variant] if cell.variant != "as-written" else []
        return ", ".join([*words, *cell.departures])

    @property
    def times(self) -> list[int]:
        """The times that frames and plots show unless others are asked for."""
        return [self.cell.horizon]

    @property
    def is_computed(self) -> bool:
        """Whether the summary is known in this process."""
        return self.metrics in self._kept

    def summary(self) -> "pd.DataFrame":
        """Return the results in a few rows: metric, mean, low and high (95 % interval)."""
        import pandas as pd  # Takes a third of a second, and only tables need it.

        table = pd.DataFrame(self._rows(), columns=["metric", "mean", "low", "high"])
        return table.astype({"mean": float, "low": float, "high": float})

    def _rows(self) -> list[tuple[Any, ...]]:
        raise NotImplementedError

    def _recorded(
        self, at: Times | None = None, metrics: tuple[str, ...] | None = None
    ) -> dict[str, Values]:
        """Return metrics of all runs, those along time at ``at`` (by default the horizon alone).

        The times that are shown are always recorded, so that asking for them later plays nothing.
        """
        metrics = metrics or self.metrics
        at = np.array([self.cell.horizon]) if at is None else at
        grid, arrays = self._kept.get(metrics, (np.empty(0, np.int64), {}))
        if not np.isin(at, grid).all():
            grid = np.unique(np.concatenate([self.times, grid, at]))
            arrays = self._play(metrics, grid)
            self._kept[metrics] = grid, arrays
        columns = np.searchsorted(grid, at)
        return {
            name: values[..., columns] if name not in PER_ARM else values
            for name, values in arrays.items()
        }

    def _play(self, metrics: tuple[str, ...], grid: Times) -> dict[str, Values]:
        name = self.cell.definition.id
        with compilation_shown(name):
            [arrays] = compute(
                [self._work(metrics, grid.tolist())],
                root_seed=self.root_seed,
                workers=self.workers,
                cache=self.cache,
                title=f"simulating {name}",
            )
        return {metric: read_only(values) for metric, values in arrays.items()}

    def _tidy(self, times: Times, values: Mapping[str, NDArray[Any]]) -> "pd.DataFrame":
        """Return a row for each metric, run and time; values have the shape (runs, times)."""
        import pandas as pd

        runs, count = self.runs, len(values)
        columns = {
            "algorithm": self.cell.definition.id,
            "parameters": self.parameters,
            "run": np.tile(np.repeat(np.arange(runs), times.size), count),
            "t": np.tile(times, runs * count),
            "metric": np.repeat(np.array([*values], object), runs * times.size),
            "value": np.concatenate([recorded.ravel() for recorded in values.values()]),
        }
        return pd.DataFrame(columns)

    @property
    def setting(self) -> str:
        """Arms, horizon or budget, and runs, in words."""
        cell = self.cell
        runs = f"{self.runs:,} run{'s' if self.runs > 1 else ''}"
        return f"{len(cell.bandit.arms)} arms, {self.horizon_sign} = {cell.horizon:,}, {runs}"

    @property
    def guarantee_in_brief(self) -> str:
        """Kind and parameter of the guarantee, its model, and what is known of it."""
        guarantee = self.guarantee
        if guarantee.kind == "none":
            return guarantee.name
        return f"{guarantee.name}, {guarantee.model}, {guarantee.status}"

    @property
    def _heading(self) -> str:
        given = f" ({self.parameters})" if self.parameters else ""
        return f"{self.cell.definition.id}{given} on {self.setting}"

    def __repr__(self) -> str:
        """Return one line, with the first metric and its interval once they are computed."""
        result = "not computed yet"
        if self.is_computed:
            first = self.summary().iloc[0]
            value = interval_text(first["mean"], first["low"], first["high"])
            result = f"{first['metric']} {value}"
        return f"<{type(self).__name__} of {self._heading}: {result}>"

    def __str__(self) -> str:
        """Return the summary in a few lines, and the guarantee."""
        return f"{self._heading}\n{aligned(self.summary())}\nguarantee: {self.guarantee.describe()}"

    def _repr_html_(self) -> str:
        """Return the summary as a table for notebooks, and the guarantee."""
        table = html_table(self.summary())
        guarantee = escape(self.guarantee.describe())
        return f"<b>{escape(self._heading)}</b>{table}guarantee: {guarantee}"


class Simulation(PlayedRuns):
    """Runs of an algorithm that is judged by its regret.

    Make one with ``dpbandits.simulate``. Printed, or shown by a notebook, it is its summary.
    """

    metrics = ("pseudo_regret", "realised_regret", "pulls")

    @property
    def times(self) -> list[int]:
        """The times that frames and plots show unless others are asked for."""
        steps = np.linspace(0, self.cell.horizon, min(SHOWN_TIMES, self.cell.horizon) + 1)
        return [int(t) for t in steps.round()[1:]]

    @property
    def pseudo_regret(self) -> Values:
        """Sum of mu* minus the mean of the arm played, at the horizon, shape (runs,)."""
        return self._recorded()["pseudo_regret"][:, 0]

    @property
    def realised_regret(self) -> Values:
        """mu* T minus the rewards received, at the horizon, shape (runs,)."""
        return self._recorded()["realised_regret"][:, 0]

    @property
    def pulls(self) -> NDArray[np.int64]:
        """Pulls of each arm, shape (runs, K)."""
        return self._recorded()["pulls"].astype(np.int64)

    def curve(self, *, metric: str, at: Sequence[int]) -> Values:
        """Return a metric at the times ``at`` (each in [1, horizon]), shape (runs, len(at)).

        Args:
            metric: ``pseudo_regret``, for short ``regret``, or ``realised_regret``.
            at: numbers of rounds.

        Raises:
            InputError: a metric that is no curve, a time outside the horizon, or a realised regret
                inside an episode, where it does not exist.
        """
        metric = _full_name(metric)
        values = self._recorded(self._require_times(at))[metric]
        if np.isnan(values).any():
            raise InputError(
                f"metric {metric} of {self.cell.definition.id} exists at the horizon only; "
                f"allowed along t: pseudo_regret"
            )
        return values

    def nash_regret(
        self, *, at: Sequence[int], nominal: bool = False, bias: str = "subtracted"
    ) -> NashCurve:
        """Return the Nash regret of all runs together at the times ``at`` (each in [1, horizon]).

        Its ``standard_error`` and ``bias`` come from the same pass; as an array it is the Nash
        regret, shape (len(at),).

        Args:
            at: numbers of rounds.
            nominal: whether arms are scored by the bandit's nominal means.
            bias: ``subtracted``, an estimate of the Nash regret, which takes two runs at least; or
                ``kept``, the plain average over runs, as published curves show it.

        Raises:
            InputError: a time outside the horizon, an unknown ``bias``, one run whose bias is to be
                subtracted, or more runs or rounds than can be counted.

        Example:
            >>> import dpbandits
            >>> curve = dpbandits.simulate(
            ...     algorithm="ucb1", bandit=dpbandits.bernoulli([0.7, 0.5]), horizon=50, runs=9
            ... ).nash_regret(at=[2, 50])
            >>> curve.nash_regret.round(4)
            array([0.1084, 0.0661])
        """
        times = self._require_times(at)
        if require_bias(bias) == "subtracted" and self.runs < 2:
            raise InputError("runs is 1; allowed: at least 2 for a bias, or bias='kept'")
        names = tuple((NOMINAL if nominal else "") + part for part in PARTS[:2])
        quantities, influences = (self._recorded(times, names)[name] for name in names)
        curve = NashCurve.of_parts(times, quantities[0], self.runs, influences)
        return curve.with_bias(bias)

    def frame(
        self, *, metric: str | Sequence[str] = "regret", at: Sequence[int] | None = None
    ) -> "pd.DataFrame":
        """Return metrics of every run along time, as a tidy table.

        Its columns are algorithm, parameters (as text), run (from 0), t (rounds), metric and value.

        Args:
            metric: ``pseudo_regret``, for short ``regret``, ``realised_regret``, or a list of them.
            at: numbers of rounds; by default up to 100 even steps to the horizon.

        Raises:
            InputError: as ``curve``.

        Example:
            >>> import dpbandits
            >>> simulation = dpbandits.simulate(
            ...     algorithm="ucb1", bandit=dpbandits.bernoulli([0.7, 0.5]), horizon=50, runs=2
            ... )
            >>> simulation.frame(at=[10, 50])[["run", "t", "metric"]].to_numpy().tolist()[:2]
            [[0, 10, 'pseudo_regret'], [0, 50, 'pseudo_regret']]
        """
        times = self._require_times(self.times if at is None else at)
        names = [_full_name(name) for name in ([metric] if isinstance(metric, str) else metric)]
        require_size(self.runs * times.size * len(names))
        return self._tidy(
            times, {name: self.curve(metric=name, at=times.tolist()) for name in names}
        )

    def _rows(self) -> list[tuple[Any, ...]]:
        """Return regrets at the horizon and pulls of each arm, with t intervals over runs."""
        pulls = {f"pulls of arm {arm}": values for arm, values in enumerate(self.pulls.T)}
        regrets = {"pseudo_regret": self.pseudo_regret, "realised_regret": self.realised_regret}
        return [(name, *runs_interval(values)) for name, values in (regrets | pulls).items()]

    def plot(
        self,
        *,
        metric: str = "regret",
        at: Sequence[int] | None = None,
        axes: "Axes | None" = None,
    ) -> "Axes":
        """Draw the mean of a metric over runs along time, over its 95 % interval.

        Args:
            metric: ``pseudo_regret``, for short ``regret``, ``realised_regret`` or ``nash_regret``.
            at: numbers of rounds; by default up to 100 even steps to the horizon.
            axes: where to draw; by default new ones.

        Returns:
            The axes, to change or to save (``axes.figure.savefig``).

        Raises:
            InputError: as ``curve``.
        """
        # Simulating needs no plotting libraries.
        from dpbandits.play.plots import plot_curves

        return plot_curves([self.mean_curve(metric=metric, at=at)], axes)

    def mean_curve(self, *, metric: str = "regret", at: Sequence[int] | None = None) -> Curve:
        """Return the mean of a metric over runs, with its 95 % interval, as ``plot`` shows it.

        Args:
            metric: as for ``plot``.
            at: numbers of rounds; by default up to 100 even steps to the horizon.
        """
        times = self._require_times(self.times if at is None else at)
        label = f"{self.cell.definition.name}{f', {self.parameters}' if self.parameters else ''}"
        if metric == "nash_regret":
            return self.nash_regret(at=times.tolist()).mean_curve(label, self.cell.definition.id)
        name = _full_name(metric, "nash_regret")
        numbers = runs_interval(self.curve(metric=name, at=times.tolist()))
        return Curve(label, self.cell.definition.id, name, times, *numbers)

    def _require_times(self, at: Sequence[int] | Times) -> Times:
        """Return the times ``at``; InputError unless they are times of the run."""
        try:
            times = np.asarray(at)
        except ValueError:
            times = np.empty(0)
        is_whole = np.issubdtype(times.dtype, np.integer) or (
            np.issubdtype(times.dtype, np.floating) and np.array_equal(times, times.round())
        )
        if times.ndim != 1 or not times.size or not is_whole:
            raise InputError(f"at is {at!r}; allowed: a list of whole numbers of rounds")
        if times.min() < 1 or times.max() > self.cell.horizon:
            raise InputError(f"at is {at!r}; allowed: times from 1 to {self.cell.horizon}")
        return times.astype(np.int64)


def _full_name(metric: str, *others: str) -> str:
    """Return the name of a metric along time, of which ``regret`` is short for one."""
    return "pseudo_regret" if metric == "regret" else require_metric(metric, (*CURVES, *others))


def simulate(
    *,
    algorithm: str | Algorithm,
    bandit: Bandit,
    horizon: float,
    runs: float,
    params: Mapping[str, Any] | None = None,
    variant: str = "as-written",
    interpretations: Mapping[str, str] | None = None,
    seed: int = DEFAULT_ROOT_SEED,
    workers: int = 1,
    cache: bool = True,
    **parameters: Any,
) -> Simulation:
    """Simulate ``runs`` independent runs of an algorithm on a bandit.

    Everything is validated at once; nothing is computed before a result is asked for.

    Args:
        algorithm: an id (``dpbandits list``) or an Algorithm of your own.
        bandit: the instance, for example ``dpbandits.bernoulli([0.7, 0.5])``.
        horizon: number of rounds, a whole number of at least 1, such as 10_000 or 1e4.
        runs: number of runs, at least 1.
        params: the algorithm's parameters.
        variant: ``as-written``, ``as-coded`` or ``repaired``, where the algorithm has it.
        interpretations: named interpretations that depart from their defaults.
        seed: root of all random streams, a whole number of at least 0.
        workers: processes to compute with; results do not depend on it.
        cache: whether results are taken from the cache and kept there; without it they are computed
            anew by every call.
        parameters: parameters of the algorithm by keyword, such as ``epsilon=1.0``.

    Raises:
        InputError: an argument is unknown or out of range.

    Example:
        >>> import dpbandits
        >>> simulation = dpbandits.simulate(
        ...     algorithm="m-ts-gaussian",
        ...     params={"b": 10, "c": 1.0},
        ...     bandit=dpbandits.bernoulli([0.7, 0.5]),
        ...     horizon=50,
        ...     runs=3,
        ... )
        >>> simulation.pulls.sum(axis=1)
        array([50, 50, 50])
    """
    definition = find_algorithm(algorithm)
    arguments = [*signature(simulate).parameters][:-1]
    cell = make_cell(
        kind=cell_kind(definition, bandit),
        algorithm=definition,
        bandit=bandit,
        horizon=horizon,
        parameters=definition.merged_parameters(params, parameters, arguments),
        variant=variant,
        interpretations=interpretations,
    )
    return Simulation(cell, runs=runs, seed=seed, workers=workers, cache=cache)
