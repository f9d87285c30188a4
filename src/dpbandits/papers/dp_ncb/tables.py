"""Rows of the table of deviations: where paper and released code part, and what each switch does.

Ids D are differences between paper and code, ids A what the paper leaves open, both as in
``docs/deviations.md``, which also has the differences that are no switch.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from dpbandits.metrics.intervals import COVERAGE
from dpbandits.reporting.digitised import count_agreement
from dpbandits.reporting.lines import nash_quantities, nash_regrets, select


@dataclass(frozen=True)
class ScoredCurve:
    """One curve of the results, and how it is scored."""

    simulation: str
    where: Mapping[str, Any]
    metric: str = "nash_regret"
    best: float | None = None


@dataclass(frozen=True)
class Deviation:
    """One switch: what paper, code and repair have, and the curves without and with it."""

    id: str
    algorithm: str
    switch: str
    paper: str
    code: str
    repaired: str
    coded: ScoredCurve
    changed: ScoredCurve
    same_runs: bool = field(default=False, kw_only=True)


TOGETHER = "switch-combinations"
"""Name of the results that have several switches of an algorithm at once."""

_CODE, _PAPER, _ORIGINAL, _NO_TEST = "as coded", "as written", "original", "no stop test"
_CAP = "Phase I until T at most"
_LAPLACE = "Laplace(0, 1/ε) in Phase I"

# Id, algorithm, interpretation, then what paper, code and repair have; L = log T, W = floor(sqrt
# T) + 1.
_SWITCHES = (
    ("D1", "gdp-ncb", "cap=none", _CAP, "W rounds at most", _CODE),
    ("D1", "ldp-ncb", "cap=none", _CAP, "W + 1 rounds at most", _CODE),
    ("D34", "ldp-ncb", "cap=root", "rounds up to the cap", "one round more", _CODE),
    ("D2", "gdp-ncb", "threshold_log=horizon", "L in the threshold", "log W", _NO_TEST),
    ("D3", "gdp-ncb", "stop_test=private", "private means stop", "clean means", _NO_TEST),
    ("D4", "gdp-ncb", "index_log=horizon", "L in the index", "log W", _CODE),
    ("D5", "gdp-ncb", "start=carried", "Phase II begins with p", "with zeros", _CODE),
    ("A3", "gdp-ncb", "pseudo_pull=left-out", "N2 = 1 left out", "counted", _CODE),
    ("A9", "gdp-ncb", "release_log=base2", "base-2 log in the noise", "natural", "base-2"),
    ("A10", "gdp-ncb", "root=inside", "our AAAI copy: inside; arXiv: outside", "outside", _CODE),
    ("A20", "gdp-ncb", "ties=random", "ties at random", "lowest arm", _CODE),
    ("D6", "ldp-ncb", "exploration_noise=scaled", _LAPLACE, "at 1/ε, scale 1", _PAPER),
    ("D7", "ldp-ncb", "last_log=horizon", "L in the last term", "log W", _CODE),
    ("D6 and D7", "ldp-ncb", "both of these", "both as written", "both as coded", "D6 as written"),
    ("D8", "ldp-ncb", "clip=recursive", "clipped p enters the next", "p shown clipped", _CODE),
    ("A6", "ldp-ncb", "clip=none", "no clip at all", "p shown clipped", _CODE),
    ("D9", "ldp-ncb", "clipped_phases=second", "no clip in Phase I", "in both phases", _CODE),
    ("D33", "ldp-ncb", "stop_test=plain", "d and p as they are", "d floored, p clipped", _CODE),
    ("D10", "ncb", "phase_one=length", "Phase I of a given length", "until 9 L", _CODE),
    ("D11", "ncb", "width=4", "4 sqrt(m L/n)", "6 sqrt(2 m L/n)", _CODE),
    ("D12", "adap-ucb", "privacy_term=over-epsilon", "α log t/(ε h)", "2 α log t/h", _ORIGINAL),
    ("D12 epsilon", "adap-ucb", "privacy_term=doubled-over-epsilon", "code's over ε", "", ""),
    ("D13", "adap-ucb", "exploration_term=halved", "log t over 2h", "over h", _ORIGINAL),
    ("D14", "adap-ucb", "doubling=total", "episodes 1, 1, 2, 4", "1, 2, 4, 8", _ORIGINAL),
    ("D15", "adap-ucb", "first_pulls=private", "first pulls with noise", "raw", _ORIGINAL),
    ("D16", "adap-ucb", "clip=none", "means as they are", "clipped to [0, 1]", _ORIGINAL),
    ("A14", "adap-ucb", "log_argument=2t", "log(2t) in the root", "log t", "log t"),
    ("A15", "adap-ucb", "order=random", "first pulls in random order", "by index", _CODE),
    ("D18", "ldp-ucb-l", "clip=none", "rewards as they are", "clipped to [0, 1]", _ORIGINAL),
    ("D18 forced", "ldp-ucb-l", "forced_log=coming+1", "4 log(t + 1)", "4 log t", _ORIGINAL),
)


# Of one algorithm, together: those that change its number by more than 5 % alone.
_COMBINATIONS = (
    ("D1 and D4", "gdp-ncb"),
    ("D1 and A10", "gdp-ncb"),
    ("D4 and A10", "gdp-ncb"),
    ("D1 and D4 and A10", "gdp-ncb"),
    ("D1 and D7", "ldp-ncb"),
    ("D12 and D13", "adap-ucb"),
    ("D12 epsilon and D13", "adap-ucb"),
)
_TOGETHER = ("these together", "as for each", "as coded", "as for each")


def _coded(algorithm: str) -> ScoredCurve:
    """Return the curve as coded at T = 1e7, epsilon = 0.2 where there is one."""
    where: dict[str, Any] = {"algorithm": algorithm, "variant": "as-coded", "interpretation": ""}
    if algorithm in ("gdp-ncb", "ldp-ncb"):
        where["epsilon"] = 0.2
    in_panels = algorithm in ("gdp-ncb", "ldp-ncb", "ncb")
    return ScoredCurve("panels-c-to-e" if in_panels else "ten-million", where)


def _switched(id_: str, algorithm: str, *texts: str, simulation: str = "switches") -> Deviation:
    """Return a switch at T = 1e7; the texts are switch, paper, code and repaired."""
    switch, paper, code, repaired = texts
    changed = ScoredCurve(simulation, {"algorithm": algorithm, "switch": id_})
    return Deviation(id_, algorithm, switch, paper, code, repaired, _coded(algorithm), changed)


def _panel_a(algorithm: str, **where: Any) -> ScoredCurve:
    """Return a curve of panel (a) at T = 1000, as coded at epsilon = 2 unless said."""
    chosen = {"algorithm": algorithm, "variant": "as-coded", "horizon": 1000, "epsilon": 2}
    return ScoredCurve("panel-a", chosen | where)


def _mixed(algorithm: str) -> Deviation:
    where = {"algorithm": algorithm, "variant": "as-coded"}
    texts = ("not settled by the text", "by nominal means", "by true means")
    nominal = ScoredCurve("panel-f", where, "nominal_nash_regret")
    place = f"{algorithm}, panel (f)"
    return Deviation("D24", place, "true means", *texts, nominal, ScoredCurve("panel-f", where))


_ADAP_A = _panel_a("adap-ucb", interpretation="")
_GDP_A = _panel_a("gdp-ncb")
_ADAP = _coded("adap-ucb")

DEVIATIONS = (
    *(_switched(*texts) for texts in _SWITCHES),
    *(_switched(*names, *_TOGETHER, simulation=TOGETHER) for names in _COMBINATIONS),
    Deviation(
        *("D15", "adap-ucb, panel (a)", "first_pulls=private"),
        *("first pulls with noise", "raw", _ORIGINAL),
        *(_ADAP_A, ScoredCurve("switches-panel-a", {"switch": "D15"})),
    ),
    Deviation(
        *("A15", "adap-ucb, panel (a)", "order=random"),
        *("first pulls in random order", "by index", _CODE),
        *(_ADAP_A, _panel_a("adap-ucb", interpretation="order=random")),
    ),
    Deviation(
        *("D17", "adap-ucb, scoring", "mu* = 0.97006", "the best mean", "1 in panel (b)", _PAPER),
        *(ScoredCurve(_ADAP.simulation, _ADAP.where, best=1.0), _ADAP),
        same_runs=True,
    ),
    Deviation(
        *("D19", "gdp-ncb, panel (a)", "epsilon = 0.2", "ε = 0.2", "ε = 2", _PAPER),
        *(_GDP_A, _panel_a("gdp-ncb", epsilon=0.2)),
    ),
    Deviation(
        *("D20", "gdp-ncb, panel (a)", "threshold=1600"),
        *("1600 (9 L + L²/ε)", "9 log W + L²/ε", _NO_TEST),
        *(_GDP_A, ScoredCurve("switches-panel-a", {"switch": "D20"})),
    ),
    *(_mixed(texts) for texts in ("ncb", "gdp-ncb", "ldp-ncb")),
)
"""Every switch, in the order of the table."""


Frames = Mapping[str, pd.DataFrame]

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
    return float(stdtrit(degrees, 0.5 + COVERAGE / 2) * error)


def _final(frames: Frames, curve: ScoredCurve, place: str) -> _Final:
    """Return the final Nash regret of one curve, or of the mean of several, less its bias."""
    rows = select(frames[curve.simulation], curve.where, place)
    rows = select(rows, {"metric": nash_quantities(curve.metric)}, place)
    last = rows[rows["t"] == rows["t"].max()]
    point = nash_regrets(last, best=curve.best).iloc[-1]
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
    """
    return pd.DataFrame([_row(deviation, frames) for deviation in DEVIATIONS])


REDRAWN = "fig1e"
"""Panel (e) redraws curves of (c) and (d), so that its values are counted there already (D28)."""


def reproduction(frames: Frames) -> pd.DataFrame:
    """Return how many digitised values agree: by panel, of the two NCB curves, in all."""
    values = frames["digitised"]
    panel, is_ncb = values["panel"], values["series"].str.startswith("NCB")
    chosen = {_named(str(name)): rows for name, rows in values.groupby("panel", sort=False)}
    chosen |= {
        "NCB in 1(c)": values[is_ncb & (panel == "fig1c")],
        "NCB in 1(d) and 1(e)": values[is_ncb & panel.isin(["fig1d", "fig1e"])],
        "all": values,
        "all but 1(e)": values[panel != REDRAWN],
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
