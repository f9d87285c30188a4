"""The reference of a policy: its methods as they are, in plain Python."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from dpbandits.algorithms.base import Segment
from dpbandits.bandits import Bandit
from dpbandits.policies.kernel import WHY_NOT, why_not
from dpbandits.policies.rule import Rule


class Reference:
    """Plays a policy round by round; shares with the kernel the methods alone."""

    def __init__(self, rule: Rule) -> None:
        """Keep the policy."""
        self.rule = rule

    def __call__(
        self, settings: Any, bandit: Bandit, generator: np.random.Generator
    ) -> Iterator[Segment]:
        """Yield (arm, 1, reward) for every round."""
        arms = len(bandit.arms)
        me = self.rule.new(settings)
        self.rule.start(me, arms, settings.horizon, generator)
        counts, sums = np.zeros(arms, np.int64), np.zeros(arms)
        for t in range(settings.horizon):
            arm = me.choose(t, counts, sums, generator)
            reward = bandit.draw(arm, generator)
            counts[arm] += 1
            sums[arm] += reward
            if hasattr(me, "update"):
                me.update(arm, reward, counts, sums, generator)
            yield arm, 1, reward

    def __reduce__(self) -> Any:
        """Find out, and say, whether the policy compiles before it is sent to worker processes.

        Every one of them would say it otherwise.
        """
        return _arrived, (self.rule, why_not(self.rule))


def _arrived(rule: Rule, reason: str) -> Reference:
    WHY_NOT[rule] = reason
    return Reference(rule)
