"""Check that engine and algorithm agree: given arms, shares, frequencies of arm sequences.

At small T the kernel of a registered algorithm plays a fixed table, and the counts of its arm
sequences are compared with the engine's chances by Pearson's chi-square.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from dpbandits.algorithms import REGISTRY, REGRET
from dpbandits.auditing.blackbox import Budget
from dpbandits.auditing.inputs import audit_pair
from dpbandits.auditing.mechanisms import Plays
from dpbandits.auditing.run import Question
from dpbandits.auditing.support import GivenDraws
from dpbandits.auditing.thompson import Sampler, choice_chances
from dpbandits.engine.identity import run_generator, stream_key

Values = NDArray[np.float64]

TRIALS = 200_000


def near(found: float, expected: float, trials: int = TRIALS) -> bool:
    """Whether a share of trials is within 4.5 standard errors of a chance.

    A right number is missed once in 150000 times.
    """
    return abs(found - expected) < 4.5 * math.sqrt(expected * (1.0 - expected) / trials)


LEAST_EXPECTED = 5.0
"""Sequences that are expected more rarely are counted together."""


def sequence_chances(sampler: Sampler, table: Values) -> dict[tuple[int, ...], float]:
    """Return the chance of every arm sequence under one table of rewards by arm and pull."""
    arms = table.shape[0]
    centres, deviations = sampler.centres(table), np.sqrt(sampler.variances())
    every = np.arange(arms)
    forced = tuple(arm for arm in range(arms) for _ in range(sampler.forced_pulls))
    chances = {forced: 1.0}
    for _ in range(len(forced), sampler.rounds):
        following = {}
        for sequence, chance in chances.items():
            pulls = np.bincount(sequence, minlength=arms)
            logs = choice_chances(centres[every, pulls], deviations[pulls])
            for arm in range(arms):
                following[(*sequence, arm)] = chance * math.exp(logs[arm])
        chances = following
    return chances


def played_sequences(
    algorithm: str,
    parameters: Mapping[str, Any],
    interpretations: Mapping[str, str],
    tables: Values,
    second: bool,
    runs: int,
    root: int,
) -> Counter[tuple[int, ...]]:
    """Return how often the kernel plays each arm sequence on one of two tables, shape (2, K, T)."""
    _, arms, horizon = tables.shape
    definition = REGRET[algorithm]
    chosen = definition.interpretations_from(interpretations)
    given = definition.parameters_from(parameters)
    settings = definition.settings(horizon, arms, **vars(given), **chosen)
    key = stream_key(["agreement", algorithm, dict(parameters), dict(interpretations), horizon])
    plays = Plays(definition, settings, horizon, audit_pair(*tables))
    outputs = plays(second, run_generator(root, key, 0), runs)
    sequences, counts = np.unique(outputs, axis=0, return_counts=True)
    return Counter(dict(zip(map(tuple, sequences.tolist()), counts.tolist(), strict=True)))


def chi_square(counts: Counter[tuple[int, ...]], chances: Mapping[tuple[int, ...], float]) -> float:
    """Return the p-value of counted sequences; one that has no chance gives 0."""
    if set(counts) - set(chances):
        return 0.0
    runs = counts.total()
    often = [sequence for sequence, chance in chances.items() if runs * chance >= LEAST_EXPECTED]
    expected = np.array([runs * chances[sequence] for sequence in often])
    observed = np.array([counts[sequence] for sequence in often], np.float64)
    rest = runs - expected.sum()
    if rest >= LEAST_EXPECTED:
        expected = np.append(expected, rest)
        observed = np.append(observed, runs - observed.sum())
    statistic = float(((observed - expected) ** 2 / expected).sum())
    return float(chi2.sf(statistic, expected.size - 1))


class Table:
    """Arms whose n-th pulls have given rewards, and 0 beyond them."""

    def __init__(self, rewards: tuple[tuple[float, ...], ...]) -> None:
        self.arms = (None,) * len(rewards)
        self._rewards = [iter(row) for row in rewards]

    def draw(self, arm: int, generator: object) -> float:
        return next(self._rewards[arm], 0.0)

    def draw_sum(self, arm: int, pulls: int, generator: object) -> float:
        return sum(islice(self._rewards[arm], pulls), 0.0)


class GivenArms(GivenDraws):
    """Draws that choose given arms of so many, and Laplace noise from a generator."""

    def __init__(self, arms: Sequence[int], noise: np.random.Generator, count: int = 2) -> None:
        super().__init__([(arm + 0.5) / count for arm in arms])
        self.standard_exponential = noise.standard_exponential


def question_of(
    algorithm: str,
    horizon: int,
    params: Mapping[str, Any],
    arms: int = 2,
    interpretations: Mapping[str, str] | None = None,
) -> Question:
    """Return the question of a black-box audit of an algorithm as written."""
    definition = REGISTRY[algorithm]
    return Question(
        definition,
        definition.parameters_from(params),
        horizon,
        "as-written",
        definition.interpretations_from(interpretations or {}),
        Budget(8),
        arms,
    )
