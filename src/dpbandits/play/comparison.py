"""Play several algorithms on one bandit, for one table and one plot."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dpbandits.algorithms import Definition, IdentificationAlgorithm, find_definition
from dpbandits.bandits import Bandit
from dpbandits.engine.identity import DEFAULT_ROOT_SEED
from dpbandits.errors import InputError
from dpbandits.play.identification import Identification, identify
from dpbandits.play.simulation import Simulation, simulate
from dpbandits.text_tables import aligned, html_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Entry = str | Definition | Mapping[str, Any]
"""An id, an algorithm of the user's own, or a mapping with the keys ``KEYS``."""

KEYS = ("algorithm", "params", "variant", "interpretations")


class Comparison:
    """Several algorithms on one bandit, at one horizon or budget, from one root seed.

    Make one with ``dpbandits.compare``. Printed, or shown by a notebook, it is its summary.

    Attributes:
        simulations: what was played, a ``Simulation`` or ``Identification`` for each algorithm.
    """

    def __init__(self, simulations: Sequence[Simulation] | Sequence[Identification]) -> None:
        """Keep the simulations, at least one."""
        self.simulations: list[Simulation | Identification] = [*simulations]

    def frame(
        self, *, metric: str | Sequence[str] = "regret", at: Sequence[int] | None = None
    ) -> pd.DataFrame:
        """Return the tables of all algorithms as one.

        Its columns are algorithm, parameters (as text), run (from 0), t, metric and value.

        Args:
            metric: as for ``Simulation.frame``.
            at: numbers of rounds; by default up to 100 even steps to the horizon.

        Raises:
            InputError: as ``Simulation.frame``; or best arms are compared and one of them is given.
        """
        self._require_regret(metric, at)
        frames = [
            runs.frame(metric=metric, at=at) if isinstance(runs, Simulation) else runs.frame()
            for runs in self.simulations
        ]
        return pd.concat(frames, ignore_index=True)

    def summary(self) -> pd.DataFrame:
        """Return a row for each algorithm, with what it guarantees.

        Its columns are algorithm, parameters, metric (``pseudo_regret`` at the horizon, or
        ``success``), mean, low, high (95 % interval) and guarantee.
        """
        rows = [
            {
                "algorithm": runs.cell.definition.id,
                "parameters": runs.parameters,
                **runs.summary().iloc[0].to_dict(),
                "guarantee": runs.guarantee_in_brief,
            }
            for runs in self.simulations
        ]
        return pd.DataFrame(rows)

    def plot(
        self,
        *,
        metric: str = "regret",
        at: Sequence[int] | None = None,
        axes: "Axes | None" = None,
    ) -> "Axes":
        """Draw a line for each algorithm over its 95 % interval; of best arms, a row for each.

        Args:
            metric: as for ``Simulation.plot``.
            at: numbers of rounds; by default up to 100 even steps to the horizon.
            axes: where to draw; by default new ones.

        Raises:
            InputError: as ``Simulation.plot``; or best arms are compared and one of them is given.
        """
        # Comparing needs no plotting libraries.
        from dpbandits.play.plots import plot_curves, plot_shares

        self._require_regret(metric, at)
        curves = [
            runs.mean_curve(metric=metric, at=at)
            for runs in self.simulations
            if isinstance(runs, Simulation)
        ]
        if curves:
            return plot_curves(curves, axes)
        rows = self.summary()
        share, low, high = (rows[key].to_numpy(np.float64) for key in ("mean", "low", "high"))
        labels = [f"{runs.cell.definition.name}\n{runs.parameters}" for runs in self.simulations]
        title = "share of trials that return the best arm"
        return plot_shares(labels, list(rows["algorithm"]), (share, low, high), title, axes)

    def _require_regret(self, metric: object, at: object) -> None:
        """Raise InputError where metric or times are given, and best arms are compared."""
        is_given = metric != "regret" or at is not None
        if is_given and isinstance(self.simulations[0], Identification):
            raise InputError("metric, at: are given for best arms; allowed: for regret alone")

    def __iter__(self) -> Iterator[Simulation | Identification]:
        """Iterate over the simulations."""
        return iter(self.simulations)

    def __len__(self) -> int:
        """Return the number of algorithms."""
        return len(self.simulations)

    @property
    def _heading(self) -> str:
        return f"{len(self)} algorithms on {self.simulations[0].setting}"

    def __str__(self) -> str:
        """Return the summary in a few lines."""
        return f"{self._heading}\n{aligned(self.summary())}"

    def __repr__(self) -> str:
        """Return one line: what is compared, and how much of it is computed."""
        computed = sum(runs.is_computed for runs in self.simulations)
        return f"<Comparison of {self._heading}: {computed} of {len(self)} computed>"

    def _repr_html_(self) -> str:
        """Return the summary as a table for notebooks."""
        return f"<b>{escape(self._heading)}</b>{html_table(self.summary())}"


