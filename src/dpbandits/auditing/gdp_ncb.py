"""Witnesses against the privacy of GDP-NCB (claim NCB-C15): stop test, releases, carried means.

A witness is one event, a set of arm sequences, and two reward sequences in [0, 1] that differ in
one round, of two arms. Theorem 2 of DP-NCB says that the event's probabilities under the two differ
by a factor of exp(epsilon) at most; a larger ratio refutes it. They are derived by hand in
docs/audit.md; the notation is that of ``dpbandits.privacy.witnesses``.

Carried means, with which Phase II may begin: the changed arm's private mean of Phase I is consulted
by the first decision of Phase II, one release more than where it begins with zeros; the other arm's
is a random level that all decisions share. Given it the releases are independent, so that the
chance of the event is an integral over that level.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from dpbandits.auditing.events import Event, Values
from dpbandits.auditing.laplace import gauss_pieces
from dpbandits.auditing.rows import AuditRow, exact_row
from dpbandits.privacy.witnesses import (
    PhaseTwo,
    as_coded,
    deciding_releases,
    log_cdf,
    stop_rules,
    threshold_loss,
)

_Episode = tuple[int, int, float]
"""(rewards in the private mean, pulls that its index counts, sum of the rewards)."""

SMALL = 0.01
"""c and alpha where they are scaled down: the accounting does not depend on them."""

OFFSETS = (-3, -2, -1, 0, 1, 2, 3, 5, 10, 20, 40)
"""Pulls of the changed arm minus the other one's that are tried, of the parity of the rounds."""

FIXED_LENGTH = "cap=root, stop_test=off, release_log=natural"
"""Interpretation of Algorithm 1 whose Phase I has W rounds; Phase II begins with its means.

The paper prints no base of the logarithm in the noise; with base 2 nothing exceeds epsilon (A9).
"""

STOP_EPSILON, STOP_HORIZON, WINDOW = 0.2, 10**7, 2**24
"""That of the experiments; the smallest T of Figure 1, and a window, into which the event fits."""


def exploration_witness(threshold: float, scale: float, pulls: int) -> Event:
    """Return the witness in the stop test of Phase I, Algorithm 1 as written.

    X has reward 1 in odd rounds and 0 in even ones; X' the same, but 0 in round 1. The event: arms
    1, 2, 1, 2, ..., 1 in rounds 1 to 2n + 1. Exact for n >= TH; below, the logarithm of the ratio
    is exact up to 2 exp(-TH/b).
    """
    own_sums = np.arange(1, pulls + 1)
    passed = float(np.sum(log_cdf((threshold - own_sums) / scale)))
    other = pulls * float(log_cdf(threshold / scale))
    ratio = threshold_loss(threshold, scale, pulls)
    log_p = passed + other
    words = f"the arms of rounds 1 to {2 * pulls + 1} are 1, 2, 1, 2, ..., 1"
    return Event(words, log_p, log_p + ratio, -(2 * pulls + 1) * math.log(2.0))


def least_pulls(threshold: float, scale: float, epsilon: float) -> int:
    """Return the fewest pulls n at which ``exploration_witness`` loses more than epsilon.

    Its loss ln F(TH/b) - ln F((TH - n)/b) grows with n.
    """
    log_passed = float(log_cdf(threshold / scale)) - epsilon
    half = math.log(0.5)
    # The quantile of F at exp(log_passed).
    quantile = log_passed - half if log_passed < half else half - math.log(-math.expm1(log_passed))
    return math.floor(threshold - scale * quantile) + 1


def release_witness(rules: PhaseTwo, other: int, changed: int) -> Event:
    """Return the witness in the releases of Phase II, which begins with all private means at 0.

    All rewards of Phase I are 0 under X; under X' one of the changed arm is 1. The event: Phase I
    has these pulls, that round among the changed arm's, and all later rounds pull the changed arm
    as long as it can.
    """
    decided = deciding_releases(rules, other, changed)
    short = np.array([release.rewards - release.needed for release in decided]) / rules.scale
    logs = (float(log_cdf(short + added / rules.scale).sum()) for added in (0.0, 1.0))
    return _of_split(other, changed, *logs)


def _of_split(other: int, changed: int, log_p: float, log_q: float) -> Event:
    words = (
        f"Phase I pulls one arm {other} times and the other {changed} times, the changed round "
        "among these, which then has all episodes as long as it can"
    )
    # ln of the probability of these pulls, one given round being the changed arm's.
    ways = math.lgamma(other + changed) - math.lgamma(other + 1) - math.lgamma(changed)
    return Event(words, log_p, log_q, ways - (other + changed) * math.log(2.0), (other, changed))


