"""Tables of the regret algorithms of the papers side by side at equal privacy."""

import math
from collections.abc import Callable, Iterator, Mapping

import pandas as pd

from dpbandits.comparisons.field import APPROXIMATE, LOCAL, NONE, PURE, REGRET_FIELD, level
from dpbandits.reporting.lines import final_values

Frames = Mapping[str, pd.DataFrame]

BUDGETS = {
    APPROXIMATE: "(epsilon, 1e-6)",
    PURE: "epsilon",
    LOCAL: "epsilon, local",
    NONE: "meets none",
}
"""What a budget means for each class of algorithms.

TS-Gaussian is not calibrated: its level sqrt(T/2) is worth an epsilon far beyond every budget here.
"""


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
        for algorithm in [name for name in REGRET_FIELD if name in set(means["algorithm"])]:
            budgets = means[means["algorithm"] == algorithm].to_dict("records")
            name, kind = REGRET_FIELD[algorithm]
            row = {"instance": instance, "algorithm": name, "privacy": BUDGETS[kind]}
            row |= {key: budgets[0][key] for key in ("variant", "interpretation", "runs")}
            for budget in budgets:
                column = f"epsilon_{budget['epsilon']:g}".replace(".", "_")
                column = "any" if math.isnan(budget["epsilon"]) else column
                row |= {column: budget["y"]}
                row |= {f"{column}_{end}": budget[end] for end in ("lo", "hi")}
            rows.append(row)
    return pd.DataFrame(rows)


def parameters(frames: Frames) -> pd.DataFrame:
    """Return one row for each instance and budget: its level, and the Gaussian parameters."""
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
