"""The witness in Phase I of GDP-NCB as written against plays, at toy size (NCB-C15).

The reference plays the event with its arms given, since they are drawn independently of the
rewards. Kernels take the decisions of references, and `test_auditing_gdp_ncb.py` plays the events
of Phase II. At most 10 true hypotheses are tested, each at LINE (Bonferroni), so that correct code
fails this file with probability 0.001 at most over the choice of seeds, which are fixed.
"""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dpbandits
from agreement import GivenArms, Table
from dpbandits.algorithms import REGRET
from dpbandits.algorithms.gdp_ncb import reference_window
from dpbandits.auditing.gdp_ncb import exploration_witness
from support import settings_of

pytestmark = pytest.mark.slow

LINE = 0.001 / 10
RUNS = 250_000

# Algorithm 1 at toy size: 2n + 1 = 13 rounds.
HORIZON, EPSILON, THRESHOLD, PULLS = 40, 1.0, 3.0, 6
LOG = math.log(HORIZON)
ALTERNATING = np.arange(2 * PULLS + 1) % 2
X = 1.0 - ALTERNATING
CHANGED = np.where(np.arange(X.size) == 0, 0.0, X)


def plays(rewards: Any, seed: int, runs: int = RUNS, arms: int = 2) -> int:
    """Count the runs of the reference in which the event happens."""
    bandit = dpbandits.bernoulli([0.5] * arms)
    settings = settings_of(REGRET["gdp-ncb"], {"epsilon": EPSILON}, {}, bandit, HORIZON)
    settings = settings._replace(threshold=THRESHOLD / (9.0 * LOG + LOG**2 / EPSILON))
    noise, count = np.random.default_rng(seed), 0
    for _ in range(runs):
        table: Any = Table((rewards[::2], rewards[1::2], *[()] * (arms - 2)))
        draws: Any = GivenArms(ALTERNATING, noise, arms)
        t = 0
        for arm, pulls, _ in reference_window(settings, HORIZON, 13, table, draws):
            if (ALTERNATING[t : t + pulls] != arm).any():
                break
            t += pulls
        count += t == 13
    return count


def p_value(count: int, runs: int, changed: bool, factor: float = 1.0) -> float:
    """Return the p-value of a count, two-sided; the noise may be another one."""
    witness = exploration_witness(THRESHOLD, factor * LOG / EPSILON, PULLS)
    chance = math.exp(witness.log_q if changed else witness.log_p)
    return float(stats.binomtest(count, runs, chance).pvalue)


def lowest_log_ratio(count: int, changed: int) -> float:
    """Return the lower end of the 95 % interval of ln(changed / count), of as many runs."""
    share = stats.binomtest(changed, count + changed).proportion_ci(0.95, "exact").low
    return math.log(share / (1.0 - share))


def test_the_event_has_the_probabilities_of_the_formula() -> None:
    count, changed, again = plays(X, 40), plays(CHANGED, 41), plays(CHANGED, 42)
    assert p_value(count, RUNS, changed=False) > LINE
    assert p_value(changed + again, 2 * RUNS, changed=True) > LINE
    # It refutes epsilon = 1 by itself, whatever the formula says.
    assert lowest_log_ratio(count, changed) > 1.1 * EPSILON
    # Null control: a sequence with itself.
    assert stats.fisher_exact([[n, RUNS - n] for n in (changed, again)]).pvalue > LINE
    assert lowest_log_ratio(changed, again) < 0.1 * EPSILON
    # A noise ten percent off is caught.
    for factor in (0.9, 1.1):
        assert p_value(changed + again, 2 * RUNS, changed=True, factor=factor) < LINE


def test_arms_that_the_event_does_not_pull_change_nothing() -> None:
    for changed, rewards in enumerate((X, CHANGED)):
        assert p_value(plays(rewards, 60, 20_000, arms=3), 20_000, bool(changed)) > LINE
