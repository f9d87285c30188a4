"""AdaP-UCB (Azize and Basu, NeurIPS 2022): globally private UCB in episodes of doubling length.

After one pull of each arm, episodes of one arm, the largest index's, which double its number of
pulls; each ends with one release of the mean of that episode's rewards alone. With h the length of
the arm's latest episode and t the number of the coming round the index is

    private mean + sqrt(alpha log(t) / (2 h)) + alpha log(t) / (epsilon h).

The parameter ``constant`` is alpha, 3.1 in all experiments; the analysis asks more than 3. Privacy
does not depend on it: an episode is as long as the arm's pulls say, each reward enters one release,
and indices are computed from the private means.

Letters and numbers in brackets are the entries of the replication of DP-NCB: its list of
ambiguities (A) and of differences to the code released with that paper (D), whose AdaP-UCB is the
variant ``as-coded``. It does not protect the first rewards and is not private. ``repaired`` is the
original, ``as-written``.

Interpretations:
    first_pulls: first rewards released with noise, ``private``, or without, ``raw`` (D15).
    first_h: h of an arm before its first episode: the true length ``one``, or ``half`` of its
        pulls as the paper's formula has it, with noise of scale 2 / epsilon.
    doubling: an episode is as long as the ``total`` of the arm's pulls so far, 1, 1, 2, 4, or twice
        the arm's latest ``episode``, 1, 2, 4, 8 (A14, D14).
    exploration_term: sqrt(alpha log(t) / (2 h)), ``halved``, or sqrt(alpha log(t) / h), ``whole``
        (D13).
    privacy_term: alpha log(t) / (epsilon h), ``over-epsilon``; 2 alpha log(t) / h, ``doubled``; or
        2 alpha log(t) / (epsilon h), ``doubled-over-epsilon`` (D12).
    log_argument: ``t``, or ``2t`` in the exploration term (A14).
    clip: private means as they are, ``none``, or clipped to the ``unit`` interval (A14, D16).
    order: first pulls in the order of the ``index`` or in a ``random`` one (A15).
    ties: the ``lowest`` arm, or a ``random`` one (A20).
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dpbandits.algorithms.base import (
    ONE_RELEASE,
    Algorithm,
    AuditCase,
    Known,
    Segment,
    positive,
    printed,
)
from dpbandits.bandits import Bandit
from dpbandits.bandits.draws import TIES, arm_of_largest, laplace, pull_sum
from dpbandits.kernels import Counts, One, Reals, blank, njit, write

ALPHA = 3.1
"""As in all experiments."""


class Settings(NamedTuple):
    """Arguments: sqrt(exploration_factor log(log_factor t) / h) and privacy_factor log(t) / h."""

    horizon: int
    epsilon: float
    raw_first_pulls: bool
    first_h: float
    by_total: bool
    exploration_factor: float
    privacy_factor: float
    log_factor: float
    clipped: bool
    random_order: bool
    random_ties: bool


class State(NamedTuple):
    """``order`` of the first pulls; for each arm all its ``pulls`` and its latest episode."""

    clock: One
    order: Counts
    pulls: Counts
    lengths: Counts
    private_means: Reals


def settings(
    horizon: int, arms: int, epsilon: float, constant: float = ALPHA, **chosen: str
) -> Settings:
    privacy_factors = {
        "over-epsilon": constant / epsilon,
        "doubled": 2.0 * constant,
        "doubled-over-epsilon": 2.0 * constant / epsilon,
    }
    return Settings(
        horizon=horizon,
        epsilon=epsilon,
        raw_first_pulls=chosen["first_pulls"] == "raw",
        first_h=0.5 if chosen["first_h"] == "half" else 1.0,
        by_total=chosen["doubling"] == "total",
        exploration_factor=constant / (2.0 if chosen["exploration_term"] == "halved" else 1.0),
        privacy_factor=privacy_factors[chosen["privacy_term"]],
        log_factor=2.0 if chosen["log_argument"] == "2t" else 1.0,
        clipped=chosen["clip"] == "unit",
        random_order=chosen["order"] == "random",
        random_ties=chosen["ties"] == "random",
    )


@njit
def _set_order(settings, order, rng):
    """Decide the order of the first pulls; a random one as Fisher and Yates do."""
    for i in range(order.size):
        order[i] = i
    if settings.random_order:
        for last in range(order.size - 1, 0, -1):
            other = int(rng.random() * (last + 1))
            order[last], order[other] = order[other], order[last]


@njit
def _indices(settings, state):
    log = math.log(state.clock[0] + 1)
    log_of_root = math.log(settings.log_factor * (state.clock[0] + 1))
    indices = np.empty(state.pulls.size)
    for i in range(indices.size):
        h = settings.first_h if state.pulls[i] == 1 else float(state.lengths[i])
        width = math.sqrt(settings.exploration_factor * log_of_root / h)
        indices[i] = state.private_means[i] + width + settings.privacy_factor * log / h
    return indices


@njit(nogil=True)
def advance(settings, state, arms, rng, out):
    n = 0
    if state.clock[0] == 0:
        _set_order(settings, state.order, rng)
    while state.clock[0] < settings.horizon and n < out.arms.size:
        t = state.clock[0]
        is_first = t < arms.laws.size
        length = 1
        if is_first:
            arm = state.order[t]
        else:
            arm = arm_of_largest(_indices(settings, state), settings.random_ties, rng)
            length = state.pulls[arm] if settings.by_total else 2 * state.lengths[arm]
            length = min(length, settings.horizon - t)
        rewards = pull_sum(arms, arm, length, rng)
        mean = rewards / length
        if not is_first:
            mean += laplace(1.0 / (settings.epsilon * length), rng)
        elif not settings.raw_first_pulls:
            mean += laplace(1.0 / (settings.epsilon * settings.first_h), rng)
        if settings.clipped:
            mean = min(max(mean, 0.0), 1.0)
        state.pulls[arm] += length
        state.lengths[arm] = length
        state.private_means[arm] = mean
        n = write(out, n, arm, length, rewards)
        state.clock[0] = t + length
    return n


def reference(settings: Settings, bandit: Bandit, rng: np.random.Generator) -> Iterator[Segment]:
    """AdaP-UCB, line by line, an episode at once."""
    arms = range(len(bandit.arms))
    order = list(arms)
    if settings.random_order:
        for last in reversed(arms[1:]):
            other = math.floor(rng.random() * (last + 1))
            order[last], order[other] = order[other], order[last]
    pulls, p = [0 for _ in arms], [0.0 for _ in arms]
    h = [settings.first_h for _ in arms]

    def clip(mean: float) -> float:
        return min(max(mean, 0.0), 1.0) if settings.clipped else mean

    for arm in order[: settings.horizon]:
        reward = bandit.draw(arm, rng)
        pulls[arm] = 1
        yield arm, 1, reward
        noise = 0.0
        if not settings.raw_first_pulls:
            noise = laplace.py_func(1 / (settings.epsilon * h[arm]), rng)
        p[arm] = clip(reward + noise)
    t = len(arms)
    while t < settings.horizon:
        log, other_log = math.log(t + 1), math.log(settings.log_factor * (t + 1))
        index = []
        for i in arms:
            exploration = math.sqrt(settings.exploration_factor * other_log / h[i])
            index.append(p[i] + exploration + settings.privacy_factor * log / h[i])
        arm = arm_of_largest.py_func(np.array(index), settings.random_ties, rng)
        episode = pulls[arm]
        if not settings.by_total:
            episode = 2 if pulls[arm] == 1 else 2 * math.floor(h[arm])
        episode = min(episode, settings.horizon - t)
        rewards = bandit.draw_sum(arm, episode, rng)
        pulls[arm] += episode
        h[arm] = float(episode)
        t += episode
        yield arm, episode, rewards
        noise = laplace.py_func(1 / (settings.epsilon * episode), rng)
        p[arm] = clip(rewards / episode + noise)


def _revealed(parameters: Any, horizon: int, bandit: Bandit | None) -> bool:
    """Whether round K + 1 is played: it shows which arm has the largest first reward."""
    return horizon > (2 if bandit is None else len(bandit.arms))


ALGORITHM = Algorithm(
    id="adap-ucb",
    name="AdaP-UCB",
    paper="Azize and Basu (NeurIPS 2022)",
    parameters={"epsilon": positive(example=0.2), "constant": printed(ALPHA)},
    settings=settings,
    state=partial(blank, State),
    advance=advance,
    reference=reference,
    guarantee="pure",
    stated="Azize and Basu (2022)",
    known=(
        replace(ONE_RELEASE, interpretations={"first_pulls": "private"}),
        Known(
            "refuted",
            "round K + 1 plays the arm of the largest first reward, released without noise",
            {"first_pulls": "raw", "order": "index"},
            _revealed,
        ),
        Known("stated", remark="the first rewards are released without noise"),
    ),
    audit=AuditCase(0.5, "AUD-17", parameters={"epsilon": 1.0}),
    interpretations={
        "first_pulls": ("private", "raw"),
        "first_h": ("one", "half"),
        "doubling": ("total", "episode"),
        "exploration_term": ("halved", "whole"),
        "privacy_term": ("over-epsilon", "doubled", "doubled-over-epsilon"),
        "log_argument": ("t", "2t"),
        "clip": ("none", "unit"),
        "order": ("index", "random"),
        "ties": TIES,
    },
    presets={
        "as-coded": {
            "first_pulls": "raw",
            "doubling": "episode",
            "exploration_term": "whole",
            "privacy_term": "doubled",
            "clip": "unit",
        },
        "repaired": {},
    },
)
