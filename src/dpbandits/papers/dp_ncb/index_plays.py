"""Runs of GDP-NCB played to see what its Phase II is said to do (claim C22).

On 50 arms, 45 of them with means below mu*/256, the kernel plays an episode at a time, and before
each its state is looked at: whether the best arm's index is below mu*, and whether an arm with a
mean of at most mu*/256 is pulled next.
"""

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from dpbandits.algorithms.gdp_ncb import (
    ALGORITHM,
    Settings,
    State,
    advance,
    open_window,
    start_phase_two,
)
from dpbandits.algorithms.gdp_ncb_phase_one import EXPLORED, EXPLORING
from dpbandits.engine.identity import DEFAULT_ROOT_SEED, run_generator, stream_key
from dpbandits.kernels import new_segments, njit
from dpbandits.papers.curves import curve, joined
from dpbandits.papers.dp_ncb.instances import weak_arms
from dpbandits.papers.dp_ncb.theory import ALPHA, GLOBAL, C

EPSILON = 0.2
RUNS = 200
STREAM = "dp-ncb: runs of GDP-NCB whose index is looked at"

WEAK_SHARE = 256.0
"""An arm is weak if its mean is at most the best one over this."""

HORIZONS = {"as-written": 10**9, "as-coded": 10**8, "repaired": 10**8}
"""T by variant; as written Phase II is not reached below 1e9."""

STATEMENTS = ("best-index", "weak-arms")


@njit
def _explore(settings, state, arms, generator, out):
    """Play Phase I, a chunk at a time, and draw what Phase II begins with, but play none of it."""
    while state.phase[0] == EXPLORING and state.clock[0] < settings.horizon:
        advance(settings, state, arms, generator, out)
    if state.phase[0] == EXPLORED and state.clock[0] < settings.horizon:
        start_phase_two(settings, open_window(settings, settings.horizon), state, generator)


def index(settings: Settings, log: float, state: State, arm: int) -> float:
    """Return an arm's index of Algorithm 1 in front of an episode, A3 and A10 by default.

    Args:
        settings: of the run.
        log: the logarithm in the index.
        state: of the run, in Phase II.
        arm: whose index.
    """
    n, p = int(state.explored[arm] + state.episodes[arm]), float(state.private_means[arm])
    width = 2.0 * C * math.sqrt(2.0 * p * log / n)
    last = 4.0 * math.sqrt(2.0 * ALPHA / settings.epsilon) * log**1.5 / n
    return float(p + width + ALPHA * log**2 / (settings.epsilon * n) + last)


def violations(variant: str, horizon: int, run: int) -> tuple[int, int]:
    """Return the episodes of a run with an index of the best arm below mu*, and those of weak arms.

    Args:
        variant: of GDP-NCB.
        horizon: T.
        run: number of the run.
    """
    bandit = weak_arms()
    interpretations = ALGORITHM.interpretations_from({"exploration": "blocks"}, variant)
    settings = ALGORITHM.settings(horizon, len(bandit.arms), epsilon=EPSILON, **interpretations)
    log = float(open_window(settings, horizon).log)
    key = stream_key({"stream": STREAM, "variant": variant, "horizon": horizon})
    generator = run_generator(DEFAULT_ROOT_SEED, key, run)
    state = ALGORITHM.state(len(bandit.arms))
    chunk = new_segments(1)
    best, best_mean, low, weak = int(bandit.means.argmax()), float(bandit.means.max()), 0, 0
    arguments = (settings, state, bandit.arrays, generator, chunk)
    _explore(*arguments)
    while state.clock[0] < horizon:
        low += index(settings, log, state, best) < best_mean
        advance(*arguments)
        weak += bandit.means[chunk[0][0]] <= best_mean / WEAK_SHARE
    return int(low), int(weak)


def index_plays() -> pd.DataFrame:
    """Return how many of 200 runs violate each statement about Phase II (claim C22).

    Tags: algorithm, variant, statement (``best-index``, the best arm's index never falls below mu*;
    ``weak-arms``, arms with means of at most mu*/256 are never pulled), runs, episodes (those that
    violate it, over all runs). x: T. y: number of runs with a violation.
    """
    return joined(row for variant, horizon in HORIZONS.items() for row in _rows(variant, horizon))


def _rows(variant: str, horizon: int) -> Iterator[pd.DataFrame]:
    counted = zip(*(violations(variant, horizon, run) for run in range(RUNS)), strict=True)
    for statement, counts in zip(STATEMENTS, counted, strict=True):
        tags = {
            "algorithm": GLOBAL,
            "variant": variant,
            "statement": statement,
            "runs": RUNS,
            "episodes": int(np.sum(counts)),
        }
        violated = float(np.sum(np.array(counts) > 0))
        yield curve(f"{variant}, {statement}", tags, [horizon], [violated])
