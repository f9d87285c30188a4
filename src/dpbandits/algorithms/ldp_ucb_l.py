"""LDP-UCB-L (Ren, Zhou, Liu and Shroff, 2020): locally private UCB with Laplace noise.

Every reward is privatised on its own, Y = X + Laplace(1/epsilon), before the learner sees it. In
round t the lowest arm with N <= 4 ln(t + 1) pulls is played; where there is none, the arm of the
largest p + sqrt(2 ln t / N) + sqrt(32 ln t / (epsilon^2 N)), p the mean of its private values. As
verified in the authors' repository, but for the start, which is the paper's. Letters and numbers in
brackets are the entries of the DP-NCB replication's ambiguities (A) and differences (D).

Variants: ``as-coded`` is the baseline in the code of DP-NCB, which clips every private value: that
shrinks all gaps (at epsilon = 0.2 to less than a tenth) below a width still meant for no clip.
``repaired`` is as written.

Interpretations:
    clip: private values enter the mean as they are, ``none``, or clipped to [0, 1], ``rewards``
        (D18).
    start: every arm has one real ``pull`` first, in their order, or counts one ``pseudo-pull`` of
        reward 0, as in the authors' repository.
    forced_log: the logarithm in the rule of forced pulls is of ``coming+1``, one more than the
        number of the coming round, or of ``coming`` (D18).
    ties: the ``lowest`` arm, or a ``random`` one (A20).
"""

import math
from collections.abc import Iterator

import numpy as np

from dpbandits.algorithms.base import Algorithm, AuditCase, Segment, positive
from dpbandits.algorithms.clipped_noise import clipped_cuts, draw_clipped
from dpbandits.algorithms.ldp_ucb_l_kernel import Settings, advance, state
from dpbandits.bandits import Bandit
from dpbandits.bandits.draws import BERNOULLI, TIES, arm_of_largest, laplace


def settings(
    horizon: int, arms: int, *, epsilon: float, clip: str, start: str, forced_log: str, ties: str
) -> Settings:
    """Translate parameters and interpretations for the kernel."""
    return Settings(
        horizon=horizon,
        epsilon=epsilon,
        clips=clip == "rewards",
        pseudo_pull=start == "pseudo-pull",
        forced_offset=1 if forced_log == "coming+1" else 0,
        random_ties=ties == "random",
    )


def reference(
    settings: Settings, bandit: Bandit, generator: np.random.Generator
) -> Iterator[Segment]:
    """The index policy with its forced pulls, line by line."""
    arms = range(len(bandit.arms))
    counts = [1 if settings.pseudo_pull else 0 for _ in arms]
    private_sums = [0.0 for _ in arms]
    for t in range(1, settings.horizon + 1):
        enough = 4 * math.log(t + settings.forced_offset)
        forced = [i for i in arms if counts[i] <= enough]
        if t <= len(arms) and not settings.pseudo_pull:
            arm = t - 1
        elif forced:
            arm = forced[0]
        else:
            index = np.empty(len(arms))
            for i in arms:
                index[i] = private_sums[i] / counts[i] + math.sqrt(2 * math.log(t) / counts[i])
                index[i] += math.sqrt(32 * math.log(t) / counts[i]) / settings.epsilon
            arm = arm_of_largest.py_func(index, settings.random_ties, generator)
        if settings.clips and bandit.laws[arm] == BERNOULLI:
            cuts = clipped_cuts.py_func(bandit.law_parameters[arm], math.exp(-settings.epsilon) / 2)
            reward, private = draw_clipped.py_func(cuts, settings.epsilon, generator)
        else:
            reward = bandit.draw(arm, generator)
            private = reward + laplace.py_func(1.0 / settings.epsilon, generator)
            if settings.clips:
                private = min(max(private, 0.0), 1.0)
        counts[arm] += 1
        private_sums[arm] += private
        yield arm, 1, reward


ALGORITHM = Algorithm(
    id="ldp-ucb-l",
    name="LDP-UCB-L",
    paper="Ren, Zhou, Liu and Shroff (2020)",
    parameters={"epsilon": positive(example=0.2)},
    settings=settings,
    state=state,
    advance=advance,
    reference=reference,
    guarantee="pure",
    model="local",
    stated="Ren, Zhou, Liu and Shroff (2020)",
    audit=AuditCase(0.0, "AUD-18", parameters={"epsilon": 1.0}),
    interpretations={
        "clip": ("none", "rewards"),
        "start": ("pull", "pseudo-pull"),
        "forced_log": ("coming+1", "coming"),
        "ties": TIES,
    },
    presets={"as-coded": {"clip": "rewards", "forced_log": "coming"}, "repaired": {}},
)
