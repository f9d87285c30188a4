"""LDP-NCB (Sarkar, Pandey and Ray Chowdhury, Algorithm 2): locally private Nash confidence bound.

Every reward is privatised on its own, Y = X + Laplace(1/epsilon), before the learner sees it.
Phase I pulls arms uniformly at random until some arm's running mean p of N such values passes a
threshold; Phase II plays, round by round, the largest index
p + 2c sqrt(2pL/N) + sqrt(8 alpha L/N)/epsilon + 4c (2 alpha)^(1/4) (L/N)^(3/4)/sqrt(epsilon),
with alpha = 3.1 and c = 3 as in all experiments; it is infinite for an arm without pulls (A21).
Natural logarithms; L = ln T, W = floor(sqrt T) + 1 and LW = ln W. Letters and numbers in brackets
are the entries of the replication's list of ambiguities (A) and of differences to the released
code (D).

The parameter ``constant``, 1 as printed, is a factor of the three widths of the index; the stop
test keeps its own. Privacy does not depend on it: every reward is private before it is seen.

Variants: ``as-coded`` is the released code. Its threshold is out of reach of W + 1 rounds, so that
Phase I always lasts that long, and its noise in Phase I is misplaced by a positional
argument: every pull biases the sums by 1/epsilon, and with scale 1 a reward is 1-private at every
epsilon. ``repaired`` is the least repair: the released code with noise of scale
1/epsilon in Phase I too.

The index has a fixed horizon, so that only the pulled arm's index moves: the kernel pulls the
leader until its index falls to the largest of the others, which it looks up once, and writes these
pulls as one segment. It takes the reference's decisions, round for round.

Interpretations:
    cap: longest Phase I: ``none`` but T, ``root`` W rounds, ``root-plus-one`` W + 1 rounds,
        ``tenth`` T/10 rounds; always cut at T (A11, D1, D34).
    stop_test: Phase I stops once an arm has d > 0 and N p > 1600 (c^2 L + L^2/(d epsilon^2))
        + sqrt(8 N alpha L)/epsilon, where d = p - sqrt(8 alpha L/N)/epsilon: ``plain``; with d
        ``floored`` at 1e-20; or no such test, ``off`` (D33).
    threshold: the constant 1600 (A12).
    exploration_noise: in Phase I, Laplace of scale 1/epsilon, ``scaled``, or of location 1/epsilon
        and scale 1, ``located`` (D6).
    clip: p is clipped to [0, 1] where it is used, ``display``; in the running mean itself, so that
        the clipped value enters the next mean, ``recursive``; or not at all, ``none``, with no
        less than 0 in the root (A6, D8).
    clipped_phases: the clip is in the ``second`` phase, from its first index on, or in ``both``,
        the stop test included (D9, D33).
    last_log: logarithm in the last term of the index: L of the ``horizon`` or LW of the ``window``
        W (D7).
    ties: the ``lowest`` arm, or a ``random`` one (A20).
    exploration: Phase I pull by pull in ``rounds``, or, the same in law, in ``blocks`` whose pulls
        are known by their sum only; where a recursive clip is in both phases there are none.

Blocks: Laplace noise of scale b is b (E - E'), of two independent exponentials. A block of m pulls
is drawn as one, in five steps, which leave out nothing but the order of what they add up.
    1. m depends on what was seen before the block alone.
    2. How often each arm is pulled is multinomial, drawn as binomials of what is left.
    3. The sum of an arm's E is Gamma(its pulls), whatever its rewards and its E' are.
    4. After no pull of the block does an arm's sum S exceed what it was before, plus the arm's
       pulls in the block (rewards are at most 1), their locations and b times that Gamma; and an
       arm that was pulled has at least one pull more than before. The stop test is monotone: an
       arm that passes it with S and N passes it with a larger S and with a smaller N. For with
       a = sqrt(8 alpha L)/epsilon, d = S/N - a/sqrt(N) grows with S, and falls with N where
       S > a sqrt(N)/2, which holds up to N as d > 0 there; so that S grows or stays, and
       1600 L^2/(d epsilon^2) + a sqrt(N), which it has to exceed, falls. A floor of d changes
       nothing in this, and what a clip shows is at most S, or 0, which never passes. So where
       every arm fails with that largest sum and one pull more, no pull of the block stops Phase I:
       the sums of rewards and of E', independent of all above, are drawn at once.
    5. Otherwise the block is played pull by pull, given what was drawn: an order of its arms is
       uniform among all, and of n exponentials with a given sum the first is a share of it with the
       law Beta(1, n - 1), independent of what is left. What lies behind the pull that stops Phase I
       is dropped: it would have been independent of all that follows.
A block begins at a multiple of BLOCK_FROM, so that it makes no difference where a kernel is
resumed. Near the threshold pulls are played by themselves. Nash metrics score the rounds of a block
by the mean over the arms, which is the expectation of each given the rounds before it.
"""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dpbandits.algorithms.base import Algorithm, AuditCase, Known, Segment, positive, printed
from dpbandits.bandits import Bandit
from dpbandits.bandits.draws import TIES, arm_of_largest, draw_reward, laplace, pull, pull_sum
from dpbandits.kernels import RANDOM_ARM, Counts, One, Reals, blank, njit, write

