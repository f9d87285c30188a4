"""GDP-NCB (Sarkar, Pandey and Ray Chowdhury, Algorithm 1): globally private Nash confidence bound.

Phase I pulls arms uniformly at random until some private sum of rewards passes a threshold. Phase
II plays the largest index in episodes of 2, 4, 8, ... pulls of one arm, each of which ends with one
release of the arm's mean over its Phase-I rewards and that episode's. c = 3 and alpha = 3.1, as in
all experiments. Natural logarithms; L = ln T, W = floor(sqrt T) + 1 and LW = ln W. Letters and
numbers in brackets are the entries of the replication's lists of ambiguities (A) and of differences
to the released code (D).

The parameter ``constant``, 1 as printed, is a factor of the three terms that Phase II adds to a
private mean. The guarantee does not depend on it: indices are computed from private means, and
however they order the arms, one reward enters no more releases than episodes double up to T. The
threshold of Phase I keeps its constants, as its test reads rewards. The exact loss by which
``as-coded`` is refuted was computed at 1.

Variants: ``as-coded`` is the released code. Its threshold is out of reach of W rounds, so that
Phase I lasts W rounds whatever the rewards, though its stop test reads unprotected means. As in
``as-written``, up to log2 T releases of Phase II touch one reward of Phase I, each of which costs
epsilon / ln T: composed, epsilon / ln 2 at most, which is more than the paper states.
``as-written`` besides consults a fresh private mean after every pull of Phase I, which the paper
does not count. ``repaired`` is the least repair: the released code with base-2 noise, and without
the stop test, which could first end Phase I beyond T = 3e10. The length of Phase I is then fixed
for every T, and one of its rewards enters log2(T - W + 2) - 1 releases at most, at
epsilon / log2 T each, so that composition keeps to epsilon.

Interpretations:
    cap: longest Phase I: ``none`` but T, ``root`` W rounds, ``tenth`` T/10 rounds (A11).
    stop_test: what Phase I is stopped by: ``private`` sums, ``clean`` ones, or nothing, ``off``,
        so that it lasts until the cap (A2, D3).
    refreshed: private means renewed after a pull of Phase I: the ``pulled`` arm's or ``all`` (A2).
    threshold: constant of 1600 (c^2 L + L^2 / epsilon) (A12, D20).
    threshold_log: logarithms in it, both of the ``horizon``, both of the ``window`` W (D2), or
        ``mixed``, c^2 LW + L^2 / epsilon (D20).
    index_log: logarithm in the three bonus terms, of the ``horizon`` or the ``window`` W (D4).
    start: private means at the start of Phase II: the last of Phase I clipped to [0, 1],
        ``carried``, or to what is not negative, ``carried-positive``, or ``zeros`` (A5, D5). Where
        the stop test draws none, they are drawn at the end of Phase I. With zeros and so long a
        Phase I that the widths are below the best mean, the first good arm to be released is played
        for ever. With fifty arms that begins at T = 1e7 for epsilon = 100, at 1e9 for 2 and beyond
        1e10 for 0.2; with five at T = 1e5 for epsilon = 100, in half of the runs.
    pseudo_pull: before an arm's first episode one pull without a reward is ``counted`` beside those
        of Phase I or ``left-out`` (A3); an arm without any pull then has an infinite index.
    release_log: the scale of the noise is log(T) / (epsilon n) with the ``natural`` logarithm or
        ``base2`` (A9).
    root: the last term is 4 sqrt(2 alpha / epsilon) L^(3/2) / n with L^(3/2) / n ``outside`` the
        root or ``inside`` (A10).
    ties: the ``lowest`` arm, or a ``random`` one (A20).
    exploration: Phase I pull by pull in ``rounds``, or, the same in law, in ``blocks`` whose pulls
        are known by their sum only; with ``refreshed: all`` there are none.

Blocks: a pull stops Phase I where its arm's sum of rewards plus fresh Laplace noise exceeds a
threshold. Let d be the distance of the largest sum to it. In a block of m < d pulls only a noise
above d - m can do that. The number of pulls before the first such noise is geometric; they are
drawn as one multinomial with a sum of rewards for each arm, and the exceeding noise is, by lack of
memory, d - m and another exponential. Near the threshold every pull is played by itself. Blocks
begin at multiples of BLOCK_FROM, so that it makes no difference where a kernel is resumed.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from dpbandits.algorithms.base import Algorithm, AuditCase, Known, Segment, positive, printed
from dpbandits.bandits import Bandit
from dpbandits.bandits.draws import TIES, arm_of_largest, laplace, pull, pull_sum
from dpbandits.kernels import RANDOM_ARM, Counts, One, Reals, blank, njit, write
from dpbandits.privacy.witnesses import release_loss, stop_test_loss

ALPHA = 3.1
C = 3.0
CAPS = ("none", "root", "tenth")
STOP_TESTS = ("private", "clean", "off")
PRIVATE_TEST, CLEAN_TEST, NO_TEST = range(3)
STARTS = ("carried", "carried-positive", "zeros")
CARRIED, CARRIED_POSITIVE, ZEROS = range(3)
EXPLORING, EXPLORED, EXPLOITING = range(3)

BLOCK_FROM = 512
"""Blocks begin at multiples of this many pulls, which cost about as much as two binomials for each
arm. Every block of Phase I but the last is a multiple of it long."""

NEAR = math.log(BLOCK_FROM / 2.0)
"""One noise in BLOCK_FROM exceeds this many scales. A block ends at least this far before the
threshold, and where the noise is small at least half the distance before it."""


class Settings(NamedTuple):
    """Arguments of the kernel: the horizon, epsilon and the interpretations."""

    horizon: int
    epsilon: float
    cap: int
    stop_test: int
    refresh_all: bool
    threshold: float
    window_logs: tuple[bool, bool]
    index_window_log: bool
    start: int
    pseudo_pulls: int
    release_log_factor: float
    root_inside: bool
    random_ties: bool
    blocks: bool
    constant: float


class Window(NamedTuple):
    """What follows for one horizon, which the anytime wrapper makes grow."""

    horizon: int
    cap: int  # longest Phase I
    threshold: float  # a sum of rewards above it stops Phase I
    noise: float  # scale of the noise in a sum of rewards
    log: float  # the logarithm in the index


class State(NamedTuple):
    """The phase; by arm N1 and the rewards of Phase I, N2 (latest episode, or 1), and p."""

    clock: One
    phase: One
    explored: Counts
    explored_sums: Reals
    episodes: Counts
    private_means: Reals


def settings(
    horizon: int, arms: int, epsilon: float, constant: float = 1.0, **chosen: str
) -> Settings:
    return Settings(
        horizon=horizon,
        epsilon=epsilon,
        cap=CAPS.index(chosen["cap"]),
        stop_test=STOP_TESTS.index(chosen["stop_test"]),
        refresh_all=chosen["refreshed"] == "all",
        threshold=float(chosen["threshold"]),
        window_logs=(chosen["threshold_log"] != "horizon", chosen["threshold_log"] == "window"),
        index_window_log=chosen["index_log"] == "window",
        start=STARTS.index(chosen["start"]),
        pseudo_pulls=1 if chosen["pseudo_pull"] == "counted" else 0,
        release_log_factor=1.0 / math.log(2.0) if chosen["release_log"] == "base2" else 1.0,
        root_inside=chosen["root"] == "inside",
        random_ties=chosen["ties"] == "random",
        blocks=chosen["exploration"] == "blocks",
        constant=constant,
    )


@njit
def open_window(settings, horizon):
    """Return the Window of a run with ``horizon`` rounds; ``settings.horizon`` is not read."""
    root = int(math.sqrt(horizon)) + 1
    log, root_log = math.log(horizon), math.log(root)
    first = root_log if settings.window_logs[0] else log
    second = root_log if settings.window_logs[1] else log
    return Window(
        horizon,
        (horizon, root, (horizon + 9) // 10)[settings.cap],
        settings.threshold * (C**2 * first + second**2 / settings.epsilon),
        settings.release_log_factor * log / settings.epsilon,
        root_log if settings.index_window_log else log,
    )


@njit
def reset(state):
    """Clear the state in place: nothing played."""
    state.clock[:] = 0
    state.phase[:] = EXPLORING
    state.explored[:] = 0
    state.explored_sums[:] = 0.0
    state.episodes[:] = 0
    state.private_means[:] = 0.0


@njit
def _pull(explored, explored_sums, arms, rng):
    """Pull a uniformly random arm and return it with its reward."""
    arm = int(rng.random() * arms.laws.size)
    reward = pull(arms, arm, rng)
    explored[arm] += 1
    explored_sums[arm] += reward
    return arm, reward


@njit
def _refresh_all(window, explored, explored_sums, private_means, rng):
    """Renew the private mean of every arm that was pulled; return whether one stops the phase."""
    stops = False
    for i in range(explored.size):
        if explored[i] > 0:
            noisy_sum = explored_sums[i] + laplace(window.noise, rng)
            private_means[i] = noisy_sum / explored[i]
            stops |= noisy_sum > window.threshold
    return stops


@njit
def explore_by_rounds(settings, window, stop, state, arms, rng, out, n):
    """Play Phase I as ``advance_window`` does, one segment a round; ``stop`` is at most the cap."""
    # Local names: to read a field of the state again and again costs five times the draws.
    explored, explored_sums = state.explored, state.explored_sums
    private_means = state.private_means
    t = state.clock[0]
    stops = False
    while not stops and t < stop and n < out.arms.size:
        arm, reward = _pull(explored, explored_sums, arms, rng)
        if settings.stop_test == CLEAN_TEST:
            stops = explored_sums[arm] > window.threshold
        elif settings.stop_test == PRIVATE_TEST and settings.refresh_all:
            stops = _refresh_all(window, explored, explored_sums, private_means, rng)
        elif settings.stop_test == PRIVATE_TEST:
            noisy_sum = explored_sums[arm] + laplace(window.noise, rng)
            private_means[arm] = noisy_sum / explored[arm]
            stops = noisy_sum > window.threshold
        n = write(out, n, arm, 1, reward)
        t += 1
    state.clock[0] = t
    if stops:
        state.phase[0] = EXPLORED
    return n


@njit
def _block_length(settings, window, distance, t, rounds):
    """Return the pulls of the block that begins at t; 0 for no block. ``rounds`` are left."""
    longest = float(rounds)
    if settings.stop_test == CLEAN_TEST:
        longest = min(longest, distance)
    elif settings.stop_test == PRIVATE_TEST:
        longest = min(longest, distance / 2.0, distance - NEAR * window.noise)
    if t % BLOCK_FROM:
        return 0
    return rounds if longest == rounds else BLOCK_FROM * max(int(longest / BLOCK_FROM), 0)


@njit
def _pulls_before_exceeding(bound, noise, rng):
    """Draw the number of pulls before the first one whose noise exceeds the bound."""
    # Without noise, at T = 1, none exceeds it.
    probability = 0.5 * math.exp(-bound / noise) if noise else 0.0
    if probability == 0.0:
        return math.inf
    return rng.standard_exponential() / -math.log1p(-probability)


@njit
def _pull_uniformly(settings, window, state, pulls, bound, arms, rng):
    """Make ``pulls`` pulls at once, whose noise stays below the bound; return the rewards."""
    rewards = 0.0
    for i in range(arms.laws.size):
        own = rng.binomial(pulls, 1.0 / (arms.laws.size - i))
        pulls -= own
        if not own:
            continue
        own_sum = pull_sum(arms, i, own, rng)
        rewards += own_sum
        state.explored[i] += own
        state.explored_sums[i] += own_sum
        if settings.stop_test == PRIVATE_TEST:
            noise = laplace(window.noise, rng)
            while noise > bound:
                noise = laplace(window.noise, rng)
            state.private_means[i] = (state.explored_sums[i] + noise) / state.explored[i]
    return rewards


@njit
def explore_by_blocks(settings, window, stop, state, arms, rng, out, n):
    """Play Phase I, the same in law, in segments of arm RANDOM_ARM; the exceeding pull ends one."""
    while state.phase[0] == EXPLORING and state.clock[0] < stop and n < out.arms.size:
        distance = window.threshold - state.explored_sums.max()
        t = state.clock[0]
        length = _block_length(settings, window, distance, t, stop - t)
        if not length:
            end = min(t - t % BLOCK_FROM + BLOCK_FROM, stop)
            n = explore_by_rounds(settings, window, end, state, arms, rng, out, n)
            continue
        bound, before = distance - length, math.inf
        if settings.stop_test == PRIVATE_TEST:
            before = _pulls_before_exceeding(bound, window.noise, rng)
        exceeds = before < length
        if exceeds:
            length = int(before)
        rewards = _pull_uniformly(settings, window, state, length, bound, arms, rng)
        if exceeds:
            arm, reward = _pull(state.explored, state.explored_sums, arms, rng)
            noise = bound + window.noise * rng.standard_exponential()
            noisy_sum = state.explored_sums[arm] + noise
            state.private_means[arm] = noisy_sum / state.explored[arm]
            if noisy_sum > window.threshold:
                state.phase[0] = EXPLORED
            length += 1
            rewards += reward
        n = write(out, n, RANDOM_ARM, length, rewards)
        state.clock[0] = t + length
    return n


@njit
def start_phase_two(settings, window, state, rng):
    """Set the private means that Phase II begins with; those not released yet are drawn here."""
    state.phase[0] = EXPLOITING
    state.episodes[:] = 1
    if settings.start == ZEROS:
        state.private_means[:] = 0.0
        return
    for i in range(state.explored.size):
        if settings.stop_test != PRIVATE_TEST and state.explored[i] > 0:
            noisy_sum = state.explored_sums[i] + laplace(window.noise, rng)
            state.private_means[i] = noisy_sum / state.explored[i]
        state.private_means[i] = max(state.private_means[i], 0.0)
        if settings.start == CARRIED:
            state.private_means[i] = min(state.private_means[i], 1.0)


@njit
def _indices(settings, window, state):
    log, epsilon, constant = window.log, settings.epsilon, settings.constant
    indices = np.empty(state.explored.size)
    for i in range(indices.size):
        n = state.explored[i] + state.episodes[i]
        if state.episodes[i] == 1:
            n += settings.pseudo_pulls - 1
        if n == 0:
            indices[i] = math.inf
            continue
        p = state.private_means[i]
        last = 4.0 * math.sqrt(2.0 * ALPHA / epsilon) * log**1.5 / n
        if settings.root_inside:
            last = 4.0 * math.sqrt(2.0 * ALPHA / epsilon * log**1.5 / n)
        width = 2.0 * C * math.sqrt(2.0 * p * log / n)
        noise = ALPHA * log**2 / (epsilon * n)
        indices[i] = p + constant * width + constant * noise + constant * last
    return indices


@njit
def advance_window(settings, window, stop, state, arms, rng, out, n):
    """Play until ``stop`` rounds of the window are over or ``out`` is full; return new ``n``."""
    if state.phase[0] == EXPLORING:
        end = min(stop, window.cap)
        if settings.blocks and not settings.refresh_all:
            n = explore_by_blocks(settings, window, end, state, arms, rng, out, n)
        else:
            n = explore_by_rounds(settings, window, end, state, arms, rng, out, n)
        if state.clock[0] == window.cap:
            state.phase[0] = EXPLORED
    t = state.clock[0]
    while state.phase[0] != EXPLORING and t < stop and n < out.arms.size:
        if state.phase[0] == EXPLORED:
            start_phase_two(settings, window, state, rng)
        indices = _indices(settings, window, state)
        arm = arm_of_largest(indices, settings.random_ties, rng)
        length = min(2 * state.episodes[arm], stop - t)
        rewards = pull_sum(arms, arm, length, rng)
        noisy_sum = state.explored_sums[arm] + rewards + laplace(window.noise, rng)
        state.episodes[arm] = length
        state.private_means[arm] = min(max(noisy_sum / (state.explored[arm] + length), 0.0), 1.0)
        n = write(out, n, arm, length, rewards)
        t += length
    state.clock[0] = t
    return n


@njit(nogil=True)
def advance(settings, state, arms, rng, out):
    window = open_window(settings, settings.horizon)
    # A plain 0 would be a type of its own, and all below compiled for it once more.
    return advance_window(settings, window, window.horizon, state, arms, rng, out, np.int64(0))


@dataclass
class _PhaseOne:
    """Phase I in plain Python; it leaves N1, the sums of rewards and p of every arm."""

    settings: Settings
    bandit: Bandit
    rng: np.random.Generator
    threshold: float
    noise: float
    stopped: bool = False
    t: int = 0

    def __post_init__(self) -> None:
        """Begin with nothing."""
        arms = len(self.bandit.arms)
        self.n1, self.s1, self.p = [0] * arms, [0.0] * arms, [0.0] * arms

    def renew(self, arm: int, bound: float = math.inf) -> None:
        """Renew the private mean of an arm, with a noise given that it is not above a bound."""
        noise = laplace.py_func(self.noise, self.rng)
        while noise > bound:
            noise = laplace.py_func(self.noise, self.rng)
        self.p[arm] = (self.s1[arm] + noise) / self.n1[arm]

    def pull(self) -> tuple[int, float]:
        """Pull a uniformly random arm and return it with its reward."""
        arm = math.floor(self.rng.random() * len(self.n1))
        reward = self.bandit.draw(arm, self.rng)
        self.n1[arm] += 1
        self.s1[arm] += reward
        self.t += 1
        return arm, reward

    def rounds(self, end: int) -> Iterator[Segment]:
        """Algorithm 1, lines 2 to 7, until round ``end``."""
        while self.t < end and not self.stopped:
            arm, reward = self.pull()
            yield arm, 1, reward
            if self.settings.stop_test == PRIVATE_TEST:
                pulled = [i for i, pulls in enumerate(self.n1) if pulls > 0]
                for i in pulled if self.settings.refresh_all else [arm]:
                    self.renew(i)
                self.stopped = max(map(mul, self.n1, self.p)) > self.threshold
            elif self.settings.stop_test == CLEAN_TEST:
                self.stopped = max(self.s1) > self.threshold

    def blocks(self, end: int) -> Iterator[Segment]:
        """The same in law, in blocks where blocks are possible."""
        while self.t < end and not self.stopped:
            distance = self.threshold - max(self.s1)
            kind, left = self.settings.stop_test, end - self.t
            safe = math.inf if kind == NO_TEST else distance
            if kind == PRIVATE_TEST:
                safe = min(distance / 2, distance - NEAR * self.noise)
            pulls = left if left <= safe else BLOCK_FROM * math.floor(max(safe, 0) / BLOCK_FROM)
            bound = distance - pulls
            if self.t % BLOCK_FROM > 0 or pulls == 0:
                yield from self.rounds(min(end, BLOCK_FROM * (self.t // BLOCK_FROM + 1)))
            else:
                yield RANDOM_ARM, *self.block(pulls, bound)

    def block(self, most: int, bound: float) -> tuple[int, float]:
        """Play a block of at most ``most`` pulls, until a noise exceeds the bound."""
        before, exceeding = math.inf, 0.0
        # Without noise, at T = 1, none exceeds the bound.
        if self.settings.stop_test == PRIVATE_TEST and self.noise > 0:
            exceeding = math.exp(-bound / self.noise) / 2
        if exceeding > 0:
            before = self.rng.standard_exponential() / -math.log1p(-exceeding)
        pulls = left = math.floor(min(most, before))
        self.t += pulls
        total = 0.0
        for arm in range(len(self.n1)):
            count = int(self.rng.binomial(left, 1 / (len(self.n1) - arm)))
            left -= count
            if count > 0:
                rewards = self.bandit.draw_sum(arm, count, self.rng)
                self.n1[arm] += count
                self.s1[arm] += rewards
                total += rewards
                if self.settings.stop_test == PRIVATE_TEST:
                    self.renew(arm, bound)
        if before >= most:
            return pulls, total
        arm, reward = self.pull()
        noise = bound + self.noise * self.rng.standard_exponential()
        self.p[arm] = (self.s1[arm] + noise) / self.n1[arm]
        self.stopped = self.s1[arm] + noise > self.threshold
        return pulls + 1, total + reward


def reference_window(
    settings: Settings, horizon: int, stop: int, bandit: Bandit, rng: np.random.Generator
) -> Iterator[Segment]:
    """Algorithm 1, line by line, an episode at once, for ``stop`` rounds of ``horizon``."""
    epsilon = settings.epsilon
    log, window_log = math.log(horizon), math.log(math.isqrt(horizon) + 1)
    noise = settings.release_log_factor * log / epsilon
    first, second = (window_log if short else log for short in settings.window_logs)
    threshold = settings.threshold * (C**2 * first + second**2 / epsilon)
    cap = [horizon, math.isqrt(horizon) + 1, math.ceil(horizon / 10)][settings.cap]

    phase_one = _PhaseOne(settings, bandit, rng, threshold, noise)
    blocks = settings.blocks and not settings.refresh_all
    explore = phase_one.blocks if blocks else phase_one.rounds
    yield from explore(min(stop, cap))
    t, n1, s1 = phase_one.t, phase_one.n1, phase_one.s1
    if t == stop:
        return
    arms = range(len(n1))
    if settings.start != ZEROS and settings.stop_test != PRIVATE_TEST:
        for i in arms:
            if n1[i] > 0:
                phase_one.renew(i)
    highest = {CARRIED: 1.0, CARRIED_POSITIVE: math.inf, ZEROS: 0.0}[settings.start]
    p = [min(max(mean, 0.0), highest) for mean in phase_one.p]

    if settings.index_window_log:
        log = window_log
    n2 = [1 for _ in arms]
    while t < stop:  # Phase II
        index = [math.inf for _ in arms]
        for i in arms:
            n = n1[i] + n2[i]
            if n2[i] == 1 and settings.pseudo_pulls == 0:
                n = n1[i]
            if n > 0:
                last = math.sqrt(2 * ALPHA / epsilon) * log**1.5 / n
                if settings.root_inside:
                    last = math.sqrt(2 * ALPHA / epsilon * log**1.5 / n)
                width = 2 * C * math.sqrt(2 * p[i] * log / n)
                width += ALPHA * log**2 / (epsilon * n) + 4 * last
                index[i] = p[i] + settings.constant * width
        arm = arm_of_largest.py_func(np.array(index), settings.random_ties, rng)
        pulls = min(2 * n2[arm], stop - t)
        rewards = bandit.draw_sum(arm, pulls, rng)
        n2[arm] = pulls
        t += pulls
        yield arm, pulls, rewards
        mean = (s1[arm] + rewards + laplace.py_func(noise, rng)) / (n1[arm] + n2[arm])
        p[arm] = min(max(mean, 0.0), 1.0)


def reference(settings: Settings, bandit: Bandit, rng: np.random.Generator) -> Iterator[Segment]:
    """Algorithm 1 to its horizon."""
    return reference_window(settings, settings.horizon, settings.horizon, bandit, rng)


AUDIT = AuditCase(
    0.0,
    {"as-coded": "AUD-13", "as-written": "AUD-14", "repaired": "AUD-15"},
    horizon=24,
    parameters={"epsilon": 1.0},
    silent={
        "as-written": "all 24 rounds are uniform play, but for a vanishing chance",
        "repaired": "in windows of 8 rounds or less a reward enters one release, of epsilon / 3",
    },
)
"""Of GDP-NCB and of its anytime version."""

PRINTED = {
    "cap": "none",
    "stop_test": "private",
    "refreshed": "pulled",
    "threshold": "1600",
    "threshold_log": "horizon",
    "index_log": "horizon",
    "start": "carried",
    "pseudo_pull": "counted",
    "release_log": "natural",
    "root": "outside",
}
_RELEASED_CODE = {
    **PRINTED,
    "cap": "root",
    "stop_test": "clean",
    "threshold_log": "window",
    "index_log": "window",
    "start": "zeros",
    "ties": "lowest",
}
REPAIRED = {"cap": "root", "stop_test": "off", "release_log": "base2"}
"""Phase I has W rounds, so that a reward enters at most log2 T releases, by any ``start``."""

TWO_ARMS = "the witness has two arms"
ELSEWHERE = Known(
    "stated",
    remark="NCB-C15 refutes it for other horizons, epsilons, constants or numbers of arms",
)


def exceeds(loss: Callable[[int, float], float]) -> Callable[[Any, int, Bandit | None], bool]:
    """Return the condition that the loss of a witness exceeds epsilon."""
    return lambda parameters, horizon, bandit: (
        loss(horizon, parameters.epsilon) > parameters.epsilon
    )


def _released(parameters: Any, horizon: int, bandit: Bandit | None) -> bool:
    """Whether the loss of Phase II's releases exceeds epsilon, with the printed constant."""
    is_printed = not hasattr(parameters, "constant")
    return is_printed and release_loss(horizon, parameters.epsilon) > parameters.epsilon


