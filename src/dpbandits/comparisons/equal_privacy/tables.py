"""Rows of the tables: regret by algorithm and budget, and what tuning chose."""

from collections.abc import Callable, Iterator, Mapping

import pandas as pd

from dpbandits.comparisons.equal_privacy.formulas import level
from dpbandits.reporting.lines import final_means

Frames = Mapping[str, pd.DataFrame]

GAUSSIAN, PURE, LOCAL, NONE = "(epsilon, 1e-6)", "epsilon", "epsilon, local", "none"

PLAYED = {
    "m-ts-gaussian": ("Modified TS", GAUSSIAN),
    "dp-ts-ucb": ("DP-TS-UCB", GAUSSIAN),
    "dp-se": ("DP-SE", PURE),
    "anytime-lazy-ucb": ("Anytime-Lazy-UCB", PURE),
    "lazy-dp-ts": ("Lazy-DP-TS", PURE),
    "dp-ts": ("DP-TS", PURE),
    "adap-ucb": ("AdaP-UCB", PURE),
    "gdp-ncb": ("GDP-NCB", PURE),
    "anytime-gdp-ncb": ("Anytime GDP-NCB", PURE),
    "ldp-ucb-l": ("LDP-UCB-L", LOCAL),
    "ldp-ncb": ("LDP-NCB", LOCAL),
    "anytime-ldp-ncb": ("Anytime LDP-NCB", LOCAL),
    "ts-gaussian": ("TS-Gaussian", NONE),
    "ucb1": ("UCB1", NONE),
    "ncb": ("NCB", NONE),
}
"""The algorithms that are compared, in the order of the table: name, and what a budget means.

An algorithm that is not named here does not play, and the tables do not depend on the kernels of
those that do: results do. TS-Gaussian is not calibrated: its level sqrt(T/2) is worth an epsilon
far beyond every budget here.
"""

PRIVACY = {algorithm: privacy for algorithm, (_, privacy) in PLAYED.items()}
"""What a budget epsilon means for each algorithm."""


def _column(epsilon: float) -> str:
    """Return the name of the column of a budget, ``any`` where there is none."""
    return "any" if pd.isna(epsilon) else f"epsilon_{epsilon:g}".replace(".", "_")


def _final_means(frames: Frames) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the paper whose arms they are and the mean final regret of every series."""
    for name, frame in frames.items():
        yield name.removesuffix("-arms"), final_means(frame, "pseudo_regret", f"tables: {name}")


def regrets(frames: Frames) -> pd.DataFrame:
    """Return one row for each instance and algorithm, with the mean regret at every budget.

    Columns beside the names: for every budget its mean, and the ends of the 95 % interval as
    ``_lo`` and ``_hi``; ``any`` holds algorithms that have no budget.

    Args:
        frames: results by name, one an instance.
    """
    rows = []
    for instance, means in _final_means(frames):
        for algorithm, (name, privacy) in PLAYED.items():
            own = means[means["algorithm"] == algorithm]
            ends = {"": "y", "_lo": "lo", "_hi": "hi"}
            values = {
                _column(each["epsilon"]) + suffix: each[column]
                for _, each in own.iterrows()
                for suffix, column in ends.items()
            }
            names = {"instance": instance, "algorithm": name, "privacy": privacy}
            once = {key: own[key].iloc[0] for key in ("variant", "interpretation", "runs")}
            rows.append(names | once | values)
    return pd.DataFrame(rows)


def parameters(frames: Frames) -> pd.DataFrame:
    """Return one row for each instance and budget: its level and what the Gaussian ones have.

    Args:
        frames: results by name, one an instance.
    """
    tables = []
    for instance, means in _final_means(frames):
        modified = means[means["algorithm"] == "m-ts-gaussian"][["epsilon", "b", "c"]]
        least = means[means["algorithm"] == "dp-ts-ucb"][["epsilon", "alpha"]]
        own = modified.merge(least, on="epsilon", how="left").assign(instance=instance)
        tables.append(own.assign(eta=[level(epsilon) for epsilon in own["epsilon"]]))
    columns = ["instance", "epsilon", "eta", "b", "c", "alpha"]
    return pd.concat(tables, ignore_index=True)[columns]


TABLES: dict[str, Callable[[Frames], pd.DataFrame]] = {
    "regrets": regrets,
    "parameters": parameters,
}
