"""DP-TS-UCB round by round, exactly as Algorithm 1 is printed: the yardstick of its chunks."""

import math
from collections.abc import Iterator

import numpy as np

from dpbandits import Bandit
from dpbandits.algorithms.dp_ts_ucb import Settings
from support import Decision


def dp_ts_ucb(
    settings: Settings, bandit: Bandit, generator: np.random.Generator
) -> Iterator[Decision]:
    """Play Algorithm 1 with no shortcut: every round scans the arms and draws one reward."""
    arms = range(len(bandit.arms))
    first = [bandit.draw(arm, generator) for arm in arms]
    yield from ((arm, 1, first[arm]) for arm in arms)
    n, mu_hat = [1] * len(arms), first
    r, o, q = [1] * len(arms), [0] * len(arms), [0.0] * len(arms)
    h, highest = [float(settings.budget)] * len(arms), [settings.reset] * len(arms)
    for _ in range(len(arms) + 1, settings.horizon + 1):
        theta = [0.0] * len(arms)
        for i in arms:
            if h[i] >= 1:
                deviation = math.sqrt(settings.variance / n[i])
                theta[i] = mu_hat[i] + deviation * generator.standard_normal()
                h[i] -= 1
                highest[i] = max(highest[i], theta[i])
            else:
                theta[i] = highest[i]
        arm = theta.index(max(theta))
        reward = bandit.draw(arm, generator)
        o[arm] += 1
        q[arm] += reward
        if settings.renewed_by_pull:
            h[arm], highest[arm] = float(settings.budget), settings.reset
        if o[arm] == 2 ** r[arm]:
            n[arm] = 2 ** r[arm]
            mu_hat[arm] = q[arm] / n[arm]
            h[arm], highest[arm] = float(settings.budget), settings.reset
            r[arm], o[arm], q[arm] = r[arm] + 1, 0, 0.0
        yield arm, 1, reward
