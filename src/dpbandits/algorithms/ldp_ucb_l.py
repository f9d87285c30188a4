"""LDP-UCB-L (Ren, Zhou, Liu and Shroff, 2020): locally private UCB with Laplace noise.

Every reward is privatised on its own, Y = X + Laplace(1/epsilon), before the learner sees it. In
round t the lowest arm with N <= 4 ln(t + 1) pulls is played; where there is none, the arm of the
largest p + sqrt(2 ln t / N) + sqrt(32 ln t / (epsilon^2 N)), p the mean of its private values. As
verified in the authors' repository; only the start is the paper's. Letters and numbers in
brackets are the entries of the DP-NCB replication's ambiguities (A) and differences (D).

The parameter ``constant``, 1 as printed, is a factor of both roots. Privacy does not depend on it:
every reward is private before it is seen.

Variants: ``as-coded`` is the baseline in the code of DP-NCB, which clips every private value: that
shrinks all gaps (at epsilon = 0.2 to less than a tenth) below a width still meant for no clip.
``repaired`` is as written.

The kernel takes the reference's decisions, round for round, but does not compute every index in
every round. It pulls the leader for as long as a bound puts its index above the others', and writes
these pulls as one segment.

The clipped private value Y = min(max(X + Laplace(1/epsilon), 0), 1) of a Bernoulli reward X is 0 or
1, except with probability (1 - exp(-epsilon)) / 2 for either X. So [0, 1) is cut in five parts, as
long as these are likely: Y = 1 with X = 1, Y = 1 with X = 0, Y between 0 and 1, Y = 0 with X = 1,
and Y = 0 with X = 0, and one uniform decides. The law is exact, up to the rounding of the cuts.

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
from functools import partial
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms.base import (
    VARIANTS,
    Algorithm,
    AuditCase,
    Known,
    Segment,
    positive,
    printed,
)
from dpbandits.bandits import Bandit
from dpbandits.bandits.draws import BERNOULLI, TIES, arm_of_largest, draw_reward, laplace
from dpbandits.kernels import Counts, One, Reals, blank, njit, write

PART = 1 << 13
"""A stretch is at most this part of the rounds before it; in it ln t is replaced by a parabola.