def carried_witness(rules: PhaseTwo, other: int, changed: int) -> Event:
    """Return the witness in the releases of both phases.

    That of ``release_witness``, but that the changed arm comes next as long as it can where the
    other arm's private mean is 0. Rewards of the episodes sum to one less than what is needed then,
    where they can.
    """
    episodes = carried_episodes(rules, other, changed)
    means, log_weights = _levels(rules, other, episodes)
    levels = [rules.index(mean, other + 1) for mean in means]

    def log_passed(level: float, added: float) -> float:
        """Return ln of the chance that every private mean has an index above the level."""
        short = []
        for n, index_pulls, total in episodes:
            lowest = rules.index(0.0, index_pulls)
            # With as many pulls as the other one the changed arm comes first.
            if lowest > level or (lowest == level and changed <= other):
                continue
            if rules.index(1.0, index_pulls) <= level:
                return -math.inf
            short.append(total + added - n * rules.mean_at(level, index_pulls))
        return float(np.sum(log_cdf(np.array(short) / rules.scale)))

    logs = (
        float(logsumexp([log_passed(level, added) for level in levels] + log_weights))
        for added in (0.0, 1.0)
    )
    return _of_split(other, changed, *logs)


def _levels(rules: PhaseTwo, other: int, episodes: list[_Episode]) -> tuple[Values, Values]:
    """Return values and log weights of the other arm's private mean, noise clipped to [0, 1].

    The integral is over its root, of which the index is a smooth function, in pieces of one scale,
    and is cut where a release of the changed arm begins or ceases to be decided by noise.
    """
    scale = rules.scale / other
    end = min(1.0, 40.0 * scale)
    cuts = [scale * step for step in range(math.ceil(end / scale) + 1)]
    lowest = rules.index(0.0, other + 1)
    for _, pulls, _ in episodes:
        turns = (rules.index(0.0, pulls), rules.index(1.0, pulls))
        cuts += [rules.mean_at(turn, other + 1) for turn in turns if turn > lowest]
    ends = np.sqrt(np.unique([cut for cut in cuts if cut < end] + [end]))
    roots, weights = gauss_pieces(ends, 12)
    inside = roots**2
    log_inside = np.log(weights * roots / scale) - inside / scale
    log_half = -math.log(2.0)
    means = np.concatenate([[0.0], inside, [1.0]])
    return means, np.concatenate([[log_half], log_inside, [log_half - 1.0 / scale]])


def carried_episodes(rules: PhaseTwo, other: int, changed: int) -> list[_Episode]:
    """Return the private means of the changed arm that are consulted, the first that of Phase I."""
    level = rules.index(0.0, other + 1)
    episodes = []
    for length in (0, *rules.episodes()):
        index_pulls = changed + max(length, 1)
        if rules.index(1.0, index_pulls) <= level:
            break
        lacking = level > rules.index(0.0, index_pulls)
        needed = (changed + length) * rules.mean_at(level, index_pulls) if lacking else 0.0
        total = min(max(needed - 1.0, 0.0), float(length))
        episodes.append((changed + length, index_pulls, total))
    return episodes


def best_split(
    rules: PhaseTwo, witness: Callable[[PhaseTwo, int, int], Event], offsets: Iterable[int]
) -> Event:
    """Return the witness of the split of Phase I with the largest loss; its place is the split.

    By the changed arm's pulls minus the other one's, where the rounds have such a split.
    """
    splits = [divmod(rules.rounds - offset, 2) for offset in offsets]
    witnesses = [
        witness(rules, other, rules.rounds - other)
        for other, odd in splits
        if not odd and 1 <= other < rules.rounds
    ]
    return max(witnesses, key=lambda event: event.epsilon)


def carried_rules(horizon: int, epsilon: float, noise: str) -> PhaseTwo:
    """Return the rules of GDP-NCB with W rounds of Phase I and ln T in the index."""
    return replace(as_coded(horizon, epsilon, noise), log=math.log(horizon))


def in_window(witness: Event, window: int, log_order: float = 0.0) -> Event:
    """Return a witness of the core in a window W, of which a share 1/W^2 is uniform play.

    That play has the arms of the event after those in ``log_shared`` with chance exp(log_order).
    """
    uniform = -2.0 * math.log(window) + log_order
    private = math.log1p(-1.0 / window**2)
    logs = [private + witness.log_p, private + witness.log_q]
    log_p, log_q = np.logaddexp(uniform, logs).tolist()
    return replace(witness, log_p=log_p, log_q=log_q)


class ReleaseStatement(NamedTuple):
    """A statement on the releases of GDP-NCB, and how its worst witness is searched for."""

    rules: Callable[[int, float, str], PhaseTwo]  # by T, epsilon and ``noise``
    noise: str  # base of the logarithm in the noise
    witness: Callable[[PhaseTwo, int, int], Event]  # by the pulls of both arms in Phase I
    offsets: Sequence[int]  # pulls of the changed arm minus the other one's
    about: dict[str, Any]  # fields of a row

    def worst(self, rules: PhaseTwo) -> Event:
        """Return the witness of the worst split."""
        return best_split(rules, self.witness, self.offsets)

    def scaled(self, doublings: int, epsilon: float) -> tuple[PhaseTwo, Event]:
        """Return the worst rules and split with small c and alpha, for so many releases."""
        witnesses = []
        for rounds in range(4, 18, 2):  # Of Phase I.
            coded = as_coded(2 ** (doublings + 1) - 1 + rounds, epsilon, self.noise)
            rules = replace(coded, rounds=rounds, c=SMALL, alpha=SMALL)
            witnesses.append((rules, self.worst(rules)))
        return max(witnesses, key=lambda witness: witness[1].epsilon)