def compare(
    algorithms: Sequence[Entry],
    *,
    bandit: Bandit,
    runs: float,
    horizon: float | None = None,
    budget: float | None = None,
    params: Mapping[str, Any] | None = None,
    seed: int = DEFAULT_ROOT_SEED,
    workers: int = 1,
    cache: bool = True,
    **parameters: Any,
) -> Comparison:
    """Play several algorithms on one bandit, at one horizon or budget of pulls.

    Everything is validated at once; nothing is computed before a result is asked for.

    Args:
        algorithms: each an id (``dpbandits list``), an algorithm of your own, or a mapping with
            ``algorithm`` and, as for ``simulate``, ``params``, ``variant``, ``interpretations``.
        bandit: the instance.
        runs: number of runs of each; and the other arguments of ``simulate``.
        horizon: number of rounds, of algorithms that are judged by regret.
        budget: number of pulls, of algorithms that name the best arm.
        params: parameters for all algorithms that have them; an algorithm's own come first.
        seed: root of all random streams.
        workers: processes to compute with.
        cache: whether results are taken from the cache and kept there.
        parameters: the same as ``params`` by keyword, such as ``epsilon=1.0``.

    Raises:
        InputError: an argument is unknown or out of range; some algorithms are judged by regret and
            others name a best arm; or no algorithm has a parameter that is given.

    Example:
        >>> import dpbandits
        >>> comparison = dpbandits.compare(
        ...     ["ucb1", "dp-se", {"algorithm": "dp-se", "params": {"epsilon": 0.1}}],
        ...     bandit=dpbandits.bernoulli([0.7, 0.5]),
        ...     horizon=100,
        ...     runs=3,
        ...     epsilon=1.0,
        ... )
        >>> comparison.summary()["parameters"].tolist()
        ['', 'epsilon=1', 'epsilon=0.1']
    """
    if isinstance(algorithms, str | Mapping | Definition) or not len(algorithms):
        raise InputError(f"algorithms is {algorithms!r}; allowed: a list of algorithms")
    entries = _with_shared([*map(_entry, algorithms)], {**(params or {}), **parameters})
    name = _length_name([entry["algorithm"] for entry in entries])
    given = {"horizon": horizon, "budget": budget}
    for key, value in given.items():
        if (key == name) != (value is not None):
            fault = "missing" if value is None else "given"
            raise InputError(f"compare: {key} is {fault}; allowed: {name}, for these algorithms")
    shared = {"bandit": bandit, "runs": runs, "seed": seed, "workers": workers, "cache": cache}
    play: Any = identify if name == "budget" else simulate
    return Comparison([play(**entry, **shared, **{name: given[name]}) for entry in entries])


def _entry(given: Entry) -> dict[str, Any]:
    """Return what is played for an entry: the algorithm itself, and arguments of its own."""
    entry = dict(given) if isinstance(given, Mapping) else {"algorithm": given}
    if "algorithm" not in entry or not set(KEYS).issuperset(entry):
        raise InputError(
            f"algorithms: keys are {', '.join(map(str, entry))}; allowed: {', '.join(KEYS)}, "
            f"the first of them always"
        )
    return entry | {"algorithm": find_definition(entry["algorithm"])}


def _with_shared(entries: list[dict[str, Any]], shared: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the entries with the shared parameters that their algorithms have."""
    known = dict.fromkeys(name for entry in entries for name in entry["algorithm"].parameters)
    for name in shared:
        if name not in known:
            raise InputError.unknown("compare: parameter", name, known)
    completed = []
    for entry in entries:
        names = entry["algorithm"].parameters
        taken = {name: value for name, value in shared.items() if name in names}
        completed.append(entry | {"params": taken | (entry.get("params") or {})})
    return completed


def _length_name(definitions: list[Definition]) -> str:
    """Return what the algorithms are played to: ``horizon`` or ``budget``."""
    kinds = {isinstance(definition, IdentificationAlgorithm) for definition in definitions}
    if len(kinds) > 1:
        ids = ", ".join(definition.id for definition in definitions)
        raise InputError(
            f"algorithms are {ids}; allowed: those judged by regret alone, or those that name a "
            f"best arm alone"
        )
    return "budget" if kinds == {True} else "horizon"