The error of the width is below 1e-13 of it.
"""

AHEAD = 32  # rounds for which the leader is compared by one bound
NONE, MAYBE = -1, -2
ROUNDING = 1e-12  # relative lead below which indices are computed, far above what rounding moves


class Settings(NamedTuple):
    """Arguments of the kernel; ``forced_offset`` is added to the number of the coming round."""

    horizon: int
    epsilon: float
    clips: bool
    pseudo_pull: bool
    forced_offset: int
    random_ties: bool
    constant: float


class State(NamedTuple):
    """Pulls and sums of private values of each arm."""

    clock: One
    counts: Counts
    private_sums: Reals


class Stretch(NamedTuple):
    """Rounds up to ``end``, whose widths are a parabola in the rounds since ``begin``.

    A stretch is one round where an arm may be ``forced``: the arm, NONE, or MAYBE in a later round.
    The width rises by ``rate`` a round at most, an index by ``highest`` times the width.
    """

    end: int
    forced: int
    begin: int
    width: float
    rate: float
    curvature: float
    highest: float


def settings(
    horizon: int, arms: int, epsilon: float, constant: float = 1.0, **chosen: str
) -> Settings:
    return Settings(
        horizon=horizon,
        epsilon=epsilon,
        clips=chosen["clip"] == "rewards",
        pseudo_pull=chosen["start"] == "pseudo-pull",
        forced_offset=1 if chosen["forced_log"] == "coming+1" else 0,
        random_ties=chosen["ties"] == "random",
        constant=constant,
    )


@njit(inline="always")
def clipped_cuts(mean, beyond):
    """Return where the five parts meet; noise exceeds 1 with the chance ``beyond``."""
    first, last = mean / 2.0, (1.0 + mean) / 2.0
    return first, first + (1.0 - mean) * beyond, last - mean * beyond, last


@njit(inline="always")
def draw_clipped(cuts, epsilon, rng):
    """Draw a Bernoulli reward and its clipped private value."""
    first, second, third, fourth = cuts
    place = rng.random()
    if (second <= place) & (place < third):
        # The noise of a reward 0 is exponential, given that it is below 1, and that has the law of
        # the fractional part of an exponential variable; the noise of a reward 1 is mirrored.
        private = rng.standard_exponential() / epsilon
        private -= math.floor(private)
        # Rewards 0 and 1 are as likely here as anywhere, 1 with probability 2 ``first``.
        is_one = place - second < 2.0 * first * (third - second)
        return (1.0, 1.0 - private) if is_one else (0.0, private)
    # No branches: the processor would mispredict half of them.
    reward = 1.0 if (place < first) | ((third <= place) & (place < fourth)) else 0.0
    return reward, 1.0 if place < second else 0.0


@njit
def _forced(settings, t, latest, counts, least):
    """Return the arm that is forced after t rounds, or whether none is before ``latest``."""
    if t < counts.size and not settings.pseudo_pull:
        return t
    if least > 4.0 * math.log(latest + settings.forced_offset):
        return NONE
    for i in range(counts.size):
        if counts[i] <= 4.0 * math.log(t + 1 + settings.forced_offset):
            return i
    return MAYBE


@njit
def _open_stretch(settings, t, counts):
    """Return the stretch after t rounds, wherever a run was resumed."""
    span = 1
    while span * PART <= t:
        span *= 2
    begin = t + 1 - (t + 1) % span
    end = min(begin + span - 1, settings.horizon)
    least = counts.min()
    forced = _forced(settings, t, end, counts, least)
    if forced != NONE:
        end = t + 1
    log = math.log(begin)
    width = (math.sqrt(2.0) + math.sqrt(32.0) / settings.epsilon) * math.sqrt(log)
    width *= settings.constant
    rate = curvature = 0.0
    if span > 1:
        rate = width / (2.0 * log * begin)
        curvature = -rate * (0.5 + 0.25 / log) / begin
    highest = 1.0 / math.sqrt(max(least, 1))
    return Stretch(end, forced, begin, width, rate, curvature, highest)


@njit(forceinline=True)
def _width(stretch, t):
    """Return the width in round t of an arm with one pull."""
    rounds = t - stretch.begin
    return stretch.width + rounds * (stretch.rate + rounds * stretch.curvature)


@njit(forceinline=True)
def _above(value):
    """Return what exceeds ``value`` by more than rounding can move either."""
    return value + ROUNDING * abs(value)


# With these flags several arms are compared at once; no index is a NaN.
@njit(fastmath={"nnan", "nsz"})
def _compare(indices, width, means, inverse_roots):
    """Fill ``indices``; return the first arm of the largest, that index, and that of all others."""
    largest = -math.inf
    for arm in range(indices.size):
        index = means[arm] + width * inverse_roots[arm]
        indices[arm] = index
        largest = index if index > largest else largest
    first = 0
    while indices[first] < largest:
        first += 1
    indices[first], others = -math.inf, -math.inf
    for arm in range(indices.size):
        others = indices[arm] if indices[arm] > others else others
    indices[first] = largest
    return first, largest, others


@njit(nogil=True)
def advance(settings, state, arms, rng, out):
    counts, private_sums = state.counts, state.private_sums
    t = state.clock[0]
    n = 0
    if t == 0 and settings.pseudo_pull:
        counts[:] = 1
    epsilon, scale = settings.epsilon, 1.0 / settings.epsilon
    beyond = math.exp(-epsilon) / 2.0
    # The mean of a Bernoulli arm; not read where rewards come from tables.
    bernoulli_means = arms.parameters.reshape(arms.laws.size, -1)[:, 0]
    pulled = np.maximum(counts, 1)
    means, inverse_roots = private_sums / pulled, 1.0 / np.sqrt(pulled)
    indices = np.empty(counts.size)
    stretch = _open_stretch(settings, t, counts)
    leader, begin, rewards = -1, t, 0.0
    while t < settings.horizon:
        if t >= stretch.end:
            stretch = _open_stretch(settings, t, counts)
        arm, others, alone, width = stretch.forced, 0.0, True, 0.0
        if arm < 0:
            width = _width(stretch, t + 1)
            arm, largest, others = _compare(indices, width, means, inverse_roots)
            alone = largest > others
        if arm != leader or not alone:
            if leader >= 0:
                n = write(out, n, leader, t - begin, rewards)
            leader = -1
            if n == out.arms.size:
                break
            if not alone:
                arm = arm_of_largest(indices, settings.random_ties, rng)
            leader, begin, rewards = arm, t, 0.0
            law, parameter = arms.laws[arm], arms.parameters[arm]
            clipped = settings.clips and law == BERNOULLI
            cuts = clipped_cuts(bernoulli_means[arm], beyond)
        count, private_sum, inverse_root = (
            counts[leader],
            private_sums[leader],
            inverse_roots[leader],
        )
        # N times the index is the sum + width sqrt(N). The root is bounded by
        # sqrt(n + k) >= sqrt(n) + k (1 - AHEAD / (4 n)) / (2 sqrt(n)) for k <= AHEAD.
        growth = width * inverse_root * (0.5 - 0.125 * AHEAD * inverse_root**2)
        slope = _above(others) + AHEAD * stretch.rate * stretch.highest - growth
        safe = count * (width * inverse_root - growth)
        until = min(stretch.end, t + AHEAD)
        while True:
            if clipped:
                reward, private = draw_clipped(cuts, epsilon, rng)
            else:
                reward = draw_reward(law, parameter, rng)
                private = reward + laplace(scale, rng)
                private = min(max(private, 0.0), 1.0) if settings.clips else private
            rewards += reward
            private_sum += private
            count += 1
            t += 1
            if t >= until or private_sum + safe <= slope * count:
                break
        counts[leader], private_sums[leader] = count, private_sum
        means[leader], inverse_roots[leader] = private_sum / count, 1.0 / math.sqrt(count)
    if leader >= 0:
        n = write(out, n, leader, t - begin, rewards)
    state.clock[0] = t
    return n


def reference(settings: Settings, bandit: Bandit, rng: np.random.Generator) -> Iterator[Segment]:
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
                width = math.sqrt(2 * math.log(t) / counts[i])
                local = math.sqrt(32 * math.log(t) / counts[i]) / settings.epsilon
                index[i] = private_sums[i] / counts[i] + settings.constant * (width + local)
            arm = arm_of_largest.py_func(index, settings.random_ties, rng)
        if settings.clips and bandit.laws[arm] == BERNOULLI:
            cuts = clipped_cuts.py_func(bandit.law_parameters[arm], math.exp(-settings.epsilon) / 2)
            reward, private = draw_clipped.py_func(cuts, settings.epsilon, rng)
        else:
            reward = bandit.draw(arm, rng)
            private = reward + laplace.py_func(1.0 / settings.epsilon, rng)
            if settings.clips:
                private = min(max(private, 0.0), 1.0)
        counts[arm] += 1
        private_sums[arm] += private
        yield arm, 1, reward


SILENT = dict.fromkeys(VARIANTS, "each mean has the noise of 15 rewards, of forced pulls")

ALGORITHM = Algorithm(
    id="ldp-ucb-l",
    name="LDP-UCB-L",
    paper="Ren, Zhou, Liu and Shroff (2020)",
    parameters={"epsilon": positive(example=0.2), "constant": printed()},
    settings=settings,
    state=partial(blank, State),
    advance=advance,
    reference=reference,
    guarantee="pure",
    model="local",
    stated="Ren, Zhou, Liu and Shroff (2020)",
    known=(Known("proved", "Laplace mechanism on every reward"),),
    audit=AuditCase(0.0, "AUD-18", horizon=40, parameters={"epsilon": 1.0}, silent=SILENT),
    interpretations={
        "clip": ("none", "rewards"),
        "start": ("pull", "pseudo-pull"),
        "forced_log": ("coming+1", "coming"),
        "ties": TIES,
    },
    presets={"as-coded": {"clip": "rewards", "forced_log": "coming"}, "repaired": {}},
)
