"""Results made up for the claims of dp-ts-ucb: a world in which every claim holds, and its knobs.

The frames have the columns of the engine's results. Every final regret is normal around a mean.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from claims.audit_results import FOLDER, audited
from dpbandits.papers.dp_ts_ucb.analytic import ANALYTIC

HORIZON = 1_000_000
FIRST_RUN = 1000

# Mean final regrets, chosen so that every claim on them holds with room to spare.
OWN = {0: 300.0, 0.25: 600.0, 0.5: 900.0, 0.75: 1200.0, 1: 1400.0}
HORIZON_SHARES = {10_000: 0.4, 31_622: 0.5, 100_000: 0.6, 316_227: 0.8, HORIZON: 1.0}
EQUAL_BOUND = {alpha: 2.0 * regret for alpha, regret in OWN.items()}
EQUAL_PRIVACY = {
    0: {0: 400, 1: 250, 500: 1000, 1000: 2000, 2000: 4000, 5000: 10_000, 100_000: 200_000},
    1: {0: 90_000, 1: 80_000, 500: 9000, 1000: 7500, 2000: 6000, 5000: 11_000, 100_000: 200_000},
}
FINER_B = {0: (2, 5, 10, 20, 50, 100), 1: (1500, 2500, 3000, 4000)}
FINER = {alpha: dict.fromkeys(values, 7000.0) for alpha, values in FINER_B.items()}
BASELINES = {"dp-se": 3500.0, "anytime-lazy-ucb": 2500.0, "lazy-dp-ts": 1000.0}
LOGS = ("base2", "natural")


@dataclass(frozen=True)
class World:
    """The knobs: runs of every series, noise of one run, and mean regrets that are not as above.

    ``changes`` maps (simulation, tags in the order of the results) to a mean.
    """

    runs: int = 200
    noise: float = 20.0
    seed: int = 20250505
    changes: Mapping[tuple[Any, ...], float] = field(default_factory=dict)


def make(name: str, world: World) -> pd.DataFrame:
    """Return the results of one name."""
    if name.startswith(FOLDER):
        return audited(name)
    if name in ANALYTIC:
        return exactly(name).copy()
    return pd.concat(
        [_series(name, tags, mean, world) for tags, mean in _cells(name)], ignore_index=True
    )


@cache
def exactly(name: str) -> pd.DataFrame:
    """Return exactly computed results, computed once; to be copied before they are changed."""
    return ANALYTIC[name]()


def _cells(name: str) -> list[tuple[dict[str, Any], float]]:
    """Tags and mean regret of each series of a simulation."""
    if name == "final-verdicts":
        return [
            ({"horizon": horizon, "alpha": alpha}, share * mean)
            for horizon, share in HORIZON_SHARES.items()
            for alpha, mean in OWN.items()
        ]
    if name == "equal-bound-verdicts":
        return [
            ({"alpha": alpha, "count": count}, mean)
            for alpha, mean in EQUAL_BOUND.items()
            for count in ("n+1", "n")
        ]
    if name == "equal-privacy-verdicts":
        return [
            ({"alpha": alpha, "b": b, "count": count}, mean)
            for alpha, regrets in EQUAL_PRIVACY.items()
            for b, mean in regrets.items()
            for count in ("n+1", "n")
        ]
    if name == "finer-verdicts":
        return [
            ({"alpha": alpha, "b": b}, mean)
            for alpha, regrets in FINER.items()
            for b, mean in regrets.items()
        ]
    assert name == "baseline-verdicts"
    return [
        ({"algorithm": algorithm, "log": log}, mean)
        for algorithm, mean in BASELINES.items()
        for log in (LOGS if algorithm != "dp-se" else (None,))
    ]


def _series(name: str, tags: dict[str, Any], mean: float, world: World) -> pd.DataFrame:
    key = (name, *tags.values())
    generator = np.random.default_rng([world.seed, *"|".join(map(str, key)).encode()])
    mean = world.changes.get(key, mean)
    horizon = tags.get("horizon", HORIZON)
    return pd.DataFrame(
        {
            "series": ", ".join(f"{tag}={value}" for tag, value in tags.items()),
            "variant": "as-written",
            "interpretation": "",
            **tags,
            "run": np.arange(FIRST_RUN, FIRST_RUN + world.runs),
            "metric": "pseudo_regret",
            "t": horizon,
            "arm": -1,
            "value": mean + world.noise * generator.standard_normal(world.runs),
        }
    )
