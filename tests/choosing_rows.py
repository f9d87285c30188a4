"""Made-up results of the comparison that ranks private bandits."""

from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from dpbandits.comparisons.field import NONE, PLAYERS, SETTING

INSTANCES = tuple(f"drawn-{number}" for number in range(1, 13))


def tagged(algorithms: Iterable[str], instances: Iterable[str], **tags: Any) -> pd.DataFrame:
    """A row for each algorithm and instance; without a budget where nothing is private."""
    table = pd.DataFrame(product(algorithms, instances), columns=["algorithm", "instance"])
    table = table.assign(variant="as-written", interpretation="", **tags)
    is_private = [PLAYERS[name][1] != NONE for name in table["algorithm"]]
    return table.assign(epsilon=table["epsilon"].where(is_private))


def rows_of(scores: dict[str, float], spread: float, seed: int, **setting: Any) -> pd.DataFrame:
    """Results of algorithms: a run on each instance, log-normal about these regrets."""
    tags = {"arms": 5, "horizon": 10_000, "epsilon": 1.0, "metric": "pseudo_regret"} | setting
    table = tagged(scores, INSTANCES, **tags, **dict.fromkeys(("alpha", "b", "c"), np.nan))
    noise = np.random.default_rng(seed).standard_normal(len(table))
    return table.assign(value=table["algorithm"].map(scores) * np.exp(spread * noise))


def grid_rows() -> pd.DataFrame:
    """Results on a small grid: AdaP-UCB wins at epsilon 0.2, LDP-UCB-L at 1, a tie at 5."""
    parts = []
    grid = enumerate([(5, 10_000), (20, 10_000), (20, 100_000)])
    for (number, (arms, horizon)), epsilon in product(grid, (0.2, 1.0, 5.0)):
        scores = {"adap-ucb": 80.0, "lazy-dp-ts": 80.0 if epsilon == 5.0 else 100.0}
        scores |= {"dp-se": 160.0, "ldp-ucb-l": 60.0 if epsilon == 1.0 else 300.0}
        scores |= {"ldp-ncb": 400.0, "m-ts-gaussian": 150.0}
        # They have no budget: once for each number of arms and horizon.
        scores |= {"ucb1": 40.0, "ts-beta": 20.0} if epsilon == 1.0 else {}
        setting = {"arms": arms, "horizon": horizon, "epsilon": epsilon}
        parts.append(rows_of(scores, 0.05, 10 * number + int(epsilon), **setting))
    rows = pd.concat(parts, ignore_index=True)
    rows.loc[rows["algorithm"] == "m-ts-gaussian", ["b", "c"]] = [50.0, 9.0]
    return rows


def logarithm_rows() -> pd.DataFrame:
    """Results of Lazy-DP-TS with base 2: on twenty arms it is as good as AdaP-UCB."""
    settings = grid_rows()[SETTING].dropna().drop_duplicates().to_dict("records")
    scores = {5: {"lazy-dp-ts": 120.0}, 20: {"lazy-dp-ts": 80.0}}
    parts = [rows_of(scores[setting["arms"]], 0.05, 7, **setting) for setting in settings]
    return pd.concat(parts, ignore_index=True).assign(interpretation="log=base2")


def untuned_rows() -> pd.DataFrame:
    """Results of Modified TS without pre-pulls: twice the regret, and half of it at epsilon 5."""
    tuned = grid_rows().query("algorithm == 'm-ts-gaussian'")
    factor = np.where(tuned["epsilon"] == 5.0, 0.5, 2.0)
    return tuned.assign(value=factor * tuned["value"], share=0.0).drop(columns=["b", "c"])


def trial_rows() -> pd.DataFrame:
    """Trials that find the best arm: ties with an axis an arm, DP-BAI leads in two dimensions."""
    hits = {"dp-bai": 840, "dp-od": 820, "baseline": 130, "dp-bai-gauss": 850, "od-linbai": 950}
    tied = {"best-of-linear": 720, "best-of-convex": 740}
    tags = {"arms": 20, "horizon": 1000, "epsilon": 1.0, "trials": 1000, "metric": "success"}
    table = tagged(hits, ["two-dimensions", *tied], **tags)
    value = table["instance"].map(tied).fillna(table["algorithm"].map(hits)).astype(int)
    norm = np.where(table["algorithm"] == "dp-od", "norm=l1", "")
    return table.assign(value=value, interpretation=norm)


def frames_of(reads: Any) -> dict[str, pd.DataFrame]:
    """Results of what a figure or table of the experiments file reads."""
    made = {"regret": grid_rows, "logarithms": logarithm_rows, "untuned": untuned_rows}
    made |= {"best-arm": trial_rows, "plane": lambda: trial_rows().iloc[:0]}
    return {name: made[name]() for name in ([reads] if isinstance(reads, str) else reads)}
