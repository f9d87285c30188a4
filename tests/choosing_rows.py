"""Made-up results of the comparison that ranks private bandits."""

from typing import Any

import numpy as np
import pandas as pd

from dpbandits.comparisons.field import NONE, PLAYERS, SETTING

INSTANCES = tuple(f"drawn-{number}" for number in range(1, 13))


def rows_of(scores: dict[str, float], spread: float, seed: int, **setting: Any) -> pd.DataFrame:
    """Results of algorithms: a run on each instance, log-normal about these regrets."""
    generator = np.random.default_rng(seed)
    tags = {"arms": 5, "horizon": 10_000, "epsilon": 1.0} | setting
    frames = [
        pd.DataFrame(
            {
                **tags,
                **({"epsilon": np.nan} if PLAYERS[name][1] == NONE else {}),
                **{"algorithm": name, "variant": "as-written", "interpretation": ""},
                **{"instance": INSTANCES, "metric": "pseudo_regret"},
                "value": score * np.exp(spread * generator.standard_normal(len(INSTANCES))),
                **dict.fromkeys(("alpha", "b", "c"), np.nan),
            }
        )
        for name, score in scores.items()
    ]
    return pd.concat(frames, ignore_index=True)


def grid_rows() -> pd.DataFrame:
    """Results on a small grid: AdaP-UCB wins at epsilon 0.2, LDP-UCB-L at 1, a tie at 5."""
    parts = []
    for number, (arms, horizon) in enumerate([(5, 10_000), (20, 10_000), (20, 100_000)]):
        for epsilon in (0.2, 1.0, 5.0):
            scores = {"adap-ucb": 80.0, "lazy-dp-ts": 100.0, "dp-se": 160.0}
            scores |= {"ldp-ucb-l": 60.0 if epsilon == 1.0 else 300.0, "ldp-ncb": 400.0}
            scores |= {"m-ts-gaussian": 150.0}
            scores |= {"lazy-dp-ts": 80.0} if epsilon == 5.0 else {}
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
    parts = [
        rows_of({"lazy-dp-ts": 80.0 if setting["arms"] == 20 else 120.0}, 0.05, 7, **setting)
        for setting in settings
    ]
    return pd.concat(parts, ignore_index=True).assign(interpretation="log=base2")


def untuned_rows() -> pd.DataFrame:
    """Results of Modified TS without pre-pulls: twice the regret, and half of it at epsilon 5."""
    tuned = grid_rows().query("algorithm == 'm-ts-gaussian'")
    factor = np.where(tuned["epsilon"] == 5.0, 0.5, 2.0)
    return tuned.assign(value=factor * tuned["value"], share=0.0).drop(columns=["b", "c"])


def trial_rows() -> pd.DataFrame:
    """Trials that find the best arm: ties with an axis an arm, DP-BAI leads in two dimensions."""
    hits = {"dp-bai": 840, "dp-od": 820, "baseline": 130, "dp-bai-gauss": 850, "od-linbai": 950}
    rows = [
        {
            **{"algorithm": name, "instance": instance, "arms": 20, "horizon": 1000},
            **{"epsilon": np.nan if PLAYERS[name][1] == NONE else 1.0, "trials": 1000},
            "value": count if instance == "two-dimensions" else 700 + 20 * place,
        }
        for name, count in hits.items()
        for place, instance in enumerate(["two-dimensions", "best-of-linear", "best-of-convex"])
    ]
    table = pd.DataFrame(rows).assign(variant="as-written", interpretation="", metric="success")
    table.loc[table["algorithm"] == "dp-od", "interpretation"] = "norm=l1"
    return table


FRAMES = {
    "regret": grid_rows,
    "logarithms": logarithm_rows,
    "untuned": untuned_rows,
    "best-arm": trial_rows,
}
"""Simulation -> its made-up results."""


def frames_of(reads: Any) -> dict[str, pd.DataFrame]:
    """Results of what a figure or table of the experiments file reads."""
    return {name: FRAMES[name]() for name in ([reads] if isinstance(reads, str) else reads)}
