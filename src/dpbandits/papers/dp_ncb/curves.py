"""Curves as the claims name them: where each is recorded, and its Nash regret as a measure.

Every number carries the influences of the runs behind it (infinitesimal jackknife), from which the
claims' intervals come. Sections and differences (D) are those of the replication's specification.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpbandits.claims import Evidence
from dpbandits.claims.jackknife import Measure
from dpbandits.claims.nash import Curves, nash_curves, nash_regret
from dpbandits.errors import InputError

EPSILON = 0.2
"""Epsilon of the paper's comparisons between algorithms."""

TEN_MILLION, HUNDRED_MILLION = 10**7, 10**8
"""Horizons of panels (c) to (f) and of panel (b)."""

GLOBAL, LOCAL = "gdp-ncb", "ldp-ncb"
PRIVATE = (GLOBAL, LOCAL)

_BY_HORIZON = {10**6: "one-million", HUNDRED_MILLION: "panel-b"}
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
        version: of NCB where it is not that of the variant, ``modified`` or ``matched``.
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
        if self.horizon != TEN_MILLION:
            return _BY_HORIZON[self.horizon], tags
        is_plotted = self.algorithm in PRIVATE and self.epsilon in _PLOTTED_EPSILONS
        if is_plotted or (self.algorithm == "ncb" and self.version is None):
            return "panels-c-to-e", tags
        return "ten-million", tags

    def curves(self, evidence: Evidence) -> Curves:
        """Return its curves; none where no run is read."""
        simulation, tags = self.place
        found = nash_curves(evidence, simulation, nominal=self.nominal, **tags)
        if self.best_mean is None:
            return found
        return {sample: curve.against(self.best_mean) for sample, curve in found.items()}

    def regrets(self, evidence: Evidence, shares: Iterable[float], bias: str) -> list[Measure]:
        """Return its Nash regret at shares of its horizon.

        Args:
            evidence: the results.
            shares: as ``positions`` takes them.
            bias: ``kept``, or ``subtracted`` to first order in 1/R.

        Raises:
            InputError: no time is recorded within 2 % of a share.
        """
        curves = self.curves(evidence)
        subtract = bias == "subtracted"
        return [
            nash_regret(curves, index, subtract_bias=subtract)
            for index in positions(curves, shares)
        ]

    def regret(self, evidence: Evidence, bias: str, share: float = 1.0) -> Measure:
        """Return its Nash regret at one share of its horizon."""
        return self.regrets(evidence, [share], bias)[0]


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
    found = np.abs(times[:, None] - wanted).argmin(axis=0)
    far = np.flatnonzero(np.abs(times[found] - wanted) > _LARGEST_DISTANCE * wanted)
    if far.size:
        (_, series, _), first = next(iter(curves)), far[0]
        raise InputError(
            f"{series}: t = {wanted[first]:.0f} is not recorded; "
            f"the nearest is {times[found[first]]}"
        )
    return [int(each) for each in found]


def ncb_line(variant: str, version: str, horizon: int = TEN_MILLION, **attributes: Any) -> Line:
    """Return the curve of non-private NCB.

    Args:
        variant: of the claim.
        version: ``own`` of the variant (as written and repaired that is the original),
            ``original``, ``as-coded``, ``modified``, or ``matched`` (GDP-NCB of the variant without
            its privacy; as written with the Phase I of the repaired one).
        horizon: T.
        attributes: others of the curve.
    """
    if version in ("modified", "matched"):
        matched_to = "repaired" if version == "modified" or variant == "as-written" else variant
        return Line("ncb", matched_to, horizon, version=version, **attributes)
    chosen = {"own": variant, "original": "as-written", "as-coded": "as-coded"}[version]
    return Line("ncb", chosen, horizon, **attributes)


def adap_ucb_line(variant: str, horizon: int, best_mean: str, baseline: str = "own") -> Line:
    """Return the curve of AdaP-UCB.

    Args:
        variant: of the claim.
        horizon: T.
        best_mean: mu* is ``as-plotted``, which as coded is 1 at eps = 0.2 (D17), or ``true``.
        baseline: ``own`` of the variant, or ``original``.
    """
    if baseline == "original":
        return Line("adap-ucb", "as-written", horizon)
    shifted = variant == "as-coded" and best_mean == "as-plotted"
    return Line("adap-ucb", variant, horizon, best_mean=1.0 if shifted else None)


def ldp_ucb_l_line(variant: str, horizon: int, baseline: str = "own") -> Line:
    """Return the curve of LDP-UCB-L, ``own`` of the variant or the ``original``."""
    return Line("ldp-ucb-l", "as-written" if baseline == "original" else variant, horizon)


def line(
    algorithm: str,
    variant: str,
    horizon: int,
    *,
    best_mean: str = "as-plotted",
    baseline: str = "own",
    ncb: str = "own",
) -> Line:
    """Return the curve of any algorithm at epsilon = 0.2, by the readings of a claim.

    Args:
        algorithm: its id.
        variant: of the claim.
        horizon: T.
        best_mean: see ``adap_ucb_line``.
        baseline: see there and ``ldp_ucb_l_line``.
        ncb: see ``ncb_line``.
    """
    if algorithm == "adap-ucb":
        return adap_ucb_line(variant, horizon, best_mean, baseline)
    if algorithm == "ldp-ucb-l":
        return ldp_ucb_l_line(variant, horizon, baseline)
    if algorithm == "ncb":
        return ncb_line(variant, ncb, horizon)
    return Line(algorithm, variant, horizon)