CAPS = ("none", "root", "root-plus-one", "tenth")
STOP_TESTS = ("plain", "floored", "off")
CLIPS = ("display", "recursive", "none")
C = 3.0
ALPHA = 3.1
FLOORED_TEST, NO_TEST = 1, 2
RECURSIVE_CLIP, NO_CLIP = 1, 2
EXPLORING, LEADING = range(2)

SMALLEST_DIFFERENCE = 1e-20  # floor of d in the released stop test
NOISE_AHEAD = 32.0  # scales of noise that the leader's sum may lose before a new index
BLOCK_FROM = 512  # pulls that cost as much as the four sums of every arm; where blocks begin
FAR = 6.0  # roots of an arm's pulls, so that hardly a block is played pull by pull
ROUNDING = 1e-12  # relative lead below which an index is computed, far above what rounding moves


class Settings(NamedTuple):
    """Arguments of the kernel; location and scale are those of the noise in Phase I."""

    horizon: int
    epsilon: float
    cap: int
    stop_test: int
    threshold: float
    exploration_location: float
    exploration_scale: float
    clip: int
    clips_both_phases: bool
    window_log: bool
    random_ties: bool
    blocks: bool
    constant: float


class Window(NamedTuple):
    """What follows for one horizon, which the anytime wrapper makes grow; ``cap`` bounds Phase I.

    Its test compares N p with ``base`` + ``slope`` / d + N ``test_width`` / sqrt(N), and the index
    is p + ``mean_width`` sqrt(p/N) + ``local_width`` / sqrt(N) + ``last_width`` / N^(3/4).
    """

    horizon: int
    cap: int
    base: float
    slope: float
    test_width: float
    mean_width: float
    local_width: float
    last_width: float


class State(NamedTuple):
    """The phase; pulls and sums of private values of each arm."""

    clock: One
    phase: One
    counts: Counts
    private_sums: Reals


def settings(
    horizon: int, arms: int, epsilon: float, constant: float = 1.0, **chosen: str
) -> Settings:
    located = chosen["exploration_noise"] == "located"
    return Settings(
        horizon=horizon,
        epsilon=epsilon,
        cap=CAPS.index(chosen["cap"]),
        stop_test=STOP_TESTS.index(chosen["stop_test"]),
        threshold=float(chosen["threshold"]),
        exploration_location=1.0 / epsilon if located else 0.0,
        exploration_scale=1.0 if located else 1.0 / epsilon,
        clip=CLIPS.index(chosen["clip"]),
        clips_both_phases=chosen["clipped_phases"] == "both",
        window_log=chosen["last_log"] == "window",
        random_ties=chosen["ties"] == "random",
        blocks=chosen["exploration"] == "blocks",
        constant=constant,
    )


