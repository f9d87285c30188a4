"""The exact results behind the paper's claims, and a few runs that are played to be looked into.

What Phase II is said to do (C22) is looked for on 50 arms: 45 of them with means below mu*/256. The
kernel plays an episode at a time, and before each its state is looked at: whether the best arm's
index is below mu*, and whether an arm with a mean of at most mu*/256 is pulled next.

Differences (D) and open questions (A) are those of ``docs/deviations.md``; epsilon is 0.2 unless
said.
"""

import math
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from dpbandits.algorithms.gdp_ncb import (
    ALGORITHM,
    EXPLORED,
    EXPLORING,
    Settings,
    State,
    advance,
    open_window,
    start_phase_two,
)
from dpbandits.auditing.events import Event
from dpbandits.auditing.gdp_ncb import (
    best_split,
    exploration_witness,
    least_pulls,
    release_witness,
)
from dpbandits.engine.identity import DEFAULT_ROOT_SEED, run_generator, stream_key
from dpbandits.kernels import new_segments, njit
from dpbandits.papers.curves import curve, joined
from dpbandits.papers.dp_ncb import theory
from dpbandits.papers.dp_ncb.instances import drawn_means, weak_arms
from dpbandits.papers.dp_ncb.theory import EPSILON, GLOBAL, LOCAL
from dpbandits.privacy.witnesses import PhaseTwo, as_coded, explored, published_threshold

RUNS = 200
STREAM = "dp-ncb: runs of GDP-NCB whose index is looked at"

WEAK_SHARE = 256.0
"""An arm is weak if its mean is at most the best one over this."""

PLAYED_HORIZONS = {"as-written": 10**9, "as-coded": 10**8, "repaired": 10**8}
"""T by variant; as written Phase II is not reached below 1e9."""

STATEMENTS = ("best-index", "weak-arms")


@njit
def _explore(settings, state, arms, generator, out):
    """Play Phase I segment by segment, and draw what Phase II begins with, but play none of it."""
    while state.phase[0] == EXPLORING and state.clock[0] < settings.horizon:
        advance(settings, state, arms, generator, out)
    if state.phase[0] == EXPLORED and state.clock[0] < settings.horizon:
        start_phase_two(settings, open_window(settings, settings.horizon), state, generator)


def index(settings: Settings, log: float, state: State, arm: int) -> float:
    """Return an arm's index of Algorithm 1 before an episode, with A3 and A10 at their defaults."""
    n, p = int(state.explored[arm] + state.episodes[arm]), float(state.private_means[arm])
    return PhaseTwo(settings.horizon, settings.epsilon, 0, log, log).index(p, n)


def violations(variant: str, horizon: int, run: int) -> tuple[int, int]:
    """Return in how many episodes the best arm's index is below mu*, and a weak arm is pulled."""
    bandit = weak_arms()
    interpretations = ALGORITHM.interpretations_from({"exploration": "blocks"}, variant)
    settings = ALGORITHM.settings(horizon, len(bandit.arms), epsilon=EPSILON, **interpretations)
    log = float(open_window(settings, horizon).log)
    key = stream_key({"stream": STREAM, "variant": variant, "horizon": horizon})
    generator = run_generator(DEFAULT_ROOT_SEED, key, run)
    state = ALGORITHM.state(len(bandit.arms))
    chunk = new_segments(1)
    best, best_mean, low, weak = int(bandit.means.argmax()), float(bandit.means.max()), 0, 0
    arguments = (settings, state, bandit.arrays, generator, chunk)
    _explore(*arguments)
    while state.clock[0] < horizon:
        low += index(settings, log, state, best) < best_mean
        advance(*arguments)
        weak += bandit.means[chunk[0][0]] <= best_mean / WEAK_SHARE
    return int(low), int(weak)


def index_plays() -> pd.DataFrame:
    """Return how many of 200 runs violate each statement about Phase II (claim C22)."""
    return joined(
        row for variant, horizon in PLAYED_HORIZONS.items() for row in _rows(variant, horizon)
    )


def _rows(variant: str, horizon: int) -> Iterator[pd.DataFrame]:
    counted = zip(*(violations(variant, horizon, run) for run in range(RUNS)), strict=True)
    for statement, counts in zip(STATEMENTS, counted, strict=True):
        tags = {
            "algorithm": GLOBAL,
            "variant": variant,
            "statement": statement,
            "runs": RUNS,
            "episodes": int(np.sum(counts)),
        }
        violated = float(np.sum(np.array(counts) > 0))
        yield curve(f"{variant}, {statement}", tags, [horizon], [violated])


WRITTEN_HORIZONS = (10**7, 10**8)
"""T of Figure 1(b) to (f) at which the event fits into T."""

CODED_HORIZONS = (10**4, 10**5, 10**6, 10**7, 10**8)
CODED_EPSILONS = (0.2, 2.0)

