"""Statistics of the analytic claims: numbers read off the exactly computed curves.

Levels eta of DP-TS-UCB are those of Theorem 4.4. Where a finding needs another one, ``accounting``
asks for it: ``tight`` leaves out the factor 2. A NaN in what a statistic reads makes its number
NaN.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from dpbandits.claims.estimates import Estimate, exact
from dpbandits.claims.evidence import Evidence

HORIZONS = "privacy-by-horizon"
ALPHAS = "privacy-by-alpha"
CROSSOVER = "crossover"
CONSTANTS = "constants"
MISSES = "lemma-4-1"
WAITS = "lemma-c1"

PRINTED = "theorem4.4"
"""The accounting of the paper."""

Values = NDArray[np.float64]


def largest_level_step(evidence: Evidence) -> Mapping[str, Estimate]:
    """Return the largest change of eta from one alpha to the next, at each horizon."""
    frame = evidence.analytic(HORIZONS, accounting=PRINTED)
    levels = frame.pivot(index="x", columns="alpha", values="y")
    steps = np.diff(levels.to_numpy(), axis=1).max(axis=1)
    return {f"T={horizon}": exact(step) for horizon, step in zip(levels.index, steps, strict=True)}


def constant_level(evidence: Evidence) -> Mapping[str, Estimate]:
    """Return eta at alpha = 1, at each horizon."""
    frame = evidence.analytic(HORIZONS, accounting=PRINTED, alpha=1.0)
    return {f"T={horizon}": exact(y) for horizon, y in zip(frame["x"], frame["y"], strict=True)}


def level_spread(evidence: Evidence) -> Estimate:
    """Return the largest over smallest eta at alpha = 1, over the horizons, minus 1."""
    levels = _y(evidence, HORIZONS, accounting=PRINTED, alpha=1.0)
    return exact(levels.max() / levels.min() - 1.0)


def root_deviation(evidence: Evidence) -> Mapping[str, Estimate]:
    """Return eta at alpha = 1 over sqrt(2 c0), minus 1, at each horizon."""
    root = evidence.number(CONSTANTS, quantity="root")
    levels = constant_level(evidence)
    return {horizon: exact(level.value / root - 1.0) for horizon, level in levels.items()}


def level_ratio(evidence: Evidence, *, alpha: float, accounting: str = PRINTED) -> Estimate:
    """Return eta of DP-TS-UCB over that of Modified TS at (0, 5 ln(T)^alpha), T = 1e6."""
    proposed = _y(evidence, ALPHAS, algorithm="dp-ts-ucb", accounting=accounting, x=alpha)
    modified = _y(evidence, ALPHAS, algorithm="m-ts-gaussian", x=alpha)
    return exact(proposed.item() / modified.item())


def level_ratio_over_time(evidence: Evidence, *, horizon: int, over: str) -> Estimate:
    """Return eta of DP-TS-UCB(0) at a horizon over that of ``over``, an id of an algorithm."""
    proposed = _y(evidence, CROSSOVER, algorithm="dp-ts-ucb", accounting=PRINTED, x=horizon)
    return exact(proposed.item() / evidence.number(CROSSOVER, algorithm=over, x=horizon))


def largest_ratio_step(evidence: Evidence, *, over: str) -> Estimate:
    """Return the largest change of that ratio from one horizon to the next, over T = 1e4 .. 1e8."""
    return exact(np.diff(_ratios(evidence, over)).max())


def smallest_level_ratio(evidence: Evidence, *, over: str) -> Estimate:
    """Return the smallest value of the same ratio over T = 1e4 .. 1e8."""
    return exact(_ratios(evidence, over).min())


def plain_level_deviation(evidence: Evidence) -> Estimate:
    """Return the largest relative difference of sqrt(T/2) and the composed draws of TS-Gaussian."""
    frame = evidence.analytic(CONSTANTS, quantity="composed")
    deviations = frame["y"].to_numpy() / np.sqrt(frame["x"].to_numpy() / 2.0) - 1.0
    return exact(np.abs(deviations).max())


def crossover_horizon(evidence: Evidence, *, over: str, accounting: str = PRINTED) -> Estimate:
    """Return the horizon from which eta of DP-TS-UCB(0) is below that of ``over``."""
    tags = {"quantity": "crossover", "algorithm": over, "accounting": accounting}
    return exact(evidence.number(CONSTANTS, **tags))


def printed_factor(evidence: Evidence, *, alpha: float, b: int, root: str = "no") -> Estimate:
    """Return the factor c of equal privacy at b pre-pulls, T = 1e6.

    root: ``yes`` takes the square root that Section 5.3 prints and Appendix E.1 does not.
    """
    return exact(evidence.number(CONSTANTS, quantity="c", alpha=alpha, root=root, x=b))


def largest_misses(evidence: Evidence, *, rounding: str) -> Mapping[str, Estimate]:
    """Return T times the largest chance that all draws miss the mean (Lemma 4.1)."""
    return _largest(evidence, MISSES, quantity="chance", rounding=rounding)


def largest_waits(evidence: Evidence) -> Mapping[str, Estimate]:
    """Return the largest expectation of Lemma C.1, at each alpha and T."""
    return _largest(evidence, WAITS, quantity="expectation")


def _ratios(evidence: Evidence, over: str) -> Values:
    proposed = _y(evidence, CROSSOVER, algorithm="dp-ts-ucb", accounting=PRINTED)
    return proposed / _y(evidence, CROSSOVER, algorithm=over)


def _largest(evidence: Evidence, name: str, **where: object) -> Mapping[str, Estimate]:
    """Return the largest y over x, at each alpha and T."""
    frame = evidence.analytic(name, **where)
    return {
        f"alpha={alpha:g}, T={horizon:.0f}": exact(rows["y"].max(skipna=False))
        for (alpha, horizon), rows in frame.groupby(["alpha", "horizon"])
    }


def _y(evidence: Evidence, name: str, **where: object) -> Values:
    return np.asarray(evidence.analytic(name, **where)["y"], dtype=np.float64)
