"""Simulated outputs with exact likelihoods, and what they certify.

For more arms or rounds than the lattices reach. Outputs h are drawn from the law R of x or of x'.
Their chances P(h) and Q(h) are products of the chances of the decisions, which ``thompson``
computes with a relative error below 1e-9 each. A threshold on their ratio is an event like any
other: its counts are binomial, and Clopper and Pearson's bounds hold for any number of runs.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpbandits.auditing.events import clopper_pearson, mu_bound
from dpbandits.auditing.thompson import Sampler, log_chance
from dpbandits.kernels import njit

Values = NDArray[np.float64]

_TRIED = np.concatenate([np.geomspace(0.002, 0.1, 8), np.linspace(0.15, 0.9, 12), [0.95, 0.99]])
"""Quantiles of the first half at which thresholds on ln(Q/P) are tried."""


@dataclass(frozen=True)
class Outputs:
    """Simulated outputs of one law R.

    Attributes:
        log_p: ln(P(h)/R(h)) of every output, shape (runs,).
        log_q: ln(Q(h)/R(h)) of every output, shape (runs,).
    """

    log_p: Values
    log_q: Values

    @property
    def ratios(self) -> Values:
        """Return the log-likelihood ratio ln(Q(h)/P(h)) of every output."""
        return self.log_q - self.log_p

    def halves(self) -> tuple["Outputs", "Outputs"]:
        """Return the first and the second half of the runs."""
        half = self.log_p.size // 2
        first = Outputs(self.log_p[:half], self.log_q[:half])
        return first, Outputs(self.log_p[half:], self.log_q[half:])

    def reverse(self) -> "Outputs":
        """Return the same with P and Q exchanged."""
        return Outputs(self.log_q, self.log_p)


@dataclass(frozen=True)
class Certificate:
    """A bound on mu from one event, chosen on half of the runs and counted on the other.

    Attributes:
        mu: lower bound.
        ratio: tau, the threshold on ln(Q/P).
        log_alpha: log of the upper bound on P(E).
        log_power: log of the lower bound on Q(E).
        runs: that certify.
    """

    mu: float
    ratio: float
    log_alpha: float
    log_power: float
    runs: int


def simulate(
    sampler: Sampler,
    tables: Values,
    runs: int,
    generator: np.random.Generator,
    *,
    under: int = 0,
) -> Outputs:
    """Return outputs of one law with their log-likelihood ratios.

    Args:
        sampler: of the decisions, with its horizon.
        tables: rewards of both inputs by arm and pull, shape (2, K, rounds or more).
        runs: number of outputs.
        generator: of the draws.
        under: the input whose law is R, 0 for x or 1 for x'.
    """
    inputs = sampler.centres(tables)
    deviations = np.sqrt(sampler.variances())
    centres = np.concatenate([inputs, inputs[under][None]])
    logs = _simulate(sampler.rounds, sampler.forced_pulls, centres, deviations, runs, generator)
    return Outputs(logs[0], logs[1])


@njit
def _simulate(rounds, forced_pulls, centres, deviations, runs, generator):
    """Play with the last centres; return log chances under the first two, over the played ones."""
    arms = centres.shape[1]
    logs = np.zeros((2, runs))
    now, spread, chances = np.empty((3, arms)), np.empty(arms), np.empty(3)
    for run in range(runs):
        pulls = np.full(arms, forced_pulls)
        for _ in range(arms * forced_pulls, rounds):
            chosen, largest = 0, -math.inf
            for arm in range(arms):
                spread[arm] = deviations[pulls[arm]]
                for law in range(3):
                    now[law, arm] = centres[law, arm, pulls[arm]]
                theta = now[2, arm] + spread[arm] * generator.standard_normal()
                if theta > largest:
                    chosen, largest = arm, theta
            for law in range(3):
                chances[law] = math.nan
                for earlier in range(law):
                    if (now[law] == now[earlier]).all():
                        chances[law] = chances[earlier]
                if math.isnan(chances[law]) and not (law == 0 and (now[1:] == now[0]).all()):
                    chances[law] = log_chance(chosen, now[law], spread)
            if not math.isnan(chances[0]):
                logs[0, run] += chances[0] - chances[2]
                logs[1, run] += chances[1] - chances[2]
            pulls[chosen] += 1
    return logs


def threshold_certificate(under_x: Outputs, under_y: Outputs, level: float = 0.05) -> Certificate:
    """Return a bound on mu from counts of {ln(Q/P) >= tau} in runs under x and under x'.

    The threshold is chosen on the first halves, by bounds that hold for all thresholds at once, so
    that no lucky tail wins. Here the ratio is only a statistic: the bound is
    valid whatever it is.

    Args:
        under_x: outputs under x.
        under_y: outputs under x'.
        level: chance that the bound is wrong, at most.
    """
    (first_p, second_p), (first_q, second_q) = under_x.halves(), under_y.halves()

    def counts(p: Outputs, q: Outputs, tau: float) -> tuple[int, int, int, int]:
        hits = (int((q.ratios >= tau).sum()), int((p.ratios >= tau).sum()))
        return hits[0], q.ratios.size, hits[1], p.ratios.size

    tried = np.unique(np.quantile(np.concatenate([first_p.ratios, first_q.ratios]), _TRIED))
    strict = level / tried.size
    tau = max(tried, key=lambda x: mu_bound(*counts(first_p, first_q, float(x)), level=strict))
    hits = counts(second_p, second_q, float(tau))
    alpha, power = clopper_pearson(*hits[2:], level)[1], clopper_pearson(*hits[:2], level)[0]
    return Certificate(
        mu_bound(*hits, level=level),
        float(tau),
        math.log(alpha),
        math.log(power) if power > 0.0 else -math.inf,
        int(hits[1]),
    )
