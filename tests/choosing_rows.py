"""Made-up results of the comparison that ranks private bandits."""

from typing import Any

import numpy as np
import pandas as pd

from dpbandits.comparisons.choosing.players import NONE, PLAYERS

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
