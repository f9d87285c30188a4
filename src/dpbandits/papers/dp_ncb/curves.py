"""Curves as the claims name them: where each is recorded, and its Nash regret as a measure.

Every number carries the influences of the runs behind it (infinitesimal jackknife), from which the
claims' intervals come. The bias of first order in the number of runs is subtracted: 50 runs make a
Nash regret about one standard error too high. Differences (D) are those of ``docs/deviations.md``.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbandits.claims.evidence import Curves, Evidence, nash_curves, nash_regret
from dpbandits.claims.numbers import Measured
from dpbandits.errors import InputError

Values = NDArray[np.float64]

EPSILON = 0.2
"""Epsilon of the paper's comparisons between algorithms."""

TEN_MILLION, HUNDRED_MILLION = 10**7, 10**8
"""Horizons of panels (c) to (f) and of panel (b)."""

GLOBAL, LOCAL = "gdp-ncb", "ldp-ncb"
PRIVATE = (GLOBAL, LOCAL)

_BY_HORIZON = {10**6: "one-million", HUNDRED_MILLION: "panel-b"}
_BESIDE_PANEL_B = "panel-b-ucb1"
_PLOTTED_EPSILONS = (0.2, 0.5, 1, 2)
_LARGEST_DISTANCE = 0.02


@dataclass(frozen=True)
class Line:
    """One curve.

    Attributes:
        algorithm: its id.
        variant: ``as-written``, ``as-coded`` or ``repaired``.
        horizon: T of its runs.
        epsilon: where the algorithm has one.
        version: of NCB where it is not that of the variant, ``matched``.
        mixed: whether it is of panel (f).
        nominal: whether it is scored by nominal means (D24).
        best_mean: mu* where it is not the largest mean (D17).
    """

    algorithm: str
    variant: str
    horizon: int = TEN_MILLION
    epsilon: float = EPSILON
    version: str | None = None
    mixed: bool = False
    nominal: bool = False
    best_mean: float | None = None

    @property
    def place(self) -> tuple[str, dict[str, Any]]:
        """The simulation it is recorded in, and its tags there."""
        tags: dict[str, Any] = {"algorithm": self.algorithm, "variant": self.variant}
        if self.algorithm == "ncb":
            tags["version"] = self.version
        elif self.algorithm != "ucb1":
            tags["epsilon"] = self.epsilon
        if self.mixed:
            return "panel-f", tags
        if self.horizon > HUNDRED_MILLION:
            return "horizons", {**tags, "horizon": self.horizon}
        is_beside = self.algorithm == "ucb1" or self.version is not None
        if self.horizon == HUNDRED_MILLION and is_beside:
            return _BESIDE_PANEL_B, tags
        if self.horizon != TEN_MILLION:
            return _BY_HORIZON[self.horizon], tags
        is_plotted = self.algorithm in PRIVATE and self.epsilon in _PLOTTED_EPSILONS
        if is_plotted or (self.algorithm == "ncb" and self.version is None):
            return "panels-c-to-e", tags
        return "ten-million", tags

    def curves(self, evidence: Evidence) -> Curves:
        """Return its curves; none where no run is read."""
        simulation, tags = self.place
        curves = nash_curves(evidence, simulation, nominal=self.nominal, **tags)
        if self.best_mean is None:
            return curves
        return {sample: curve.against(self.best_mean) for sample, curve in curves.items()}

    def last_time(self, evidence: Evidence) -> float:
        """Return the last recorded time; NaN without runs."""
        return float(next((curve.times[-1] for curve in self.curves(evidence).values()), math.nan))

    def regrets(self, evidence: Evidence, shares: Iterable[float]) -> list[Measured]:
        """Return its Nash regret at shares of its horizon, less its bias.

        Args:
            evidence: the results.
            shares: as ``positions`` takes them.

        Raises:
            InputError: no time is recorded within 2 % of a share.
        """
        curves = self.curves(evidence)
        indices = positions(curves, shares)
        return [nash_regret(curves, index, subtract_bias=True) for index in indices]

    def regret(self, evidence: Evidence, share: float = 1.0) -> Measured:
        """Return its Nash regret at one share of its horizon, less its bias."""
        return self.regrets(evidence, [share])[0]

    def history(self, evidence: Evidence) -> tuple[Values, list[Measured]]:
        """Return all recorded times and its Nash regret there, less its bias; none without runs."""
        curves = self.curves(evidence)
        if not curves:
            return np.empty(0), []
        times = next(iter(curves.values())).times
        regrets = (nash_regret(curves, index, subtract_bias=True) for index in range(times.size))
        return times.astype(np.float64), list(regrets)


def positions(curves: Curves, shares: Iterable[float]) -> list[int]:
    """Return the positions of the recorded times nearest to shares of the horizon.

    Args:
        curves: of one series, recorded at the same times; none, and the positions mean nothing.
        shares: of the horizon, in (0, 1].

    Raises:
        InputError: no time is recorded within 2 % of a share.
    """
    if not curves:
        return [0 for _ in shares]
    times = next(iter(curves.values())).times
    wanted = np.fromiter(shares, np.float64) * times[-1]
    nearest = np.abs(times[:, None] - wanted).argmin(axis=0)
    far = np.flatnonzero(np.abs(times[nearest] - wanted) > _LARGEST_DISTANCE * wanted)
    if far.size:
        (_, series, _), first = next(iter(curves)), far[0]
        raise InputError(
            f"{series}: t = {wanted[first]:.0f} is not recorded; "
            f"the nearest is {times[nearest[first]]}"
        )
    return [int(index) for index in nearest]


def ncb_line(variant: str, version: str, horizon: int = TEN_MILLION, **attributes: Any) -> Line:
    """Return the curve of non-private NCB.

    Args:
        variant: of the claim.
        version: ``own`` of the variant (as written that is the one of its own paper, repaired the
            code's), ``original``, or ``matched`` (GDP-NCB of the variant without its privacy).
        horizon: T.
        attributes: others of the curve.
    """
    if version == "matched":
        return Line("ncb", variant, horizon, version=version, **attributes)
    chosen = {"own": variant, "original": "as-written"}[version]
    return Line("ncb", chosen, horizon, **attributes)


def line(
    algorithm: str,
    variant: str,
    horizon: int,
    *,
    scored: str = "equation-2",
    adap_ucb: str = "own",
    ldp_ucb: str = "own",
    ncb: str = "own",
) -> Line:
    """Return the curve of any algorithm at epsilon = 0.2, by the interpretations of a claim.

    Args:
        algorithm: its id.
        variant: of the claim.
        horizon: T.
        scored: by ``equation-2``; or AdaP-UCB as the ``code`` draws it, against a best mean of 1
            (D17).
        adap_ucb: AdaP-UCB is that of the variant, ``own``, or of its own paper, ``original``.
        ldp_ucb: LDP-UCB-L is that of the variant, ``own``, or of its own paper, ``original``.
        ncb: see ``ncb_line``.
    """
    if algorithm == "adap-ucb" and adap_ucb != "original":
        shifted = variant == "as-coded" and scored == "code"
        return Line(algorithm, variant, horizon, best_mean=1.0 if shifted else None)
    if algorithm == "ncb":
        return ncb_line(variant, ncb, horizon)
    # UCB1 is played once for all; as coded it hides an arm's first mean, which leaves no trace.
    is_original = {"adap-ucb": adap_ucb, "ldp-ucb-l": ldp_ucb}.get(algorithm) == "original"
    return Line(algorithm, "as-written" if is_original or algorithm == "ucb1" else variant, horizon)
