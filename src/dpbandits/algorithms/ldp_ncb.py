"""LDP-NCB (Sarkar, Pandey and Ray Chowdhury, Algorithm 2): locally private Nash confidence bound.

Every reward is privatised on its own, Y = X + Laplace(1/epsilon), before the learner sees it.
Phase I pulls arms uniformly at random until some arm's running mean p of N such values passes a
threshold; Phase II plays, round by round, the largest index
p + 2c sqrt(2pL/N) + sqrt(8 alpha L/N)/epsilon + 4c (2 alpha)^(1/4) (L/N)^(3/4)/sqrt(epsilon),
with alpha = 3.1 and c = 3 as in all experiments; it is infinite for an arm without pulls (A21).
Natural logarithms; L = ln T, W = floor(sqrt T) + 1 and LW = ln W. Letters and numbers in brackets
are the entries of the replication's list of ambiguities (A) and of differences to the released
code (D).

Variants: ``as-coded`` is the released code. Its threshold is out of reach of W + 1 rounds, so that
Phase I lasts so long whatever the rewards, and its Phase-I noise is misplaced by a positional
argument: the sums are biased by 1/epsilon a pull for ever, and with scale 1 a reward is 1-private,
whatever epsilon is. ``repaired`` is the least repair: the released code with noise of scale
1/epsilon in Phase I too.

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
"""

import math
from collections.abc import Iterator

import numpy as np

from dpbandits.algorithms.base import Algorithm, AuditCase, Segment, positive
from dpbandits.algorithms.ldp_ncb_window import (
    ALPHA,
    FLOORED_TEST,
    NO_CLIP,
    NO_TEST,
    RECURSIVE_CLIP,
    SMALLEST_DIFFERENCE,
    C,
    Settings,
    advance_window,
    open_window,
    state,
)
from dpbandits.bandits import Bandit
from dpbandits.bandits.draws import TIES, arm_of_largest, laplace
from dpbandits.kernels import njit

CAPS = ("none", "root", "root-plus-one", "tenth")
STOP_TESTS = ("plain", "floored", "off")
CLIPS = ("display", "recursive", "none")


def settings(horizon: int, arms: int, *, epsilon: float, **chosen: str) -> Settings:
    """Translate parameters and interpretations for the kernel."""
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
    )


@njit(nogil=True)
def advance(settings, state, bandit, generator, out):
    """Play until the horizon or until ``arms`` is full; a chunk is a stretch of one leader."""
    laws, law_parameters = bandit
    arms, lengths, sums = out
    window = open_window(settings, settings.horizon)
    return advance_window(
        *(settings, window, window.horizon, state, laws, law_parameters, generator),
        *(arms, lengths, sums, 0),
    )


def reference_window(
    settings: Settings,
    horizon: int,
    counts: list[int],
    means: list[float],
    bandit: Bandit,
    generator: np.random.Generator,
) -> Iterator[Segment]:
    """Algorithm 2, line by line, for ``horizon`` rounds, whatever ``settings.horizon`` is.

    Args:
        settings: the interpretations and epsilon.
        horizon: T in the formulas, and the rounds played.
        counts: N of every arm, changed on the way; before the first round all 0.
        means: p of every arm, likewise.
        bandit: the instance.
        generator: the run's random stream.
    """
    arms = range(len(bandit.arms))
    epsilon, log, root = settings.epsilon, math.log(horizon), math.isqrt(horizon) + 1
    last_log = math.log(root) if settings.window_log else log
    cap = min(horizon, [horizon, root, root + 1, math.ceil(horizon / 10)][settings.cap])

    def clipped(mean: float) -> float:
        return mean if settings.clip == NO_CLIP else min(max(mean, 0.0), 1.0)

    def shown_in_phase_one(i: int) -> float:
        return clipped(means[i]) if settings.clips_both_phases else means[i]

    def ends(i: int) -> bool:
        n, p = counts[i], shown_in_phase_one(i)
        if n == 0:
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
        return p + width + local + last / math.sqrt(epsilon)

    t = 0
    while t < cap:  # Phase I
        if settings.stop_test != NO_TEST and any(ends(i) for i in arms):
            break
        arm = math.floor(generator.random() * len(arms))
        reward = bandit.draw(arm, generator)
        noise = laplace.py_func(settings.exploration_scale, generator)
        private = reward + (settings.exploration_location + noise)
        counts[arm] += 1
        means[arm] += (private - means[arm]) / counts[arm]
        if settings.clip == RECURSIVE_CLIP and settings.clips_both_phases:
            means[arm] = clipped(means[arm])
        t += 1
        yield arm, 1, reward
    if settings.clip == RECURSIVE_CLIP and t < horizon:
        means[:] = [clipped(mean) for mean in means]
    while t < horizon:  # Phase II
        indices = np.array([index(i) for i in arms])
        arm = arm_of_largest.py_func(indices, settings.random_ties, generator)
        reward = bandit.draw(arm, generator)
        private = reward + laplace.py_func(1.0 / epsilon, generator)
        counts[arm] += 1
        means[arm] += (private - means[arm]) / counts[arm]
        if settings.clip == RECURSIVE_CLIP:
            means[arm] = clipped(means[arm])
        t += 1
        yield arm, 1, reward


def reference(
    settings: Settings, bandit: Bandit, generator: np.random.Generator
) -> Iterator[Segment]:
    """Algorithm 2, a round at once."""
    counts, means = [0 for _ in bandit.arms], [0.0 for _ in bandit.arms]
    yield from reference_window(settings, settings.horizon, counts, means, bandit, generator)


ALGORITHM = Algorithm(
    id="ldp-ncb",
    name="LDP-NCB",
    paper="Sarkar, Pandey and Ray Chowdhury (AAAI 2026), Algorithm 2",
    parameters={"epsilon": positive(example=0.2)},
    settings=settings,
    state=state,
    advance=advance,
    reference=reference,
    guarantee="pure",
    model="local",
    stated="dp-ncb, arXiv Section 5",
    audit=AuditCase(0.0, "AUD-16", "NCB-C16", parameters={"epsilon": 1.0}),
    interpretations={
        "cap": CAPS,
        "stop_test": STOP_TESTS,
        "threshold": ("1600", "1"),
        "exploration_noise": ("scaled", "located"),
        "clip": CLIPS,
        "clipped_phases": ("second", "both"),
        "last_log": ("horizon", "window"),
        "ties": TIES,
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
