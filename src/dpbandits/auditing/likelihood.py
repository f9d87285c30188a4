"""Simulated outputs of Gaussian Thompson sampling with their exact likelihood ratios.

For more arms or rounds than the lattices reach. The chances P(h) and Q(h) of an output h are
products of the chances of its decisions, which ``thompson`` computes with a relative error below
1e-9 each. A threshold on their ratio is an event like any other: its counts are binomial, and
Clopper and Pearson's bounds hold for any number of runs.
"""

import math

import numpy as np

from dpbandits.auditing.events import Measure, Values, clopper_pearson
from dpbandits.auditing.inputs import Pair
from dpbandits.auditing.thompson import Sampler, log_chance
from dpbandits.kernels import njit

_TRIED = np.concatenate([np.geomspace(0.002, 0.1, 8), np.linspace(0.15, 0.9, 12), [0.95, 0.99]])
"""Quantiles of the first half at which thresholds on the ratio are tried."""

MU = Measure("mu")


def simulate(
    sampler: Sampler, pair: Pair, runs: int, generator: np.random.Generator, *, second: bool
) -> Values:
    """Return the log-likelihood ratio ln(Q(h)/P(h)) of outputs under x, or under x'."""
    centres = sampler.centres(pair.tables(sampler.rounds))
    deviations = np.sqrt(sampler.variances())
    found: Values = _simulate(
        sampler.rounds, sampler.forced_pulls, centres, deviations, runs, generator, int(second)
    )
    return found


@njit
def _simulate(rounds, forced_pulls, centres, deviations, runs, generator, played):
    """Play with the centres of one input; return the log ratio of the chances under both."""
    arms = centres.shape[1]
    ratios = np.zeros(runs)
    now, spread = np.empty((2, arms)), np.empty(arms)
    for run in range(runs):
        pulls = np.full(arms, forced_pulls)
        for _ in range(arms * forced_pulls, rounds):
            chosen, largest = 0, -math.inf
            for arm in range(arms):
                spread[arm] = deviations[pulls[arm]]
                for law in range(2):
                    now[law, arm] = centres[law, arm, pulls[arm]]
                theta = now[played, arm] + spread[arm] * generator.standard_normal()
                if theta > largest:
                    chosen, largest = arm, theta
            if (now[0] != now[1]).any():
                before = log_chance(chosen, now[0], spread)
                ratios[run] += log_chance(chosen, now[1], spread) - before
            pulls[chosen] += 1
    return ratios


def best_threshold(under_p: Values, under_q: Values, level: float = 0.05) -> tuple[float, ...]:
    """Return tau, ln of bounds on P(ratio >= tau) from above and on Q of it from below, and runs.

    The threshold is chosen on the first halves, by bounds that hold for all thresholds at once, so
    that no lucky tail wins. The ratio is only a statistic: the bounds are valid whatever it is.

    Args:
        under_p: ratios of outputs under one input.
        under_q: as many under the other one, which makes the event more likely.
        level: chance that a bound on the loss is wrong, at most.
    """
    half = under_p.size // 2

    def hits(part: slice, tau: float) -> tuple[int, int]:
        return int((under_q[part] >= tau).sum()), int((under_p[part] >= tau).sum())

    first, second = slice(None, half), slice(half, None)
    tried = np.unique(np.quantile(np.concatenate([under_p[first], under_q[first]]), _TRIED))
    strict = level / tried.size
    tau = float(max(tried, key=lambda x: MU.bound(*hits(first, x), half, strict)))
    runs = under_p[second].size
    more, less = hits(second, tau)
    low, high = clopper_pearson(more, runs, level)[0], clopper_pearson(less, runs, level)[1]
    return tau, math.log(high), math.log(low) if low else -math.inf, runs
