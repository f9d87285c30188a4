"""Verification: recompute a random sample of runs without any cache, and compare with the results.

Bits are compared first. Where they differ, as they may on another family of processors, the numbers
at the horizon are compared, with intervals that hold even if every decision differs.
"""

import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtri, stdtrit

from dpbandits.engine.cache import Cache
from dpbandits.engine.cells import Series
from dpbandits.engine.compute import compute_series
from dpbandits.engine.identity import stream_key
from dpbandits.engine.provenance import write_text
from dpbandits.engine.results import results_frame
from dpbandits.errors import InputError
from dpbandits.metrics import NASH_QUANTITIES, NOMINAL
from dpbandits.metrics.intervals import difference_interval
from dpbandits.pipeline.project import Project

EXACT, WITHIN, OUTSIDE = "exact", "agrees within chance", "outside"
ERROR_LEVEL = 0.05
"""Chance that any batch of a sample is found outside if all its streams are new."""
ROUNDING = 1e-9
"""Relative difference that counts as rounding, where a number does not vary over runs."""

COLUMNS = ["paper", "results", "series", "first_run", "runs", "horizon", "outcome", "detail"]
KEYS = ["run", "metric", "t", "arm"]
CURVE, ERROR = "nash_log_mean", "nash_standard_error"
NOT_COMPARED = {*NASH_QUANTITIES, "nash_influence"} - {CURVE}
"""Metrics that follow from others and have no interval of their own."""


@dataclass(frozen=True)
class Plan:
    """How the sample is drawn: batches of each set of results, each of at most ``rounds`` rounds.

    The streams of their runs do not depend on the seed.
    """

    batches: int = 5
    rounds: int = 5 * 10**7
    seed: int = 1

    def __post_init__(self) -> None:
        for key, least in (("batches", 1), ("rounds", 1), ("seed", 0)):
            if getattr(self, key) < least:
                raise InputError(f"{key} is {getattr(self, key)}; allowed: at least {least}")


@dataclass(frozen=True)
class Sample:
    """The drawn batches, cheapest first: paper, results and runs; and what was left out.

    ``of`` counts all batches, also those too costly to be drawn.
    """

    batches: list[tuple[str, str, Series]]
    of: int
    too_costly: list[str]
    not_built: list[str]


def draw_sample(project: Project, plan: Plan) -> Sample:
    """Draw batches of runs from each set of results that is built."""
    sampled: list[tuple[str, str, Series]] = []
    total, too_costly, not_built = 0, [], []
    for paper in project.built():
        for name in project.study(paper).simulations:
            if not project.results_path(paper, name).is_file():
                not_built.append(f"{paper}/{name}")
                continue
            batches = [
                batch for series in project.series(paper, name) for batch in batches_of(series)
            ]
            cheap = [batch for batch in batches if _rounds(batch) <= plan.rounds]
            total += len(batches)
            if cheap:
                key = stream_key({"sample": [paper, name]})
                generator = np.random.default_rng(np.random.SeedSequence([plan.seed, key]))
                drawn = generator.choice(len(cheap), min(plan.batches, len(cheap)), replace=False)
                sampled += [(paper, name, cheap[i]) for i in drawn]
            elif batches:
                too_costly.append(f"{paper}/{name}")
    sampled.sort(key=lambda drawn: _rounds(drawn[2]))
    return Sample(sampled, total, too_costly, not_built)


def _rounds(series: Series) -> int:
    return len(series.runs) * series.cell.horizon


def batches_of(series: Series) -> list[Series]:
    """Return the series cut into batches of runs, each of which is computed as a whole."""
    if series.cell.in_lockstep:
        return [replace(series, runs=curve.runs, runs_per_curve=0) for curve in series.works]
    runs, size = series.runs, series.cell.batch
    first = runs.start // size * size
    starts = [max(start, runs.start) for start in range(first, runs.stop, size)]
    ends = [*starts[1:], runs.stop]
    return [replace(series, runs=range(*ends_of)) for ends_of in zip(starts, ends, strict=True)]


@dataclass(frozen=True)
class Verification:
    """The sample with its outcomes: ``table`` has a row a batch; the file ``path`` has it, too."""

    plan: Plan
    sample: Sample
    table: pd.DataFrame
    path: Path

    def lines(self) -> list[str]:
        """Return a line for each batch, what was left out, and the counts."""
        batches = [
            f"{row['outcome']}: {row['paper']}/{row['results']}, {row['series']}, runs "
            f"{row['first_run']} to {row['first_run'] + row['runs'] - 1}, horizon "
            f"{row['horizon']}: {row['detail']}"
            for row in self.table.to_dict("records")
        ]
        left_out = {
            "left out, no batch is that cheap": self.sample.too_costly,
            "left out, not built": self.sample.not_built,
        }
        counted = Counter(self.table["outcome"])
        counts = ", ".join(f"{counted[outcome]} {outcome}" for outcome in (EXACT, WITHIN, OUTSIDE))
        return [
            *batches,
            *(f"{why}: {', '.join(names)}" for why, names in left_out.items() if names),
            f"sample: {self.plan.batches} batches of each set of results, of those that take at "
            f"most {self.plan.rounds} rounds, drawn with seed {self.plan.seed}; "
            f"{len(self.table)} of {self.sample.of} batches",
            f"verified: {counts} ({self.path})",
        ]

    def require_agreement(self) -> None:
        """Raise InputError where a batch is outside its interval."""
        outside = int((self.table["outcome"] == OUTSIDE).sum())
        if outside:
            raise InputError(
                f"{self.path}: {outside} of {len(self.table)} batches are outside; "
                f"allowed: exact, or agrees within chance"
            )


