"""Made-up results of the comparison that ranks private bandits."""

from typing import Any

import numpy as np
import pandas as pd

from dpbandits.comparisons.choosing.scores import NONE, PLAYERS

FAMILIES = ("one", "two", "three")
RUNS = 10


def rows_of(scores: dict[str, float], spread: float, seed: int, **setting: Any) -> pd.DataFrame:
    """Results of algorithms with these mean regrets on every family, normal with this spread."""
    generator = np.random.default_rng(seed)
    tags = {"arms": 5, "horizon": 10_000, "epsilon": 1.0} | setting
    frames = [
        pd.DataFrame(
            {
                **tags,
                **({"epsilon": np.nan} if PLAYERS[name][1] == NONE else {}),
                **{"algorithm": name, "variant": "as-written", "interpretation": ""},
                **{"instance": family, "metric": "pseudo_regret"},
                "value": score + spread * generator.standard_normal(RUNS),
            }
        )
        for name, score in scores.items()
        for family in FAMILIES
    ]
    return pd.concat(frames, ignore_index=True)


def grid_rows() -> pd.DataFrame:
    """Made-up results on a small grid: AdaP-UCB is the best at epsilon 1, a tie at 5."""
    parts = []
    for number, (arms, horizon) in enumerate([(5, 10_000), (20, 10_000), (20, 100_000)]):
        for epsilon in (1.0, 5.0):
            best = 80.0 if epsilon == 1.0 else 100.0
            scores = {"adap-ucb": best, "dp-se": 100.0, "dp-ts": 200.0}
            scores |= {"m-ts-gaussian": 150.0, "ldp-ucb-l": 300.0}
            # It has no budget: once for each number of arms and horizon.
            scores |= {"ucb1": 40.0} if epsilon == 1.0 else {}
            setting = {"arms": arms, "horizon": horizon, "epsilon": epsilon}
            parts.append(rows_of(scores, 5.0, 10 * number + int(epsilon), **setting))
    rows = pd.concat(parts, ignore_index=True).assign(alpha=np.nan, b=np.nan, c=np.nan)
    rows.loc[rows["algorithm"] == "m-ts-gaussian", ["b", "c"]] = [50.0, 9.0]
    return rows
