"""Check that engine and registered algorithm agree: frequencies of whole arm sequences.

At small T the reference of a registered algorithm plays a fixed table, and the counts of its arm
sequences are compared with the engine's chances by Pearson's chi-square. Kernel and reference agree
decision for decision on one stream, which the project's tests check.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from dpbandits.algorithms import REGRET
from dpbandits.audit.gaussian.choice import choice_chances
from dpbandits.audit.gaussian.scores import Sampler
from dpbandits.engine.seeds import run_generator, stream_key

Values = NDArray[np.float64]

LEAST_EXPECTED = 5.0
"""Sequences that are expected more rarely are counted together."""


@dataclass
class ScriptedBandit:
    """A bandit that pays the rewards of a pull-indexed table.

    Attributes:
        table: rewards by arm and pull, shape (K, rounds or more).
    """

    table: Values
    arms: tuple[int, ...] = field(init=False)
    pulls: list[int] = field(init=False)

    def __post_init__(self) -> None:
        """Begin before the first pull."""
        self.arms = tuple(range(len(self.table)))
        self.pulls = [0] * len(self.arms)

    def draw(self, arm: int, generator: np.random.Generator) -> float:
        """Return the next reward of an arm."""
        return self.draw_sum(arm, 1, generator)

    def draw_sum(self, arm: int, count: int, generator: np.random.Generator) -> float:
        """Return the sum of the next rewards of an arm."""
        begin = self.pulls[arm]
        self.pulls[arm] += count
        return float(self.table[arm, begin : begin + count].sum())


def sequence_chances(sampler: Sampler, table: Values) -> dict[tuple[int, ...], float]:
    """Return the chance of every arm sequence under one table, forced pulls included.

    Args:
        sampler: of the decisions, with a small horizon: there are up to K^T sequences.
        table: rewards by arm and pull, shape (K, rounds or more).
    """
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
    table: Values,
    horizon: int,
    runs: int,
    root: int,
) -> Counter[tuple[int, ...]]:
    """Return how often the reference of a registered algorithm plays each arm sequence.

    Args:
        algorithm: id in the registry.
        parameters: of the algorithm.
        interpretations: interpretations that differ from the default ones.
        table: rewards by arm and pull, shape (K, horizon or more).
        horizon: T.
        runs: number of plays.
        root: seed.
    """
    definition = REGRET[algorithm]
    defaults = {name: values[0] for name, values in definition.interpretations.items()}
    settings = definition.settings(
        definition.parameters(**parameters), {**defaults, **interpretations}, horizon, len(table)
    )
    key = stream_key(["agreement", algorithm, dict(parameters), dict(interpretations), horizon])
    generator = run_generator(root, key, 0)
    counts: Counter[tuple[int, ...]] = Counter()
    for _ in range(runs):
        bandit: Any = ScriptedBandit(table)
        chunks = definition.reference(settings, bandit, generator)
        counts[tuple(_arms(chunks))] += 1
    return counts


def _arms(chunks: Iterator[tuple[int, int, float]]) -> Iterator[int]:
    for arm, length, _ in chunks:
        yield from [arm] * length


def chi_square(counts: Counter[tuple[int, ...]], chances: Mapping[tuple[int, ...], float]) -> float:
    """Return the p-value of counted sequences under the engine's chances.

    Args:
        counts: of whole sequences.
        chances: of whole sequences, which sum up to 1; a sequence that it lacks gives 0.
    """
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