def verify(project: Project, plan: Plan, workers: int) -> Verification:
    """Recompute a random sample of batches from the sources, and compare with the results."""
    sample = draw_sample(project, plan)
    if not sample.batches:
        raise InputError(_nothing_to_verify(project, sample))
    sets = dict.fromkeys((paper, name) for paper, name, _ in sample.batches)
    frames = {key: project.frame(*key) for key in sets}
    drawn = [series for _, _, series in sample.batches]
    with tempfile.TemporaryDirectory() as empty:
        cache = Cache(Path(empty))
        computed = compute_series(
            drawn, root_seed=project.seed, workers=workers, cache=cache, title="verifying"
        )
    rows = []
    for (paper, name, series), runs in zip(sample.batches, computed, strict=True):
        packed = frames[paper, name]
        packed = packed[packed["series"] == series.label]
        outcome, detail = compare(packed, results_frame([series], [runs]), ERROR_LEVEL / len(drawn))
        first, count, horizon = series.runs.start, len(series.runs), series.cell.horizon
        rows.append((paper, name, series.label, first, count, horizon, outcome, detail))
    table = pd.DataFrame(rows, columns=COLUMNS)
    path = project.results_folder() / "verify.csv"
    write_text(path, table.to_csv(index=False, lineterminator="\n"))
    return Verification(plan, sample, table, path)


def _nothing_to_verify(project: Project, sample: Sample) -> str:
    """Return why a sample has no batches, and what to run."""
    folder = project.results_folder()
    if sample.too_costly:
        return f"{folder}: no batch takes so few rounds; run dpbandits verify with more --rounds"
    scale = "paper" if project.scale == "quick" else "quick"
    if draw_sample(project.at(scale=scale), Plan()).batches:
        return (
            f"{folder}: has no results to verify; those of the {scale} scale: make verify "
            f"SCALE={scale} (dpbandits verify --scale {scale})"
        )
    return f"{folder}: has no results to verify; run snakemake to build them"


def compare(packed: pd.DataFrame, again: pd.DataFrame, alpha: float) -> tuple[str, str]:
    """Return the outcome of a batch, and in words how far the recomputed numbers are off."""
    wanted = packed[[*KEYS, "value"]]
    both = again.merge(wanted, "left", KEYS, suffixes=("", "_packed"), indicator="found")
    if (both["found"] != "both").any():
        return OUTSIDE, "the packed results lack rows of it"
    values, values_packed = both["value"], both["value_packed"]
    equal = (values == values_packed) | (values.isna() & values_packed.isna())
    if equal.all():
        return EXACT, f"{len(both)} numbers"
    numbers = list(_numbers(packed, both, alpha))
    off = [number for number in numbers if not abs(number.again - number.packed) <= number.half]
    differ = f"{int((~equal).sum())} of {len(both)} numbers differ"
    if off or not numbers:
        words = "; ".join(map(str, off[:3])) or "none of them has an interval"
        return OUTSIDE, f"{differ}: {words}"
    return WITHIN, f"{differ}: {max(numbers, key=lambda number: abs(number.again - number.packed))}"


class _Number(NamedTuple):
    """One number of the results and recomputed, and how far apart chance may put them."""

    what: str
    packed: float
    again: float
    half: float

    def __str__(self) -> str:
        return f"{self.what} {self.again:.6g} for {self.packed:.6g} (allowed: {self.half:.2g} off)"


def _numbers(packed: pd.DataFrame, both: pd.DataFrame, alpha: float) -> Iterator[_Number]:
    """Yield each metric at its last time, for each arm."""
    ends = both[both.groupby("metric")["t"].transform("max") == both["t"]]
    compared = ends[~ends["metric"].str.removeprefix(NOMINAL).isin(NOT_COMPARED)]
    groups = [rows for _, rows in compared.groupby(["metric", "t", "arm"])]
    for rows in groups:
        share = alpha / len(groups)
        metric, t, arm = rows[["metric", "t", "arm"]].iloc[0]
        whole = packed[(packed["metric"] == metric) & (packed["t"] == t) & (packed["arm"] == arm)]
        # Sums over trials where millions are played, else a row a run.
        first, second = (
            frame["value"] / frame["trials"] if "trials" in frame else frame["value"]
            for frame in (rows, whole)
        )
        mean, mean_packed, half = first.mean(), second.mean(), np.inf
        if metric.endswith(CURVE):
            mean, mean_packed = rows[["value", "value_packed"]].iloc[0]
            errors = ends.loc[ends["metric"] == metric.replace(CURVE, ERROR)].iloc[0]
            half = -ndtri(share / 2) * np.hypot(errors["value"], errors["value_packed"])
        elif metric == "success":
            # A t interval has no width where all packed trials succeed.
            one, other = ((int(f["value"].sum()), int(f["trials"].sum())) for f in (rows, whole))
            mean, mean_packed = one[0] / one[1], other[0] / other[1]
            difference, low, high = difference_interval(one, other, share)
            half = difference - low if difference > 0 else high - difference
        elif second.size > 1:
            error = second.std(ddof=1) * np.sqrt(1 / first.size + 1 / second.size)
            half = stdtrit(second.size - 1, 1 - share / 2) * error
        rounding = ROUNDING * max(abs(mean), abs(mean_packed))
        what = metric if arm < 0 else f"{metric} of arm {arm}"
        yield _Number(what, mean_packed, mean, half + rounding)