PANEL_A_HORIZONS = range(3, 1003)
"""T of Figure 1(a), the only experiment with two arms; the released code has epsilon = 2 there."""

OFFSETS = tuple(range(-200, 201, 10))
"""Pulls of arm 1 minus the threshold, rounded down."""

WITNESSED, LEAST, PANEL_A, ALLOWED = "witnessed", "least", "panel-a", "allowed"


def privacy_witnesses() -> pd.DataFrame:
    """Return the witnessed privacy losses of GDP-NCB over epsilon, exact (claim C15)."""
    return joined([*_written_rows(), *_coded_rows(), *_panel_a_rows()])


def _written_rows() -> Iterator[pd.DataFrame]:
    for horizon in WRITTEN_HORIZONS:
        threshold = published_threshold(horizon, EPSILON)
        scale = math.log(horizon) / EPSILON
        least = least_pulls(threshold, scale, EPSILON) - math.floor(threshold)
        for offset, quantity in [*((each, WITNESSED) for each in OFFSETS), (least, LEAST)]:
            witness = exploration_witness(threshold, scale, math.floor(threshold) + offset)
            yield _row("as-written", horizon, EPSILON, offset, witness, quantity)
        for offset in (OFFSETS[0], OFFSETS[-1]):
            allowed = Event("", 0.0, EPSILON)
            yield _row("as-written", horizon, EPSILON, offset, allowed, ALLOWED)


def _coded_rows() -> Iterator[pd.DataFrame]:
    for epsilon in CODED_EPSILONS:
        for horizon in CODED_HORIZONS:
            rules = as_coded(horizon, epsilon)
            witness = release_witness(rules, *explored(rules.rounds))
            yield _row("as-coded", horizon, epsilon, horizon, witness, WITNESSED)


def _panel_a_rows() -> Iterator[pd.DataFrame]:
    for epsilon in CODED_EPSILONS:
        losses = []
        for horizon in PANEL_A_HORIZONS:
            rules = as_coded(horizon, epsilon)
            # The changed arm has to come first in Phase II: it has no more pulls than the other.
            witness = best_split(rules, release_witness, range(-rules.rounds, 1))
            losses.append((witness, horizon))
        witness, horizon = max(losses, key=lambda loss: loss[0].epsilon)
        yield _row("as-coded", horizon, epsilon, horizon, witness, PANEL_A)


def _row(
    variant: str, horizon: int, epsilon: float, x: int, witness: Event, quantity: str
) -> pd.DataFrame:
    """Return one row of the frame."""
    tags = {
        "variant": variant,
        "quantity": quantity,
        "horizon": horizon,
        "epsilon": epsilon,
        "log10_probability": witness.log_p / math.log(10.0),
        "log10_arms": witness.log_shared / math.log(10.0),
    }
    series = f"{variant}, {quantity}, T={horizon:.0e}, epsilon={epsilon:g}"
    return curve(series, tags, [x], [witness.epsilon / epsilon])


EPSILONS = (0.2, 0.5, 1.0, 2.0)
"""Epsilon of panels (c) and (d)."""

HORIZONS = tuple(10**power for power in range(6, 11))
"""T at which Phase I is evaluated."""


def phase_one_start() -> pd.DataFrame:
    """Return how long Phase I lasts as written on the fifty arms, and what it alone costs."""
    means = np.array(drawn_means())
    best, average = float(means.max()), float(means.mean())
    frame = pd.DataFrame({"series": "Phase I", "horizon": HORIZONS, "log": np.log(HORIZONS)})
    frame["threshold"] = [published_threshold(horizon, EPSILON) for horizon in HORIZONS]
    for name, algorithm in (("global", GLOBAL), ("local", LOCAL)):
        pulls = [theory.expected_pulls(algorithm, horizon, EPSILON, best) for horizon in HORIZONS]
        frame[f"{name}_rounds"] = means.size * np.array(pulls)
        shares = frame[f"{name}_rounds"] / frame["horizon"]
        frame[f"{name}_share"] = shares
        frame[f"{name}_floor"] = [
            theory.floor_of_regret(min(1.0, share), best, average) for share in shares
        ]
    floors = frame["global_floor"]
    return frame.assign(x=frame["horizon"], y=floors, lo=floors, hi=floors)


def first_horizons() -> pd.DataFrame:
    """Return the smallest T at which Phase I ends before T as written, on the fifty arms."""
    means = drawn_means()
    return joined(
        curve(
            algorithm,
            {"algorithm": algorithm},
            EPSILONS,
            [
                theory.first_horizon(algorithm, len(means), epsilon, max(means))
                for epsilon in EPSILONS
            ],
        )
        for algorithm in (GLOBAL, LOCAL)
    )


ANALYTIC: dict[str, Callable[[], pd.DataFrame]] = {
    "phase-one-start": phase_one_start,
    "first-horizons": first_horizons,
    "privacy-witnesses": privacy_witnesses,
    "index-plays": index_plays,
}