# Where Phase II begins with zeros, the changed arm must come first.
NOT_AHEAD = [-abs(offset) for offset in OFFSETS]
CODED = ReleaseStatement(
    as_coded,
    "natural",
    release_witness,
    NOT_AHEAD,
    {"statement": "AUD-13", "variant": "as-coded"},
)
REPAIRED = ReleaseStatement(
    as_coded,
    "base2",
    release_witness,
    NOT_AHEAD,
    {"statement": "AUD-15", "variant": "repaired"},
)
CARRIED = ReleaseStatement(
    carried_rules,
    "natural",
    carried_witness,
    OFFSETS,
    {"statement": "AUD-14", "interpretation": FIXED_LENGTH},
)


def split_rows(
    epsilons: Sequence[float] = (0.2, 1.0, 2.0),
    horizons: Sequence[int] = (10**3, 10**4, 10**5, 10**6, 10**7, 10**8),
    doublings: Sequence[int] = (3, 4, 5, 6, 8, 10, 12, 16, 20),
    window: int = 2**24,
) -> Iterator[AuditRow]:
    """Yield AUD-13 to AUD-15 that count releases, by epsilon, those of anytime windows last."""
    for epsilon in epsilons:
        for horizon, statement in itertools.product(horizons, (CODED, REPAIRED, CARRIED)):
            rules = statement.rules(horizon, epsilon, statement.noise)
            yield _split_row(rules, statement.worst(rules), **statement.about)
        for number, statement in itertools.product(doublings, (CODED, CARRIED, REPAIRED)):
            yield _split_row(*statement.scaled(number, epsilon), **statement.about)
        for statement in (CODED, REPAIRED):
            rules = statement.rules(window, epsilon, statement.noise)
            # The arms of all rounds; the order in Phase I is the same under both inputs.
            order = -(window - rules.rounds) * math.log(2.0)
            event = in_window(statement.worst(rules), window, order)
            yield _split_row(rules, event, "anytime-gdp-ncb", **statement.about)


def _split_row(rules: PhaseTwo, event: Event, algorithm: str = "gdp-ncb", **about: Any) -> AuditRow:
    is_scaled = rules.c == SMALL
    return exact_row(
        event,
        f"rewards of the {rules.rounds} rounds of Phase I are 0, in x' one of them is 1; "
        "those of an episode sum to 1 less than what its release needs, where they can",
        algorithm=algorithm,
        notion="round",
        horizon=rules.horizon,
        epsilon=rules.epsilon,
        constants=f"alpha={SMALL:g}, c={SMALL:g}, " if is_scaled else "",
        scaled=is_scaled,
        **about,
    )


def stop_rows(toy_horizons: Sequence[int] = (12, 16, 24, 64)) -> Iterator[AuditRow]:
    """Yield AUD-14 on the stop test: at the published threshold, in a window, at small ones."""
    pair = "reward 1 in odd rounds, 0 in even ones; in x' that of round 1 is 0"
    shortest = "the shortest such event that refutes"
    row = partial(exact_row, statement="AUD-14", notion="round")
    rules = stop_rules(STOP_HORIZON, STOP_EPSILON)
    event = exploration_witness(*rules, least_pulls(*rules, STOP_EPSILON))
    words = f"{event.words}, {shortest}; longer ones lose more"
    about: dict[str, Any] = {"algorithm": "gdp-ncb", "horizon": STOP_HORIZON}
    yield row(event, pair, words, epsilon=STOP_EPSILON, **about)
    # The shortest event in one window of the anytime version. Uniform windows, which lose nothing,
    # hide events that are rarer than they are.
    rules = stop_rules(WINDOW, STOP_EPSILON)
    pulls = least_pulls(*rules, STOP_EPSILON)
    yield row(
        in_window(exploration_witness(*rules, pulls), WINDOW),
        f"within the window of {WINDOW} rounds: {pair}",
        f"its arms are 1, 2, 1, 2, ..., 1 in {2 * pulls + 1} rounds, {shortest}",
        algorithm="anytime-gdp-ncb",
        horizon=2 * WINDOW - 1,
        epsilon=STOP_EPSILON,
    )
    toys = itertools.product((0.5, 1.0), toy_horizons, (0.5, 1.0, 2.0, 4.0))
    for epsilon, horizon, threshold in toys:
        yield row(
            exploration_witness(threshold, math.log(horizon) / epsilon, (horizon - 1) // 2),
            pair,
            algorithm="gdp-ncb",
            horizon=horizon,
            epsilon=epsilon,
            constants=f"threshold={threshold:g}, ",
            scaled=True,
        )
