"""One short run of DP-TS-UCB, round by round and arm by arm: what Figures 1 and 2 are drawn from.

The compiled kernel plays the run, a step at a time. The kernel keeps the largest draw of an arm
and not the draws; they are read off a copy of the random stream taken before the step.
"""

import copy
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpbandits.algorithms.dp_ts_ucb import ALGORITHM, Settings, State
from dpbandits.bandits import Bandit, bernoulli
from dpbandits.engine.identity import DEFAULT_ROOT_SEED, run_generator, stream_key
from dpbandits.kernels import new_segments

MEANS = (0.75, 0.55, 0.35)
ALPHA = 1.0
HORIZON = 100
STREAM = "dp-ts-ucb: a run to look at"

Values = NDArray[np.float64]


class Step(NamedTuple):
    """One step of the kernel: what it saw, the values that it compared, and what it did.

    Attributes:
        first: its first round, from 1.
        length: number of rounds, 1 or (where every budget is used up) more.
        arm: the arm pulled.
        before: the state in front of the step.
        after: the state behind it.
        values: theta of every arm, shape (K,); in the K first rounds the estimates, NaN where
            there is none.
    """

    first: int
    length: int
    arm: int
    before: State
    after: State
    values: Values


def steps(bandit: Bandit, settings: Settings, generator: np.random.Generator) -> Iterator[Step]:
    """Play a run with the kernel, a step at a time.

    Args:
        bandit: the arms.
        settings: the parameters of the kernel.
        generator: the stream of the run.
    """
    state = ALGORITHM.state(len(bandit.arms))
    out = new_segments(1)
    while state.clock[0] < settings.horizon:
        before = copy.deepcopy(state)
        stream = copy.deepcopy(generator)
        ALGORITHM.advance(settings, state, bandit.arrays, generator, out)
        values = _values(settings, before, stream)
        first = int(before.clock[0]) + 1
        yield Step(
            first, int(out.lengths[0]), int(out.arms[0]), before, copy.deepcopy(state), values
        )


def _values(settings: Settings, state: State, stream: np.random.Generator) -> Values:
    """Return what the kernel compares in this state, of the numbers that it is about to draw."""
    if state.clock[0] < state.counts.size:
        return np.where(state.counts > 0, state.reward_sums, np.nan)
    values = state.largest_draws.copy()
    for arm in np.flatnonzero(state.budgets > 0):
        deviation = np.sqrt(settings.variance / state.counts[arm])
        mean = state.reward_sums[arm] / state.counts[arm]
        values[arm] = mean + deviation * stream.standard_normal()
    return values


def trace() -> pd.DataFrame:
    """Return a run of three Bernoulli arms at alpha = 1, T = 100: a row for each round and arm.

    Tags: arm (from 1); event, ``fresh`` (a new draw) or ``reuse`` (the largest draw again), and
    ``start`` in the rounds that pull every arm once; pulled, completed (whether the pull made a
    batch full), 0 or 1; batch, the size of the batch that waits for rewards; estimate and count,
    the mean of the last full batch and its size; budget, the draws left before the round.
    x: round. y: theta (``start``: the reward, 0 until it is there).
    """
    bandit = bernoulli(MEANS)
    interpretations = {name: allowed[0] for name, allowed in ALGORITHM.interpretations.items()}
    settings = ALGORITHM.settings(HORIZON, len(MEANS), alpha=ALPHA, **interpretations)
    generator = run_generator(DEFAULT_ROOT_SEED, stream_key(STREAM), 0)
    rows = [row for step in steps(bandit, settings, generator) for row in _rows(step)]
    return pd.DataFrame(rows).sort_values(["arm", "x"], ignore_index=True)


def _rows(step: Step) -> Iterator[dict[str, Any]]:
    before, after = step.before, step.after
    start = step.first <= before.counts.size
    for t in range(step.first, step.first + step.length):
        last = t == step.first + step.length - 1
        for arm in range(before.counts.size):
            pulled = arm == step.arm
            known = after if start and pulled else before
            count = int(known.counts[arm])
            value = known.reward_sums[arm] if start else step.values[arm]
            fresh = "fresh" if before.budgets[arm] > 0 else "reuse"
            yield {
                "series": f"arm {arm + 1}",
                "arm": arm + 1,
                "event": "start" if start else fresh,
                "pulled": int(pulled),
                "completed": int(pulled and last and after.waiting[arm] == 0),
                "batch": 2 * int(before.counts[arm]) or 1,
                "estimate": float(known.reward_sums[arm] / count) if count else 0.0,
                "count": count,
                "budget": int(before.budgets[arm]),
                "x": t,
                "y": float(value),
                "lo": float(value),
                "hi": float(value),
            }
