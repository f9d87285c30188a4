"""Rows of the table of deviations: what each switch alone does to the final Nash regret."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from dpbandits.papers.dp_ncb.deviations import DEVIATIONS, Curve, Deviation
from dpbandits.reporting.agreement import count_agreement
from dpbandits.reporting.lines import nash_quantities, nash_regrets, select

Frames = Mapping[str, pd.DataFrame]

LEVEL = 0.95

TEXTS = ("id", "algorithm", "switch", "paper", "code", "repaired")


@dataclass(frozen=True)
class _Final:
    """Nash regret at the horizon: estimate, standard error and degrees of freedom."""

    value: float
    error: float
    degrees: int

    def columns(self, name: str) -> Iterator[tuple[str, float]]:
        """Yield the estimate and the ends of its 95 % t interval under their names."""
        half = _half_width(self.error, self.degrees)
        yield name, self.value
        yield f"{name}_lo", self.value - half
        yield f"{name}_hi", self.value + half


def _half_width(error: float, degrees: float) -> float:
    return float(stdtrit(degrees, 0.5 + LEVEL / 2) * error)


def _final(frames: Frames, curve: Curve, place: str) -> _Final:
    """Return the final Nash regret of one curve, or of the mean of several, less its bias."""
    rows = select(frames[curve.simulation], curve.where, place)
    rows = select(rows, {"metric": nash_quantities(curve.metric)}, place)
    last = rows[rows["t"] == rows["t"].max()]
    point = nash_regrets(last, "corrected", curve.best, LEVEL).iloc[-1]
    curves = int(last["run"].nunique())
    degrees = (curves if curves > 1 else int(point["runs"])) - 1
    error = (point["hi"] - point["y"]) / _half_width(1.0, degrees)
    return _Final(float(point["y"]), float(error), degrees)


def _row(deviation: Deviation, frames: Frames) -> dict[str, object]:
    place = f"deviation {deviation.id}, {deviation.algorithm}"
    coded = _final(frames, deviation.coded, place)
    changed = _final(frames, deviation.changed, place)
    change = changed.value - coded.value
    half = 0.0
    if not deviation.same_runs:
        error = float(np.hypot(coded.error, changed.error))
        half = _half_width(error, min(coded.degrees, changed.degrees))
    named = {key: getattr(deviation, key) for key in TEXTS}
    ends = zip(("coded", "changed"), (coded, changed), strict=True)
    measured = {name: value for prefix, final in ends for name, value in final.columns(prefix)}
    changes = {"change": change, "change_lo": change - half, "change_hi": change + half}
    return named | measured | changes | {"factor": changed.value / coded.value}


def deviations(frames: Frames) -> pd.DataFrame:
    """Return one row for each switch: what paper, code and repair have, and what it does alone.

    The code's algorithm is played as it is (``coded``) and with that switch as the paper has it
    (``changed``); ``change`` is their difference, with a 95 % interval (t, the smaller number of
    degrees of freedom), and ``factor`` their ratio. At T = 1e7 and epsilon = 0.2, in panel (a) at
    T = 1000.

    Args:
        frames: results by name, those that ``DEVIATIONS`` names.
    """
    return pd.DataFrame([_row(deviation, frames) for deviation in DEVIATIONS])


REDRAWN = "fig1e"
"""Panel (e) redraws curves of (c) and (d), so that its values are counted there already (D28)."""


def reproduction(frames: Frames) -> pd.DataFrame:
    """Return how many digitised values agree with ours: panel by panel, of NCB in three, in all.

    Args:
        frames: the comparison with the digitised values under ``digitised``.
    """
    values = frames["digitised"]
    panel, is_ncb = values["panel"], values["series"] == "NCB"
    chosen = {_named(str(name)): rows for name, rows in values.groupby("panel", sort=False)}
    chosen |= {
        "NCB in 1(c)": values[is_ncb & (panel == "fig1c")],
        "NCB in 1(d)": values[is_ncb & (panel == "fig1d")],
        "NCB in 1(d) and 1(e)": values[is_ncb & panel.isin(["fig1d", "fig1e"])],
        "all": values,
        "all but 1(e)": values[panel != REDRAWN],
        "all but 1(e) and NCB in 1(d)": values[(panel != REDRAWN) & ~(is_ncb & (panel == "fig1d"))],
    }
    rows = [{"panel": name, **count_agreement(found)} for name, found in chosen.items()]
    return pd.DataFrame(rows)


def _named(stem: str) -> str:
    """Return a panel as the figure names it."""
    return re.sub(r"fig(\d+)([a-j])", r"\1(\2)", stem)


TABLES: dict[str, Callable[[Frames], pd.DataFrame]] = {
    "deviations": deviations,
    "reproduction": reproduction,
}
