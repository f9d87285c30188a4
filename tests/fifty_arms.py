"""The fifty arms of DP-NCB, and runs on them of the algorithms that are not locally private."""

from typing import Any

import numpy as np

import dpbandits
from dpbandits.algorithms import REGRET, Algorithm
from dpbandits.bandits import Bandit
from dpbandits.kernels import new_segments
from support import Decision, kernel_decisions, settings_of

GDP, ADAP, NCB, UCB1 = (REGRET[each] for each in ("gdp-ncb", "adap-ucb", "ncb", "ucb1"))
EPSILON = {"epsilon": 0.2}

FIFTY_ARMS = dpbandits.bernoulli(np.random.RandomState(42).uniform(0.005, 1, 50))
"""dp-ncb, Experiments, the arms of every panel but (a)."""


def told(
    algorithm: Algorithm, horizon: int, variant: str = "as-written", **interpretations: str
) -> Any:
    """Return what the kernel is told of a run on the fifty arms."""
    parameters = EPSILON if "epsilon" in algorithm.example else {}
    chosen = algorithm.interpretations_from(interpretations, variant)
    return settings_of(algorithm, parameters, chosen, FIFTY_ARMS, horizon)


def run_to_the_end(algorithm: Algorithm, settings: Any, bandit: Bandit, seed: int = 1) -> Any:
    """Return the state at the horizon."""
    state, generator = algorithm.state(len(bandit.arms)), np.random.default_rng(seed)
    chunks = new_segments(4096)
    while state.clock[0] < settings.horizon:
        algorithm.advance(settings, state, bandit.arrays, generator, chunks)
    assert state.clock[0] == settings.horizon
    return state


def decisions_of(
    algorithm: Algorithm, settings: Any, bandit: Bandit, seed: int = 1
) -> list[Decision]:
    """Return the chunks of one run."""
    return list(kernel_decisions(algorithm, settings, bandit, np.random.default_rng(seed)))
