"""Results made up for the claims of ts-is-dp: a world in which every claim holds, and its knobs.

The frames have the columns of the engine's results, so that the claims' whole path is exercised
without a simulation. All regrets are a pre-pull phase as the algorithm plays it and a constant
slope after it, with one normal factor a run.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pandas as pd

from dpbandits.engine.cells import Series
from made_up_results import Values, at_most, frame_of, planned
from shared import ExactResults

EXACT = ExactResults("ts-is-dp")
HORIZON = 100_000
ETAS = (1, 2, 5)

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
    slopes: Mapping[int, tuple[float, float, float]] = field(default_factory=lambda: SLOPES)
    contenders: Mapping[str, tuple[float, float, float]] = field(default_factory=lambda: CONTENDERS)
    small_steps: Mapping[tuple[int, int], float] = field(default_factory=lambda: SMALL_STEPS)
    prices: Mapping[int, float] = field(default_factory=lambda: PRICES)
    realised_share: float = 0.25
    regret_noise: float = 20.0


def make(name: str, world: World) -> pd.DataFrame:
    """Return the results of one name."""
    if "/" in name or name in EXACT:
        return EXACT[name]
    runs = world.runs if name.removesuffix("-verdicts") in FAMILIES else world.final_runs
    times = (500, 50_000, HORIZON) if name == "same-algorithm" else ()
    series = [at_most(each, runs, times) for each in planned("ts-is-dp", name)]
    if name in LAWS:
        return frame_of(name, series, partial(LAWS[name], world))
    return frame_of(name, series, partial(finals, name, world))


def verdicts(world: World, series: Series, generator: np.random.Generator) -> dict[str, Values]:
    """Return curves of the larger grid of b, and of b alone at eta = 5."""
    cell, b = series.cell, series.tags["b"]
    gaps, times, runs = cell.bandit.gaps, np.array(cell.grid), len(series.runs)
    mean = world.slopes[b][ETAS.index(series.tags["eta"])] * gaps.mean()
    slope = mean * (1.0 + world.noise * generator.standard_normal(runs))
    pulls = np.clip(times[:, None] - b * np.arange(gaps.size), 0, b)
    after = np.clip(times - gaps.size * b, 0, None)
    pseudo = pulls @ gaps + slope[:, None] * after
    realised = pseudo + 0.45 * np.sqrt(times) * generator.standard_normal((runs, times.size))
    charged = world.realised_share * HORIZON / (b + 1)
    return {
        "pseudo_regret": pseudo,
        "realised_regret": realised,
        "inverse_counts": inverse_counts(charged, series, generator),
    }


def inverse_counts(charged: float, series: Series, generator: np.random.Generator) -> Values:
    """Return what the counts of each arm charge, 5 % apart from run to run."""
    shape = len(series.runs), len(series.cell.bandit.arms)
    return np.asarray(charged * (1.0 + 0.05 * generator.standard_normal(shape)))


def plain_levels(world: World, series: Series, generator: np.random.Generator) -> dict[str, Values]:
    """Return a share of what Lemma 4 charges, T/2."""
    charged = world.realised_share * series.cell.horizon / 2.0
    return {"inverse_counts": inverse_counts(charged, series, generator)}


def same_algorithm(
    world: World, series: Series, generator: np.random.Generator
) -> dict[str, Values]:
    """Return the same numbers for both algorithms: they play one stream."""
    shared, shape = np.random.default_rng(7), (len(series.runs), len(series.cell.grid))
    pseudo = np.cumsum(shared.random(shape), axis=1)
    return {
        "pseudo_regret": pseudo,
        "realised_regret": pseudo + shared.standard_normal(shape),
        "pulls": shared.integers(1, 1000, (len(series.runs), 5)).astype(float),
    }


FAMILIES = ("bernoulli", "truncated-exponential")
LAWS = {
    **{f"{family}-verdicts": verdicts for family in FAMILIES},
    "plain-levels": plain_levels,
    "same-algorithm": same_algorithm,
}


def finals(
    name: str, world: World, series: Series, generator: np.random.Generator
) -> dict[str, Values]:
    """Return final regrets, normal around the mean of the series."""
    cell, tags = series.cell, series.tags
    if name == "small-steps":
        mean = {(0, 1): PLAIN_REGRET, **world.small_steps}[tags["b"], tags["c"]]
    elif name == "price-of-privacy":
        mean = world.prices[tags["eta"]]
    else:
        mean = world.contenders[cell.definition.id][(1, 5, 10).index(tags["eta"])]
    values = mean + world.regret_noise * generator.standard_normal((len(series.runs), 1))
    return dict.fromkeys(cell.metrics, values)
