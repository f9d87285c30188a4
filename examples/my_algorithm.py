"""Private explore-then-commit: an algorithm of your own, in a file of your own.

Every reward in [0, 1] enters one noisy sum: all that is played is epsilon-differentially private.

    dpbandits overlay examples/my_algorithm.py dp-ts-ucb/fig7b --params epsilon=0.5 pulls=200
"""

import numpy as np

import dpbandits


@dpbandits.policy(
    name="Private explore-then-commit",
    epsilon=dpbandits.positive,  # parameters, and what each may be
    pulls=dpbandits.whole(1),
    guarantee="pure",  # epsilon-differential privacy
)
class ExploreThenCommit:
    """Pull every arm in turn, then the one that noise left ahead."""

    leader = -1  # not known yet

    def choose(self, t, counts, sums, rng):
        """Return the arm to pull after t rounds."""
        if t < self.pulls * counts.size:
            return t % counts.size
        if self.leader < 0:
            self.leader = np.argmax(sums + rng.laplace(0.0, 1.0 / self.epsilon, counts.size))
        return self.leader
