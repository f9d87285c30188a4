"""One transcript with exactly known chances, at any horizon.

Gaussian differential privacy bounds events of any size. The transcript in which arm 1 is abandoned
after its first or forced pulls has a loss that adds up over all later rounds, while its chance
falls exponentially in T.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtri_exp

from dpbandits.audit.gaussian.choice import log_chance
from dpbandits.audit.gaussian.pairs import abandoned_pair
from dpbandits.audit.gaussian.scores import Sampler

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Transcript:
    """The log chance of one output under both inputs.

    Attributes:
        log_p: under x.
        log_q: under x'.
    """

    log_p: float
    log_q: float

    @property
    def mu(self) -> float:
        """Return the bound on mu from this output: |z(P) - z(Q)|, both chances being exact."""
        return mu_of_logs(max(self.log_p, self.log_q), min(self.log_p, self.log_q))


def mu_of_logs(log_likely: float, log_unlikely: float) -> float:
    """Return Phi^-1(Q(E)) - Phi^-1(P(E)) from the logs of both chances, 0 if negative.

    Args:
        log_likely: log of Q(E), at most 0.
        log_unlikely: log of P(E), at most 0.
    """
    if log_likely <= log_unlikely:
        return 0.0
    return max(float(ndtri_exp(log_likely) - ndtri_exp(log_unlikely)), 0.0)


def abandoned_arm(sampler: Sampler) -> Transcript:
    """Return the transcript in which arm 1 is never pulled again after its forced pulls.

    Without forced pulls it is pulled once, in round 1, which has the same chance 1/2 under both
    inputs. The tables are those of ``abandoned_pair``.

    Args:
        sampler: with two arms.
    """
    tables = abandoned_pair(sampler.rounds).tables
    # A horizon shorter than the forced pulls has no decision, and no loss.
    first = min(max(sampler.forced_pulls, 1), sampler.rounds)
    others = np.arange(sampler.forced_pulls, sampler.rounds - first)
    centres, variances = sampler.centres(tables), sampler.variances()
    spread = np.sqrt(variances[first] + variances[others])
    scores = (centres[:, 1, others] - centres[:, 0, first, None]) / spread
    opening = 0.0 if sampler.forced_pulls else math.log(0.5)
    log_p, log_q = log_ndtr(scores).sum(axis=1) + opening
    return Transcript(float(log_p), float(log_q))


def transcript(sampler: Sampler, tables: Values, arms: list[int]) -> Transcript:
    """Return the log chances of one sequence of arms, of any number of arms.

    Args:
        sampler: of the decisions.
        tables: rewards of both inputs, shape (2, K, rounds or more).
        arms: numbers from 0 in the rounds after the forced pulls.
    """
    centres, deviations = sampler.centres(tables), np.sqrt(sampler.variances())
    every = np.arange(tables.shape[1])
    pulls = np.full(every.size, sampler.forced_pulls)
    logs = np.zeros(2)
    for arm in arms:
        for i in range(2):
            logs[i] += log_chance(arm, centres[i, every, pulls], deviations[pulls])
        pulls[arm] += 1
    return Transcript(float(logs[0]), float(logs[1]))
