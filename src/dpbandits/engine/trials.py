"""Play one block of identification trials. A result's fingerprint covers this and its imports."""

import numpy as np
from numpy.typing import NDArray

from dpbandits.algorithms.base import IdentificationAlgorithm, Outcome, Task
from dpbandits.engine.identity import run_generator
from dpbandits.metrics.regret import IDENTIFICATION

TRIALS = 1000
"""Trials per block. Trials are many and short, so that a whole block draws from one stream."""


def play_outcome(
    algorithm: IdentificationAlgorithm, task: Task, root_seed: int, key: int, first: int
) -> Outcome:
    """Play the block of trials whose first is ``first``, a multiple of ``TRIALS``."""
    return algorithm.play(task, run_generator(root_seed, key, first // TRIALS), TRIALS)


def play_trials(
    algorithm: IdentificationAlgorithm,
    task: Task,
    metrics: tuple[str, ...],
    streams: tuple[int, int, range],
) -> dict[str, NDArray[np.float64]]:
    """Play one block and return each metric, one row a trial.

    Args:
        algorithm: what to play.
        task: what it is asked.
        metrics: names of the metrics.
        streams: root seed, key of the stream and the numbers of the block's trials.
    """
    root_seed, key, runs = streams
    outcome = play_outcome(algorithm, task, root_seed, key, runs.start)
    returned, pulls = outcome.recommended, outcome.pulls
    return {metric: IDENTIFICATION[metric](returned, pulls, task.bandit) for metric in metrics}
