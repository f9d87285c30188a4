"""Whether numbers that were computed again are the packed ones, or agree within chance."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import ndtri, stdtrit

from dpbandits.metrics import difference_interval
from dpbandits.metrics.nash import NOMINAL, QUANTITIES

EXACT, WITHIN, OUTSIDE = "exact", "agrees within chance", "outside"
OUTCOMES = (EXACT, WITHIN, OUTSIDE)

KEYS = ["run", "metric", "t", "arm"]
CURVE, ERROR = "nash_log_mean", "nash_standard_error"

NOT_JUDGED = {*QUANTITIES, "nash_influence"} - {CURVE}
"""What follows from other numbers and has no interval of its own."""

ROUNDING = 1e-9
"""Relative difference that is rounding, where a number does not vary over runs."""


@dataclass(frozen=True)
class Agreement:
    """How a cell came out, and how far the numbers are apart, in words."""

    outcome: str
    detail: str


@dataclass(frozen=True)
class _Number:
    """One number as packed and as computed again, and how far apart chance may put them."""

    what: str
    packed: float
    again: float
    half: float

    @property
    def agrees(self) -> bool:
        slack = ROUNDING * max(abs(self.packed), abs(self.again))
        return abs(self.packed - self.again) <= self.half + slack

    def __str__(self) -> str:
        return f"{self.what} {self.again:.6g} for {self.packed:.6g} (allowed: {self.half:.2g} off)"


def compare(packed: pd.DataFrame, again: pd.DataFrame, alpha: float) -> Agreement:
    """Hold a cell that was computed again against the packed results of its series.

    Bit for bit first. Where bits differ, as they may on another family of processors, the numbers
    at the horizon are compared, with intervals that would hold if not one decision were the same:
    of a mean over the cell's runs by t given all packed runs, of a rate by Newcombe's interval for
    a difference, of a Nash curve by the jackknife.

    Args:
        packed: all rows of the series in the packed results.
        again: the rows of the cell, computed again.
        alpha: chance of finding the cell outside though it has the law of the packed ones.
    """
    both = again.merge(packed, "left", KEYS, suffixes=("", "_packed"), indicator="found")
    if (both["found"] != "both").any():
        return Agreement(OUTSIDE, "the packed results lack rows of it")
    equal = (both["value"] == both["value_packed"]) | both["value"].isna()
    if (equal & (both["value"].isna() == both["value_packed"].isna())).all():
        return Agreement(EXACT, f"{len(both)} numbers")
    told = f"{int((~equal).sum())} of {len(both)} numbers differ"
    numbers = _numbers(packed, both, alpha)
    off = [each for each in numbers if not each.agrees]
    if off or not numbers:
        words = "; ".join(map(str, off[:3])) or "none of them has an interval"
        return Agreement(OUTSIDE, f"{told}: {words}")
    furthest = max(numbers, key=lambda each: abs(each.packed - each.again))
    return Agreement(WITHIN, f"{told}: {furthest}")


def _numbers(packed: pd.DataFrame, both: pd.DataFrame, alpha: float) -> list[_Number]:
    """Return what is judged: each metric at its last time, of each arm."""
    ends = both[both.groupby("metric")["t"].transform("max") == both["t"]]
    judged = ends[~ends["metric"].str.removeprefix(NOMINAL).isin(NOT_JUDGED)]
    groups = [rows for _, rows in judged.groupby(["metric", "t", "arm"])]
    share = alpha / max(len(groups), 1)
    numbers = []
    for rows in groups:
        metric, t, arm = str(rows["metric"].iloc[0]), rows["t"].iloc[0], rows["arm"].iloc[0]
        what = metric if arm < 0 else f"{metric} of arm {arm}"
        if metric.endswith(CURVE):
            error = ends[ends["metric"] == metric.replace(CURVE, ERROR)]
            numbers.append(_curve(what, rows, error, share))
            continue
        own = (packed["metric"] == metric) & (packed["t"] == t) & (packed["arm"] == arm)
        judge = _rate if metric == "success" else _mean
        numbers.append(judge(what, rows, packed[own], share))
    return numbers


def _curve(what: str, rows: pd.DataFrame, error: pd.DataFrame, alpha: float) -> _Number:
    half = -ndtri(alpha / 2) * np.hypot(error["value"].iloc[0], error["value_packed"].iloc[0])
    return _Number(what, rows["value_packed"].iloc[0], rows["value"].iloc[0], float(half))


def _rate(what: str, rows: pd.DataFrame, packed: pd.DataFrame, alpha: float) -> _Number:
    first, second = (
        (int(each["value"].sum()), int(each["trials"].sum())) for each in (rows, packed)
    )
    difference, low, high = difference_interval(first, second, alpha)
    half = difference - low if difference > 0 else high - difference
    return _Number(what, second[0] / second[1], first[0] / first[1], half)


def _mean(what: str, rows: pd.DataFrame, packed: pd.DataFrame, alpha: float) -> _Number:
    again, all_of_it = (
        (each["value"] / each["trials"] if "trials" in each else each["value"]).to_numpy()
        for each in (rows, packed)
    )
    count = all_of_it.size
    half = np.inf
    if count > 1:
        error = all_of_it.std(ddof=1) * np.sqrt(1 / again.size + 1 / count)
        half = float(stdtrit(count - 1, 1 - alpha / 2) * error)
    return _Number(what, float(all_of_it.mean()), float(again.mean()), half)