@njit
def open_window(settings, horizon):
    """Return the Window of a run with ``horizon`` rounds; ``settings.horizon`` is not read."""
    epsilon, constant = settings.epsilon, settings.constant
    root = int(math.sqrt(horizon)) + 1
    log = math.log(horizon)
    last_log = math.log(root) if settings.window_log else log
    test_width = math.sqrt(8.0 * ALPHA * log) / epsilon
    return Window(
        horizon,
        (horizon, root, root + 1, (horizon + 9) // 10)[settings.cap],
        settings.threshold * C**2 * log,
        settings.threshold * (log / epsilon) ** 2,
        test_width,
        constant * (2.0 * C * math.sqrt(2.0 * log)),
        constant * test_width,
        constant * (4.0 * C * (2.0 * ALPHA) ** 0.25 * last_log**0.75 / math.sqrt(epsilon)),
    )


@njit
def stops(settings, window, count, private_sum):
    """Return whether an arm with these observations ends Phase I; one without any does not."""
    # From d <= p it follows that N p exceeds base + slope / p, a test without roots.
    if settings.stop_test == NO_TEST or private_sum <= window.base:
        return False
    if private_sum * (private_sum - window.base) <= window.slope * count:
        return False
    width = window.test_width / math.sqrt(count)
    difference = private_sum / count - width
    if settings.stop_test == FLOORED_TEST:
        difference = max(difference, SMALLEST_DIFFERENCE)
    if difference <= 0.0:
        return False
    return private_sum > window.base + window.slope / difference + count * width


@njit
def _shown(settings, count, private_sum):
    """Return the sum that Phase II shows: of a mean in [0, 1] unless nothing is clipped."""
    if settings.clip == NO_CLIP:
        return private_sum
    return min(max(private_sum, 0.0), float(count))


@njit
def exploration_sum(settings, count, private_sum):
    """Return the sum that Phase I shows: of a mean in [0, 1] where both phases are clipped."""
    return _shown(settings, count, private_sum) if settings.clips_both_phases else private_sum


@njit
def _explore(settings, window, stop, state, arms, rng, out, n):
    counts, private_sums = state.counts, state.private_sums
    location, scale = settings.exploration_location, settings.exploration_scale
    t = state.clock[0]
    while state.phase[0] == EXPLORING and t < stop and n < out.arms.size:
        arm = int(rng.random() * arms.laws.size)
        reward = pull(arms, arm, rng)
        counts[arm] += 1
        private_sums[arm] += reward + (location + laplace(scale, rng))
        shown = exploration_sum(settings, counts[arm], private_sums[arm])
        if settings.clip == RECURSIVE_CLIP:
            private_sums[arm] = shown
        n = write(out, n, arm, 1, reward)
        t += 1
        if t == window.cap or stops(settings, window, counts[arm], shown):
            state.phase[0] = LEADING
    state.clock[0] = t
    return n


@njit
def _block_length(settings, window, state, rounds):
    """Return the pulls of the block that begins now; 0 for no block. ``rounds`` are left."""
    most = 1.0 + settings.exploration_location + settings.exploration_scale
    arms, length = state.counts.size, rounds
    if state.clock[0] % BLOCK_FROM or (
        settings.clip == RECURSIVE_CLIP and settings.clips_both_phases
    ):
        return 0
    while length > 0:
        likely = (length / arms + FAR * math.sqrt(length / arms)) * most
        near = False
        for i in range(arms):
            near |= stops(settings, window, state.counts[i] + 1, state.private_sums[i] + likely)
        if not near:
            break
        length = length // (2 * BLOCK_FROM) * BLOCK_FROM
    return length


@njit
def play_block(settings, window, length, state, arms, rng):
    """Make ``length`` uniformly random pulls, or stop earlier; return their number and rewards."""
    counts, private_sums = state.counts, state.private_sums
    location, scale = settings.exploration_location, settings.exploration_scale
    own, positive_noise = np.empty(counts.size, np.int64), np.empty(counts.size)
    left, is_safe, rewards = length, True, 0.0
    for i in range(counts.size):
        own[i] = rng.binomial(left, 1.0 / (counts.size - i))
        left -= own[i]
        positive_noise[i] = scale * rng.standard_gamma(float(own[i]))
        largest = private_sums[i] + own[i] * (1.0 + location) + positive_noise[i]
        is_safe &= not stops(settings, window, counts[i] + 1, largest)
    if is_safe:
        for i in range(counts.size):
            reward_sum = pull_sum(arms, i, own[i], rng)
            noise = positive_noise[i] - scale * rng.standard_gamma(float(own[i]))
            counts[i] += own[i]
            private_sums[i] += reward_sum + (own[i] * location + noise)
            rewards += reward_sum
        return length, rewards
    for played in range(length):
        place, arm = int(rng.random() * (length - played)), 0
        while place >= own[arm]:
            place -= own[arm]
            arm += 1
        part = positive_noise[arm]
        if own[arm] > 1:
            part *= -math.expm1(-rng.standard_exponential() / (own[arm] - 1))
        own[arm] -= 1
        positive_noise[arm] -= part
        reward = pull(arms, arm, rng)
        rewards += reward
        counts[arm] += 1
        private_sums[arm] += reward + (location + (part - scale * rng.standard_exponential()))
        shown = exploration_sum(settings, counts[arm], private_sums[arm])
        if stops(settings, window, counts[arm], shown):
            state.phase[0] = LEADING
            return played + 1, rewards
    return length, rewards


@njit
def _explore_by_blocks(settings, window, stop, state, arms, rng, out, n):
    while state.phase[0] == EXPLORING and state.clock[0] < stop and n < out.arms.size:
        t = state.clock[0]
        length = _block_length(settings, window, state, min(stop, window.cap) - t)
        if not length:
            end = min(t - t % BLOCK_FROM + BLOCK_FROM, stop)
            n = _explore(settings, window, end, state, arms, rng, out, n)
            continue
        length, rewards = play_block(settings, window, length, state, arms, rng)
        n = write(out, n, RANDOM_ARM, length, rewards)
        state.clock[0] = t + length
        if state.clock[0] == window.cap:
            state.phase[0] = LEADING
    return n


@njit
def _index(window, count, shown):
    """Return the index of an arm whose ``count`` private values have the sum that is shown."""
    inverse_root = 1.0 / math.sqrt(count)
    p = shown / count
    widths = window.mean_width * math.sqrt(max(p, 0.0)) + window.local_width
    return p + inverse_root * (widths + window.last_width * math.sqrt(inverse_root))


@njit
def _rank(settings, window, state):
    """Return the arms and their indices, largest first; a recursive clip enters the sums."""
    indices = np.full(state.counts.size, math.inf)
    for i in range(indices.size):
        if state.counts[i] > 0:
            shown = _shown(settings, state.counts[i], state.private_sums[i])
            if settings.clip == RECURSIVE_CLIP:
                state.private_sums[i] = shown
            indices[i] = _index(window, state.counts[i], shown)
    # A stable sort: among equal indices the lowest arm comes first.
    order = np.argsort(-indices, kind="mergesort")
    return order, indices[order]


@njit
def sink(order, values, position):
    """Move one entry back to its place among those behind it: largest first, then lowest arm."""
    # Measured at 50 arms: a third of the time of a search for the two largest.
    arm, value = order[position], values[position]
    behind = position + 1
    while behind < order.size and (
        values[behind] > value or (values[behind] == value and order[behind] < arm)
    ):
        order[behind - 1], values[behind - 1] = order[behind], values[behind]
        behind += 1
    order[behind - 1], values[behind - 1] = arm, value


@njit
def draw_first(order, values, rng):
    """Bring forward an arm with the largest value, drawn as ``arm_of_largest`` draws it."""
    by_arm = np.empty(values.size)
    by_arm[order] = values
    arm = arm_of_largest(by_arm, True, rng)
    value, ahead = by_arm[arm], 0
    while order[ahead] != arm:
        ahead += 1
    for position in range(ahead, 0, -1):
        order[position], values[position] = order[position - 1], values[position - 1]
    order[0], values[0] = arm, value


@njit
def _lead(settings, window, stop, state, arms, rng, out, n):
    counts, private_sums = state.counts, state.private_sums
    scale = 1.0 / settings.epsilon
    t = state.clock[0]
    order, indices = _rank(settings, window, state)
    while t < stop and n < out.arms.size:
        if settings.random_ties:
            draw_first(order, indices, rng)
        arm, runner_up = order[0], indices[1]
        law, parameter = arms.laws[arm], arms.parameters[arm]
        count, private_sum = counts[arm], private_sums[arm]
        begin, rewards = t, 0.0
        safe_sum = safe_widths = index = math.inf
        slope = runner_up + ROUNDING * abs(runner_up)
        while t < stop:
            reward = draw_reward(law, parameter, rng)
            rewards += reward
            private_sum += reward + laplace(scale, rng)
            count += 1
            t += 1
            shown = _shown(settings, count, private_sum)
            if settings.clip == RECURSIVE_CLIP:
                private_sum = shown
            # N times the index is sum + mean_width sqrt(sum) + local_width sqrt(N) + last_width
            # N^(1/4). Its terms grow, so that widths of a smaller N are still lower bounds.
            if shown >= safe_sum and shown + safe_widths > slope * count:
                continue
            index = _index(window, count, shown)
            if not index > runner_up:
                break
            safe_sum = max(shown - NOISE_AHEAD * scale, 0.0)
            root = math.sqrt(count)
            safe_widths = window.mean_width * math.sqrt(safe_sum) + window.local_width * root
            safe_widths += window.last_width * math.sqrt(root)
        indices[0] = index
        sink(order, indices, 0)
        counts[arm], private_sums[arm] = count, private_sum
        n = write(out, n, arm, t - begin, rewards)
    state.clock[0] = t
    return n


@njit
def advance_window(settings, window, stop, state, arms, rng, out, n):
    """Play until ``stop`` rounds of the window are over or ``out`` is full; return new ``n``."""
    if settings.blocks:
        n = _explore_by_blocks(settings, window, stop, state, arms, rng, out, n)
    else:
        n = _explore(settings, window, stop, state, arms, rng, out, n)
    if state.phase[0] == EXPLORING or state.clock[0] == stop:
        return n
    return _lead(settings, window, stop, state, arms, rng, out, n)


@njit(nogil=True)
def advance(settings, state, arms, rng, out):
    window = open_window(settings, settings.horizon)
    # A plain 0 would be a type of its own, and all below compiled for it once more.
    return advance_window(settings, window, window.horizon, state, arms, rng, out, np.int64(0))


def reference_window(
    settings: Settings,
    horizon: int,
    stop: int,
    counts: list[int],
    means: list[float],
    bandit: Bandit,
    rng: np.random.Generator,
) -> Iterator[Segment]:
    """Algorithm 2, line by line, for ``stop`` rounds of ``horizon``; N and p are changed."""
    arms = range(len(bandit.arms))
    epsilon, log, root = settings.epsilon, math.log(horizon), math.isqrt(horizon) + 1
    last_log = math.log(root) if settings.window_log else log
    cap = min(stop, [horizon, root, root + 1, math.ceil(horizon / 10)][settings.cap])
    location, scale = settings.exploration_location, settings.exploration_scale

    def clipped(mean: float) -> float:
        return mean if settings.clip == NO_CLIP else min(max(mean, 0.0), 1.0)

    def shown_in_phase_one(i: int) -> float:
        return clipped(means[i]) if settings.clips_both_phases else means[i]

    def ends(n: int, p: float) -> bool:
        if n == 0 or settings.stop_test == NO_TEST:
            return False
        d = p - math.sqrt(8 * ALPHA * log / n) / epsilon
        if settings.stop_test == FLOORED_TEST:
            d = max(d, SMALLEST_DIFFERENCE)
        if d <= 0:
            return False
        enough = settings.threshold * (C**2 * log + log**2 / (d * epsilon**2))
        return n * p > enough + math.sqrt(8 * n * ALPHA * log) / epsilon

    def index(i: int) -> float:
        n, p = counts[i], clipped(means[i])
        if n == 0:
            return math.inf
        width = 2 * C * math.sqrt(2 * max(p, 0.0) * log / n)
        local = math.sqrt(8 * ALPHA * log / n) / epsilon
        last: float = 4 * C * (2 * ALPHA) ** (1 / 4) * (last_log / n) ** (3 / 4)
        return p + settings.constant * (width + local + last / math.sqrt(epsilon))

    def ends_after(i: int, pulls: float, positive_noise: float) -> bool:
        """Whether ``pulls`` rewards of 1 and this much noise could end Phase I."""
        total = counts[i] * means[i] + pulls * (1 + location) + positive_noise
        return ends(counts[i] + 1, total / (counts[i] + 1))

    def block_length() -> int:
        recursive = settings.clip == RECURSIVE_CLIP and settings.clips_both_phases
        m = 0 if recursive or not settings.blocks or t % BLOCK_FROM else cap - t
        while m > 0:
            likely = m / len(arms) + FAR * math.sqrt(m / len(arms))
            if not any(ends_after(i, likely, likely * scale) for i in arms):
                break
            m = BLOCK_FROM * (m // 2 // BLOCK_FROM)
        return m

    def block(m: int) -> Segment:
        own, positive_noise, left = [0 for _ in arms], [0.0 for _ in arms], m
        for i in arms:
            own[i] = int(rng.binomial(left, 1 / (len(arms) - i)))
            positive_noise[i] = scale * rng.standard_gamma(own[i])
            left -= own[i]
        total, safe = 0.0, not any(ends_after(i, own[i], positive_noise[i]) for i in arms)
        for i in arms if safe else []:
            rewards = bandit.draw_sum(i, own[i], rng)
            negative = scale * rng.standard_gamma(own[i])
            private = rewards + (own[i] * location + (positive_noise[i] - negative))
            if own[i] > 0:
                means[i] += (private - own[i] * means[i]) / (counts[i] + own[i])
            counts[i] += own[i]
            total += rewards
        for played in range(0 if safe else m):
            order = [i for i in arms for _ in range(own[i])]
            arm = order[math.floor(rng.random() * len(order))]
            first = 1.0
            if own[arm] > 1:
                first = -math.expm1(-rng.standard_exponential() / (own[arm] - 1))
            noise = first * positive_noise[arm]
            own[arm] -= 1
            positive_noise[arm] -= noise
            reward = bandit.draw(arm, rng)
            noise -= scale * rng.standard_exponential()
            counts[arm] += 1
            means[arm] += (reward + (location + noise) - means[arm]) / counts[arm]
            total += reward
            if ends(counts[arm], shown_in_phase_one(arm)):
                return RANDOM_ARM, played + 1, total
        return RANDOM_ARM, m, total

    t = 0
    while t < cap:  # Phase I
        if any(ends(counts[i], shown_in_phase_one(i)) for i in arms):
            break
        if m := block_length():
            segment = block(m)
            t += segment[1]
            yield segment
            continue
        arm = math.floor(rng.random() * len(arms))
        reward = bandit.draw(arm, rng)
        private = reward + (location + laplace.py_func(scale, rng))
        counts[arm] += 1
        means[arm] += (private - means[arm]) / counts[arm]
        if settings.clip == RECURSIVE_CLIP and settings.clips_both_phases:
            means[arm] = clipped(means[arm])
        t += 1
        yield arm, 1, reward
    if settings.clip == RECURSIVE_CLIP and t < stop:
        means[:] = [clipped(mean) for mean in means]
    while t < stop:  # Phase II
        indices = np.array([index(i) for i in arms])
        arm = arm_of_largest.py_func(indices, settings.random_ties, rng)
        reward = bandit.draw(arm, rng)
        private = reward + laplace.py_func(1.0 / epsilon, rng)
        counts[arm] += 1
        means[arm] += (private - means[arm]) / counts[arm]
        if settings.clip == RECURSIVE_CLIP:
            means[arm] = clipped(means[arm])
        t += 1
        yield arm, 1, reward


def reference(settings: Settings, bandit: Bandit, rng: np.random.Generator) -> Iterator[Segment]:
    """Algorithm 2, a round at once."""
    counts, means = [0 for _ in bandit.arms], [0.0 for _ in bandit.arms]
    horizon = settings.horizon
    return reference_window(settings, horizon, horizon, counts, means, bandit, rng)


def has_unscaled_noise(parameters: Any, horizon: int, bandit: Bandit | None) -> bool:
    """Whether the released code's noise of scale 1 in Phase I is too little: a loss of 1."""
    return bool(parameters.epsilon < 1.0)


ELSEWHERE = Known("stated", remark="NCB-C16 refutes it below epsilon = 1")

ALGORITHM = Algorithm(
    id="ldp-ncb",
    name="LDP-NCB",
    paper="Sarkar, Pandey and Ray Chowdhury (AAAI 2026), Algorithm 2",
    parameters={"epsilon": positive(example=0.2), "constant": printed()},
    settings=settings,
    state=partial(blank, State),
    advance=advance,
    reference=reference,
    guarantee="pure",
    model="local",
    stated="dp-ncb, arXiv Section 5",
    known=(
        Known("proved", "NCB-C16", {"exploration_noise": "scaled"}),
        Known(
            "refuted",
            "NCB-C16",
            condition=has_unscaled_noise,
            remark="Phase I has noise of scale 1",
        ),
        ELSEWHERE,
    ),
    audit=AuditCase(
        0.0,
        "AUD-16",
        parameters={"epsilon": 1.0},
        silent={"as-written": "all 12 rounds are uniform play, but for a vanishing chance"},
    ),
    interpretations={
        "cap": CAPS,
        "stop_test": STOP_TESTS,
        "threshold": ("1600", "1"),
        "exploration_noise": ("scaled", "located"),
        "clip": CLIPS,
        "clipped_phases": ("second", "both"),
        "last_log": ("horizon", "window"),
        "ties": TIES,
        "exploration": ("rounds", "blocks"),
    },
    presets={
        "as-coded": {
            "cap": "root-plus-one",
            "stop_test": "floored",
            "exploration_noise": "located",
            "clipped_phases": "both",
            "last_log": "window",
        },
        "repaired": {
            "cap": "root-plus-one",
            "stop_test": "floored",
            "clipped_phases": "both",
            "last_log": "window",
        },
    },
)