ALGORITHM = Algorithm(
    id="gdp-ncb",
    name="GDP-NCB",
    paper="Sarkar, Pandey and Ray Chowdhury (AAAI 2026), Algorithm 1",
    parameters={"epsilon": positive(example=0.2), "constant": printed()},
    settings=settings,
    state=partial(blank, State),
    advance=advance,
    reference=reference,
    guarantee="pure",
    stated="dp-ncb, Theorem 2",
    known=(
        Known("refuted", "NCB-C15", PRINTED, exceeds(stop_test_loss)),
        Known("refuted", "NCB-C15", _RELEASED_CODE, _released, TWO_ARMS, two_arms=True),
        Known("proved", "NCB-C15", REPAIRED),
        ELSEWHERE,
    ),
    audit=AUDIT,
    interpretations={
        "cap": CAPS,
        "stop_test": STOP_TESTS,
        "refreshed": ("pulled", "all"),
        "threshold": ("1600", "1"),
        "threshold_log": ("horizon", "window", "mixed"),
        "index_log": ("horizon", "window"),
        "start": STARTS,
        "pseudo_pull": ("counted", "left-out"),
        "release_log": ("natural", "base2"),
        "root": ("outside", "inside"),
        "ties": TIES,
        "exploration": ("rounds", "blocks"),
    },
    presets={
        "as-coded": {
            "cap": "root",
            "stop_test": "clean",
            "threshold_log": "window",
            "index_log": "window",
            "start": "zeros",
        },
        "repaired": {
            "cap": "root",
            "stop_test": "off",
            "index_log": "window",
            "start": "zeros",
            "release_log": "base2",
        },
    },
)
