"""Tables of the regret algorithms of the papers side by side at equal privacy."""

from collections.abc import Callable, Iterator, Mapping

import pandas as pd

from dpbandits.comparisons.field import APPROXIMATE, LOCAL, NONE, PURE, REGRET, level
from dpbandits.reporting.lines import final_values

Frames = Mapping[str, pd.DataFrame]

BUDGETS = {APPROXIMATE: "(epsilon, 1e-6)", PURE: "epsilon", LOCAL: "epsilon, local", NONE: "none"}
"""What a budget means for each class of algorithms.

TS-Gaussian is not calibrated: its level sqrt(T/2) is worth an epsilon far beyond every budget here.
"""


def _column(epsilon: float) -> str:
    """Return the name of the column of a budget, ``any`` where there is none."""
    return "any" if pd.isna(epsilon) else f"epsilon_{epsilon:g}".replace(".", "_")


def _final_means(frames: Frames) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the paper whose arms they are and the mean final regret of every series."""
    for name, frame in frames.items():
        yield name.removesuffix("-arms"), final_values(frame, "pseudo_regret", f"tables: {name}")


def regrets(frames: Frames) -> pd.DataFrame:
    """Return one row for each instance and algorithm, with the mean regret at every budget.

    Columns beside the names: for every budget its mean, and the ends of the 95 % interval as
    ``_lo`` and ``_hi``; ``any`` holds algorithms that have no budget.
    """
    rows = []
    for instance, means in _final_means(frames):
        for algorithm, (name, kind) in REGRET.items():
            budgets = means[means["algorithm"] == algorithm]
            if budgets.empty:
                continue
            ends = {"": "y", "_lo": "lo", "_hi": "hi"}
            values = {
                _column(row["epsilon"]) + suffix: row[column]
                for _, row in budgets.iterrows()
                for suffix, column in ends.items()
            }
            names = {"instance": instance, "algorithm": name, "privacy": BUDGETS[kind]}
            once = {key: budgets[key].iloc[0] for key in ("variant", "interpretation", "runs")}
            rows.append(names | once | values)
    return pd.DataFrame(rows)


def parameters(frames: Frames) -> pd.DataFrame:
    """Return one row for each instance and budget: its level and what the Gaussian ones have."""
    tables = []
    for instance, means in _final_means(frames):
        modified = means[means["algorithm"] == "m-ts-gaussian"][["epsilon", "b", "c"]]
        least = means[means["algorithm"] == "dp-ts-ucb"][["epsilon", "alpha"]]
        both = modified.merge(least, on="epsilon", how="left").assign(instance=instance)
        tables.append(both.assign(eta=both["epsilon"].map(level)))
    columns = ["instance", "epsilon", "eta", "b", "c", "alpha"]
    return pd.concat(tables, ignore_index=True)[columns]


TABLES: dict[str, Callable[[Frames], pd.DataFrame]] = {
    "regrets": regrets,
    "parameters": parameters,
}
