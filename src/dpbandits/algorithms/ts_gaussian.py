"""Thompson Sampling with Gaussian priors (TS-is-DP, Algorithm 1).

Modified Thompson Sampling at (b, c) = (0, 1); it runs on that kernel and has its own reference.

Interpretation:
    count: ``n+1`` (Algorithm 1), or ``n``: variance 1/n_i as Section 3 once writes, with the plain
        mean as centre and one forced pull per arm (TSDP-E1).
"""

import math
from collections.abc import Iterator

import numpy as np

from dpbandits.algorithms.base import Algorithm, Segment
from dpbandits.algorithms.m_ts_gaussian import Settings, advance, state
from dpbandits.bandits import Bandit
from dpbandits.privacy.guarantee import Guarantee
from dpbandits.privacy.guarantees import ts_gaussian_gdp


def settings(horizon: int, arms: int, *, count: str) -> Settings:
    """Return the settings of modified Thompson sampling at b = 0 and c = 1."""
    prior_count = 1 if count == "n+1" else 0
    return Settings(horizon, 1 - prior_count, 1.0, prior_count)


def reference(
    settings: Settings, bandit: Bandit, generator: np.random.Generator
) -> Iterator[Segment]:
    """Algorithm 1, line by line (sums in place of running means, so that rounding is shared)."""
    arms = range(len(bandit.arms))
    pulls = [0 for _ in arms]
    reward_sums = [0.0 for _ in arms]
    for t in range(settings.horizon):
        if settings.prior_count == 0 and t < len(arms):  # the interpretation 1/n needs a first pull
            arm = t
        else:
            theta = []
            for i in arms:
                count = pulls[i] + settings.prior_count
                theta.append(
                    reward_sums[i] / count + math.sqrt(1.0 / count) * generator.standard_normal()
                )
            arm = max(arms, key=theta.__getitem__)
        reward = bandit.draw(arm, generator)
        pulls[arm] += 1
        reward_sums[arm] += reward
        yield arm, 1, reward


ALGORITHM = Algorithm(
    id="ts-gaussian",
    name="TS-Gaussian",
    paper="TS-is-DP, Algorithm 1",
    settings=settings,
    state=state,
    advance=advance,
    reference=reference,
    guarantee=lambda parameters, horizon: Guarantee("gdp", ts_gaussian_gdp(horizon)),
    stated="ts-is-dp, Lemma 4",
    interpretations={"count": ("n+1", "n")},
)
