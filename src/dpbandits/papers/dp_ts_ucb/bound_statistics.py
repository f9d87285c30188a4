"""Statistics of the analytic claims: numbers read off the exactly computed curves.

``accounting`` is how eta of DP-TS-UCB is computed: ``theorem4.4``, ``theorem4.6`` or ``tight``
(spec errata E2 and E8). A NaN in what a statistic reads makes its number NaN.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from dpbandits.claims import Estimate, Evidence, exact

HORIZONS = "privacy-by-horizon"
ALPHAS = "privacy-by-alpha"
CROSSOVER = "crossover"
CONSTANTS = "constants"

Values = NDArray[np.float64]


def largest_level_step(evidence: Evidence, *, accounting: str) -> Mapping[str, Estimate]:
    """Largest change of eta from one alpha to the next, at each horizon."""
    frame = evidence.analytic(HORIZONS, accounting=accounting)
    levels = frame.pivot(index="x", columns="alpha", values="y")
    steps = np.diff(levels.to_numpy(), axis=1).max(axis=1)
    return {f"T={horizon}": exact(step) for horizon, step in zip(levels.index, steps, strict=True)}


def constant_level(evidence: Evidence, *, accounting: str) -> Mapping[str, Estimate]:
    """Eta at alpha = 1, at each horizon."""
    frame = evidence.analytic(HORIZONS, accounting=accounting, alpha=1.0)
    return {f"T={horizon}": exact(y) for horizon, y in zip(frame["x"], frame["y"], strict=True)}


def level_spread(evidence: Evidence, *, accounting: str) -> Estimate:
    """Largest over smallest eta at alpha = 1, over the horizons, minus 1."""
    levels = _y(evidence, HORIZONS, accounting=accounting, alpha=1.0)
    return exact(levels.max() / levels.min() - 1.0)


def root_deviation(evidence: Evidence, *, accounting: str) -> Mapping[str, Estimate]:
    """Eta at alpha = 1 over sqrt(2 c0), minus 1, at each horizon."""
    root = _y(evidence, CONSTANTS, quantity="root").item()
    levels = constant_level(evidence, accounting=accounting)
    return {horizon: exact(level.value / root - 1.0) for horizon, level in levels.items()}


def level_ratio(evidence: Evidence, *, alpha: float, accounting: str) -> Estimate:
    """Eta of DP-TS-UCB over that of Modified TS at (0, 5 ln(T)^alpha), T = 1e6."""
    own = _y(evidence, ALPHAS, algorithm="dp-ts-ucb", accounting=accounting, x=alpha)
    other = _y(evidence, ALPHAS, algorithm="m-ts-gaussian", x=alpha)
    return exact(own.item() / other.item())


def level_ratio_over_time(
    evidence: Evidence, *, horizon: int, over: str, accounting: str
) -> Estimate:
    """Eta of DP-TS-UCB(0) at a horizon over that of ``over``, an id of an algorithm."""
    own = _y(evidence, CROSSOVER, algorithm="dp-ts-ucb", accounting=accounting, x=horizon)
    return exact(own.item() / _y(evidence, CROSSOVER, algorithm=over, x=horizon).item())


def largest_ratio_step(evidence: Evidence, *, over: str, accounting: str) -> Estimate:
    """Largest change of the same ratio from one horizon to the next, over T = 1e4 .. 1e8."""
    return exact(np.diff(_ratios(evidence, over, accounting)).max())


def smallest_level_ratio(evidence: Evidence, *, over: str, accounting: str) -> Estimate:
    """Smallest value of the same ratio over T = 1e4 .. 1e8."""
    return exact(_ratios(evidence, over, accounting).min())


def plain_level_deviation(evidence: Evidence) -> Estimate:
    """Largest relative difference between eta of plain Thompson sampling and sqrt(T/2)."""
    frame = evidence.analytic(CROSSOVER, algorithm="ts-gaussian")
    deviations = frame["y"].to_numpy() / np.sqrt(frame["x"].to_numpy() / 2.0) - 1.0
    return exact(np.abs(deviations).max())


def crossover_horizon(evidence: Evidence, *, over: str, accounting: str) -> Estimate:
    """Horizon from which eta of DP-TS-UCB(0) is below that of ``over``."""
    found = _y(evidence, CONSTANTS, quantity="crossover", algorithm=over, accounting=accounting)
    return exact(found.item())


def printed_factor(evidence: Evidence, *, alpha: float, b: int, root: str) -> Estimate:
    """Factor c of equal privacy at b pre-pulls, T = 1e6; root: spec erratum E1."""
    return exact(_y(evidence, CONSTANTS, quantity="c", alpha=alpha, root=root, x=b).item())


def largest_misses(evidence: Evidence, *, rounding: str) -> Mapping[str, Estimate]:
    """T times the largest chance that all draws miss the mean (Lemma 4.1), at each alpha and T."""
    return _lemma(evidence, quantity="miss", rounding=rounding)


def largest_waits(evidence: Evidence) -> Mapping[str, Estimate]:
    """Largest expectation of Lemma C.1, at each alpha and T."""
    return _lemma(evidence, quantity="wait")


def _ratios(evidence: Evidence, over: str, accounting: str) -> Values:
    own = _y(evidence, CROSSOVER, algorithm="dp-ts-ucb", accounting=accounting)
    return own / _y(evidence, CROSSOVER, algorithm=over)


def _lemma(evidence: Evidence, **where: object) -> Mapping[str, Estimate]:
    found = evidence.analytic(CONSTANTS, **where)
    return {
        f"alpha={alpha:g}, T={horizon:.0f}": exact(y)
        for alpha, horizon, y in zip(found["alpha"], found["x"], found["y"], strict=True)
    }


def _y(evidence: Evidence, name: str, **where: object) -> Values:
    return np.asarray(evidence.analytic(name, **where)["y"], dtype=np.float64)
