"""Results made up for the claims of ts-is-dp: a world in which every claim holds, and its knobs.

The frames have the columns of the engine's results, so that the claims' whole path is exercised
without a simulation. All regrets are a pre-pull phase as the algorithm plays it and a constant
slope after it, with one normal factor a run.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from claims.audit_results import FOLDER, audited
from dpbandits.bandits import Bandit, bernoulli, truncated_exponential
from dpbandits.papers.ts_is_dp.analytic import ANALYTIC

Frames = dict[str, pd.DataFrame]

HORIZON = 100_000
TIMES = (50, 100, 500, 1000, 2500, 5000, 10000, 20000, 25000, 50000, 80000, 100000)
GRID = (0, 10, 100, 500, 1000, 2000, 5000, 10000, 20000)
FIRST_RUN = 1000

BANDITS: dict[str, Bandit] = {
    "bernoulli": bernoulli([0.75, 0.625, 0.5, 0.375, 0.25]),
    "truncated-exponential": truncated_exponential([0.1, 1.0, 2.0, 5.0, 10.0]),
}

# Slope after the pre-pulls over the mean gap, by b and then eta = 1, 2, 5. Chosen so that every
# rule of the claims is met with room to spare.
SLOPES: dict[int, tuple[float, float, float]] = {
    0: (0.98, 0.90, 0.80),
    10: (0.70, 0.50, 0.30),
    100: (0.40, 0.25, 0.10),
    500: (0.15, 0.06, 0.01),
    1000: (0.09, 0.035, 0.004),
    2000: (0.05, 0.015, 0.001),
    3999: (0.02, 0.008, 0.0008),
    5000: (0.01, 0.003, 0.0006),
    10000: (0.004, 0.001, 0.0002),
    20000: (0.0, 0.0, 0.0),
}
ETAS = (1, 2, 5)
PLAIN_HORIZONS = (1000, 3000, 10000, 30000, 100000)

# Final regrets of Figure 8 by eta = 1, 5, 10.
CONTENDERS: dict[str, tuple[float, float, float]] = {
    "m-ts-gaussian": (6000.0, 800.0, 400.0),
    "anytime-lazy-ucb": (2000.0, 900.0, 850.0),
    "dp-se": (3437.0, 3437.0, 3437.0),
}
PLAIN_REGRET = 300.0
SMALL_STEPS = {
    (1, 1): 260.0,
    (2, 1): 250.0,
    (5, 1): 270.0,
    (10, 1): 310.0,
    (39, 1): 330.0,
    (0, 2): 420.0,
    (1, 2): 400.0,
}
PRICES = {2: 3000.0, 20: 390.0, 50: 350.0, 100: 320.0, 200: 305.0}


@dataclass(frozen=True)
class World:
    """The knobs of the made-up results; ``runs`` is of the curves, ``final_runs`` of the rest."""

    runs: int = 100
    final_runs: int = 400
    noise: float = 0.05
    seed: int = 20240720
    slopes: Mapping[int, tuple[float, float, float]] = field(default_factory=lambda: SLOPES)
    contenders: Mapping[str, tuple[float, float, float]] = field(default_factory=lambda: CONTENDERS)
    small_steps: Mapping[tuple[int, int], float] = field(default_factory=lambda: SMALL_STEPS)
    prices: Mapping[int, float] = field(default_factory=lambda: PRICES)
    realised_share: float = 0.25
    regret_noise: float = 20.0


def make(name: str, world: World) -> pd.DataFrame:
    """Return the results of one name."""
    family = name.removesuffix("-verdicts")
    if family in BANDITS:
        return verdicts(world, family)
    makers: dict[str, Callable[[World], pd.DataFrame]] = {
        "small-steps": small_steps,
        "same-algorithm": same_algorithm,
        "comparison-verdicts": comparison,
        "price-of-privacy": price,
        "plain-levels": plain_levels,
    }
    if name.startswith(FOLDER):
        return audited(name)
    return makers[name](world) if name in makers else ANALYTIC[name]()


def _generator(world: World, *key: object) -> np.random.Generator:
    spelled = "|".join(str(part) for part in key)
    return np.random.default_rng([world.seed, *spelled.encode()])


def _rows(tags: dict[str, Any], metric: str, times: Any, values: Any) -> pd.DataFrame:
    """Long rows of a metric of one series; values of shape (runs, times)."""
    runs, width = np.shape(values)
    label = " ".join(
        [tags["algorithm"], *(f"{k}={v}" for k, v in tags.items() if k != "algorithm")]
    )
    return pd.DataFrame(
        {
            "series": label,
            "variant": "as-written",
            "interpretation": "",
            **tags,
            "run": np.repeat(np.arange(FIRST_RUN, FIRST_RUN + runs), width),
            "metric": metric,
            "t": np.tile(times, runs),
            "arm": -1,
            "value": np.ravel(values),
        }
    )


def _per_arm(
    tags: dict[str, Any], metric: str, values: Any, horizon: int = HORIZON
) -> pd.DataFrame:
    runs, arms = np.shape(values)
    frame = _rows(tags, metric, np.full(arms, horizon), values)
    return frame.assign(arm=np.tile(np.arange(arms), runs))


def verdicts(world: World, family: str) -> pd.DataFrame:
    """`FAMILY-verdicts`: the larger grid of b, and b alone at eta = 5."""
    cells = [(eta, b) for eta in ETAS for b in GRID] + [(5, 3999)]
    return pd.concat([_cell(world, family, *cell) for cell in cells], ignore_index=True)


def _cell(world: World, family: str, eta: int, b: int) -> pd.DataFrame:
    gaps = BANDITS[family].gaps
    generator = _generator(world, family, eta, b)
    mean = world.slopes[b][ETAS.index(eta)] * gaps.mean()
    slope = mean * (1.0 + world.noise * generator.standard_normal(world.runs))
    times = np.array(TIMES)
    pulls = np.clip(times[:, None] - b * np.arange(gaps.size), 0, b)
    after = np.clip(times - gaps.size * b, 0, None)
    pseudo = pulls @ gaps + slope[:, None] * after
    realised = pseudo + 0.45 * np.sqrt(times) * generator.standard_normal((world.runs, times.size))
    c = HORIZON / (eta**2 * (b + 1))
    tags = {"algorithm": "m-ts-gaussian", "eta": eta, "b": b, "family": family, "c": c}
    jitter = 1.0 + 0.05 * generator.standard_normal((world.runs, gaps.size))
    counts = world.realised_share * HORIZON / (b + 1) * jitter
    return pd.concat(
        [
            _rows(tags, "pseudo_regret", times, pseudo),
            _rows(tags, "realised_regret", times, realised),
            _per_arm(tags, "inverse_counts", counts),
        ]
    )


def plain_levels(world: World) -> pd.DataFrame:
    """`plain-levels`: a share of what Lemma 4 charges, T/2, at every horizon."""
    parts = []
    for horizon in PLAIN_HORIZONS:
        jitter = _generator(world, "plain", horizon).standard_normal((world.final_runs, 5))
        counts = world.realised_share * horizon / 2.0 * (1.0 + 0.05 * jitter)
        tags = {"algorithm": "ts-gaussian", "horizon": horizon}
        parts.append(_per_arm(tags, "inverse_counts", counts, horizon))
    return pd.concat(parts, ignore_index=True)


def _finals(world: World, tags: dict[str, Any], mean: float) -> pd.DataFrame:
    generator = _generator(world, *tags.items())
    values = mean + world.regret_noise * generator.standard_normal((world.final_runs, 1))
    return _rows(tags, "pseudo_regret", [HORIZON], values)


def small_steps(world: World) -> pd.DataFrame:
    """`small-steps`: (0, 1) and seven small steps away from it."""
    means = {(0, 1): PLAIN_REGRET, **world.small_steps}
    return pd.concat(
        [
            _finals(world, {"algorithm": "m-ts-gaussian", "b": b, "c": float(c)}, mean)
            for (b, c), mean in means.items()
        ],
        ignore_index=True,
    )


def comparison(world: World) -> pd.DataFrame:
    """`comparison-verdicts`: Figure 8, both logarithms and both ranges of c."""
    parts = []
    for index, eta in enumerate((1, 5, 10)):
        for algorithm, means in world.contenders.items():
            interpretations: list[dict[str, Any]] = {
                "m-ts-gaussian": [{"c_range": "any"}, {"c_range": "at-least-1"}],
                "anytime-lazy-ucb": [{"log": "base2"}, {"log": "natural"}],
            }.get(algorithm, [{}])
            for interpretation in interpretations:
                tags = {"algorithm": algorithm, "eta": eta, **interpretation}
                parts.append(_finals(world, tags, means[index]))
    return pd.concat(parts, ignore_index=True)


def price(world: World) -> pd.DataFrame:
    """`price-of-privacy`: the best b at the levels that Figure 8 does not have."""
    return pd.concat(
        [
            _finals(world, {"algorithm": "m-ts-gaussian", "eta": eta, "c_range": c_range}, mean)
            for eta, mean in world.prices.items()
            for c_range in ("any", "at-least-1")
        ],
        ignore_index=True,
    )


def same_algorithm(world: World) -> pd.DataFrame:
    """`same-algorithm`: two algorithms on one stream, equal number for number."""
    runs, times = min(world.final_runs, 50), np.array([500, 50_000, HORIZON])
    generator = _generator(world, "same-algorithm")
    pseudo = np.cumsum(generator.random((runs, times.size)), axis=1)
    realised = pseudo + generator.standard_normal(pseudo.shape)
    pulls = generator.integers(1, 1000, (runs, 5)).astype(float)
    parts = []
    for algorithm in ("ts-gaussian", "m-ts-gaussian"):
        tags = {"algorithm": algorithm}
        parts += [
            _rows(tags, "pseudo_regret", times, pseudo),
            _rows(tags, "realised_regret", times, realised),
            _per_arm(tags, "pulls", pulls),
        ]
    return pd.concat(parts, ignore_index=True)
