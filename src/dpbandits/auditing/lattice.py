"""Exact law of the log-likelihood ratio of the arm sequence, and the bounds that follow from it.

With two arms, of a table by pulls, centres and variances are functions of the number of pulls, and
n_2 = t - n_1: (t, n_1, ratio) is a Markov chain under both inputs. The ratio is kept in whole
steps, rounded with a deterministic dither. Rounding costs nothing in validity: the number of steps
is a function of the output, and its law is exact under both inputs; so it is with the absorbing
cells of outputs whose ratio leaves the lattice, or that reach too many pulls of arm 1. With more
arms the same goes over all C(T + K, K) vectors of pull counts; three arms reach T = 60 in seconds.
Every tail is summed from its small end, and quantiles are taken from the smaller of a chance and
its complement, so that no digit is lost.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtri

from dpbandits import privacy
from dpbandits.auditing.events import LN_OBSERVABLE, MU, Event, Values, halved
from dpbandits.auditing.inputs import Pair, constant, hold
from dpbandits.auditing.rows import AuditRow, exact_row
from dpbandits.auditing.thompson import (
    Sampler,
    abandoned_row,
    choice_chances,
    dp_ts_ucb,
    lemma_5,
    modified_ts,
    theorem_3,
    ts_gaussian,
)
from dpbandits.kernels import njit

GOLDEN = 0.618034  # step of the dither: multiples of it fill the unit interval evenly
DELTAS = (1e-6, 1e-3)  # at which epsilon is compared (AUD-4)

LEAST = math.exp(LN_OBSERVABLE)
"""An event and its complement with such chances under both inputs can be seen in simulations."""


@dataclass(frozen=True)
class LossLaw:
    """Masses of cells under x and x'; their log-likelihood ratios ln(Q/P), approximate."""

    ratios: Values
    p: Values
    q: Values


def loss_law(
    sampler: Sampler,
    pair: Pair,
    *,
    step: float = 0.02,
    width: float = 60.0,
    most_pulls: int | None = None,
) -> LossLaw:
    """Return the law of the rounded log-likelihood ratio of the whole arm sequence, two arms.

    Outputs whose ratio ever reaches the width, either way, are absorbed at that end; an output is
    cut when arm 1 has more than ``most_pulls``.
    """
    start, rounds = sampler.forced_pulls, sampler.rounds
    centres, variances = sampler.centres(pair.tables(rounds)), sampler.variances()
    most = rounds if most_pulls is None else min(most_pulls, rounds)
    middle = round(width / step)
    # The first and the last cell absorb, and so does the last row.
    masses = np.zeros((most + 2, 2, 2 * middle + 1))
    ranges = np.full((most + 2, 2), middle)
    row = min(start, most + 1)
    masses[row, :, middle], ranges[row, 1] = 1.0, middle + 1
    dither = 0.0
    for t in range(2 * start, rounds):
        dither = (dither + GOLDEN) % 1.0
        pulls = np.arange(start, min(t - start, most) + 1)
        spread = np.sqrt(variances[pulls] + variances[t - pulls])
        scores = (centres[:, 0, pulls] - centres[:, 1, t - pulls]) / spread
        chances = np.stack([log_ndtr(scores), log_ndtr(-scores)])
        moves = np.floor((chances[:, 1] - chances[:, 0]) / step + dither).astype(np.int64)
        _play_round(masses, ranges, start, np.exp(chances), moves)
    ratios = step * np.arange(-middle, middle + 1, dtype=np.float64)
    return LossLaw(ratios, *masses.sum(axis=0))


@njit
def _play_round(masses, ranges, start, chances, moves):
    """Play one round in place: a row gets its mass that stays and that of the row below it.

    Masses are by n_1, input and cell, ranges (first inner cell with mass, first one after) by n_1,
    which has mass from ``start`` on; chances and moves (of the ratio, in cells) by the arm pulled.
    """
    rows = chances.shape[2]
    buffer = np.zeros((2, masses.shape[2]))
    certain = np.ones(2)
    for offset in range(rows, -1, -1):
        row = start + offset
        if offset < rows:
            low, high = _add(
                masses[row], ranges[row], chances[1, :, offset], moves[1, offset], buffer
            )
        else:
            low, high = _add(masses[row], ranges[row], certain, 0, buffer)
        if offset > 0:
            factors, move = chances[0, :, offset - 1], moves[0, offset - 1]
            first, after = _add(masses[row - 1], ranges[row - 1], factors, move, buffer)
            low, high = min(low, first), max(high, after)
        _keep(masses[row], ranges[row], buffer, low, high)


@njit
def _add(source, cells, factors, move, buffer):
    """Add the source's mass, times the input's factor, to the buffer, so many cells further.

    Returns the inner cells that it reaches: the first one and the first one after; if it reaches
    none, the end of the buffer and its beginning.
    """
    last = buffer.shape[1] - 1
    low, high = cells[0], cells[1]
    first, after = min(max(low, 1 - move), high), max(min(high, last - move), low)
    for i in range(2):
        factor = factors[i]
        buffer[i, 0] += factor * (source[i, 0] + source[i, low:first].sum())
        buffer[i, last] += factor * (source[i, last] + source[i, after:high].sum())
        if first < after:
            target, origin = buffer[i, first + move : after + move], source[i, first:after]
            for k in range(origin.size):
                target[k] += factor * origin[k]
    return (first + move, after + move) if first < after else (last, 0)


@njit
def _keep(row, cells, buffer, low, high):
    """Store the buffer as the row and empty it.

    Outermost cells with less mass than 1e-40 are absorbed: it saves time, and no mass is lost.
    """
    last = buffer.shape[1] - 1
    row[:, cells[0] : cells[1]] = 0.0
    while low < high and max(buffer[0, low], buffer[1, low]) < 1e-40:
        for i in range(2):
            buffer[i, 0] += buffer[i, low]
            buffer[i, low] = 0.0
        low += 1
    while low < high and max(buffer[0, high - 1], buffer[1, high - 1]) < 1e-40:
        for i in range(2):
            buffer[i, last] += buffer[i, high - 1]
            buffer[i, high - 1] = 0.0
        high -= 1
    high = max(low, high)
    for i in range(2):
        row[i, 0], row[i, last] = buffer[i, 0], buffer[i, last]
        row[i, low:high] = buffer[i, low:high]
        buffer[i, 0], buffer[i, last], buffer[i, low:high] = 0.0, 0.0, 0.0
    cells[0], cells[1] = low, high


def loss_law_many(
    sampler: Sampler, pair: Pair, *, step: float = 0.02, width: float = 12.0
) -> LossLaw:
    """Return the law of ``loss_law`` for any number of arms, without a cut."""
    arms = pair.arms
    centres = sampler.centres(pair.tables(sampler.rounds))
    deviations = np.sqrt(sampler.variances())
    middle = round(width / step)
    every = np.arange(arms)
    begin = np.zeros((2, 2 * middle + 1))
    begin[:, middle] = 1.0
    states = {(sampler.forced_pulls,) * arms: begin}
    dither = 0.0
    for _ in range(arms * sampler.forced_pulls, sampler.rounds):
        dither = (dither + GOLDEN) % 1.0
        following: dict[tuple[int, ...], Values] = {}
        for pulls, masses in states.items():
            index = np.array(pulls)
            chances = [choice_chances(row[every, index], deviations[index]) for row in centres]
            moves = np.floor((chances[1] - chances[0]) / step + dither).astype(np.int64)
            for arm in range(arms):
                key = (*pulls[:arm], pulls[arm] + 1, *pulls[arm + 1 :])
                factors = np.exp([chances[0][arm], chances[1][arm]])
                target = following.setdefault(key, np.zeros_like(begin))
                _add(masses, (1, 2 * middle), factors, int(moves[arm]), target)
        states = following
    ratios = step * np.arange(-middle, middle + 1, dtype=np.float64)
    return LossLaw(ratios, *np.sum(list(states.values()), axis=0))


def best_threshold(law: LossLaw, least: float = LEAST) -> Event:
    """Return the event that the ratio is at least a threshold with the largest bound on mu.

    It and its complement have a chance of at least ``least`` under both inputs; where there is no
    such threshold the event is empty.
    """
    upper, lower = _tails(law)
    # Far above the subnormal numbers, so that tails keep their digits.
    allowed = (np.minimum(upper, lower) >= max(least, 1e-200)).all(axis=0)
    words = "ln(Q/P) of the arm sequence, in rounded steps, is at least"
    if not allowed.any():
        return Event(f"{words} inf", -math.inf, -math.inf)
    places = np.flatnonzero(allowed)
    high, low = upper[:, places], lower[:, places]
    k = int(places[(_quantile(high[1], low[1]) - _quantile(high[0], low[0])).argmax()])
    # A chance near 1 from its complement, which is summed from its small end.
    log_p, log_q = (
        math.log(above) if above <= 0.5 else math.log1p(-below)
        for above, below in zip(upper[:, k].tolist(), lower[:, k].tolist(), strict=True)
    )
    return Event(f"{words} {law.ratios[k]:.6g}", log_p, log_q)


def delta_at(law: LossLaw, epsilon: float) -> float:
    """Return the delta that the pair needs at epsilon: the sum of max(Q - exp(epsilon) P, 0)."""
    return float(np.maximum(law.q - math.exp(min(epsilon, 700.0)) * law.p, 0.0).sum())


def epsilon_at(law: LossLaw, delta: float) -> float:
    """Return the largest epsilon at which the pair needs more than delta; 0 if there is none."""
    return halved(lambda epsilon: delta_at(law, epsilon) > delta, 0.0, 700.0)[0]


def worst_epsilon(law: LossLaw, delta: float) -> tuple[float, Event]:
    """Return the largest epsilon at which the pair needs more than delta, in either direction.

    The event is that of the outputs with Q > exp(epsilon) P, or P > exp(epsilon) Q.
    """
    laws = {"Q/P": law, "P/Q": LossLaw(-law.ratios, law.q, law.p)}
    found = {sign: epsilon_at(seen, delta) for sign, seen in laws.items()}
    sign = max(found, key=found.__getitem__)
    epsilon, seen = found[sign], laws[sign]
    inside = seen.q > math.exp(epsilon) * seen.p
    likely = math.log1p(-float(seen.q[~inside].sum()))
    unlikely = math.log(float(seen.p[inside].sum())) if seen.p[inside].any() else -math.inf
    words = f"{sign} of the arm sequence, in rounded steps, is above exp({epsilon:.6g})"
    return epsilon, Event(words, *((unlikely, likely) if sign == "Q/P" else (likely, unlikely)))


def _tails(law: LossLaw) -> tuple[Values, Values]:
    """Return the masses of cells k and above, and of cells below k, by input and k."""
    masses = np.stack([law.p, law.q])
    upper = np.cumsum(masses[:, ::-1], axis=1)[:, ::-1]
    lower = np.zeros_like(upper)
    np.cumsum(masses[:, :-1], axis=1, out=lower[:, 1:])
    return upper, lower


def _quantile(chance: Values, complement: Values) -> Values:
    """Return the standard normal quantile of a chance, from the smaller of both."""
    return np.where(chance <= 0.5, ndtri(chance), -ndtri(np.minimum(complement, 1.0)))


def candidate_pairs(rounds: int, arms: int = 2) -> list[Pair]:
    """Return the pairs of which the worst is reported; at long horizons the worst at shorter."""
    held = [hold(zeta, rounds, arms=arms) for zeta in (1.0, 1.5, 2.0)]
    if rounds > 1_000:
        return held
    pairs = [constant(level, 1.0, arms=arms) for level in (0.0, 0.5, 1.0)]
    return [*pairs, constant(1.0, 0.0, arms=arms), *held]


def lattice_row(law: Callable[[Pair], LossLaw], pairs: Sequence[Pair], **about: Any) -> AuditRow:
    """Return the largest observable bound on mu over the pairs."""
    events = [(best_threshold(law(pair)), pair) for pair in pairs]
    event, pair = max(events, key=lambda found: found[0].mu)
    return exact_row(event, pair.words, measure=MU, engine="exact lattice", **about)


def theorem_3_rows(
    horizons: Sequence[int] = (2, 3, 10, 30, 100, 300, 1_000),
    three_armed: Sequence[int] = (10, 30),
) -> Iterator[AuditRow]:
    """Yield AUD-2 by the lattices."""
    sizes = [(horizon, 2) for horizon in horizons] + [(horizon, 3) for horizon in three_armed]
    for horizon, arms in sizes:
        law = partial(loss_law if arms == 2 else loss_law_many, ts_gaussian(horizon))
        yield lattice_row(law, candidate_pairs(horizon, arms), **theorem_3(horizon, arms))


def epsilon_rows(horizons: Sequence[int] = (10, 30, 100, 300, 1_000)) -> Iterator[AuditRow]:
    """Yield AUD-4: epsilon at delta from Theorem 3 of ts-is-dp, by duality."""
    for horizon in horizons:
        laws = [(loss_law(ts_gaussian(horizon), pair), pair) for pair in candidate_pairs(horizon)]
        for delta in DELTAS:
            events = [(*worst_epsilon(law, delta), pair) for law, pair in laws]
            epsilon, event, pair = max(events, key=lambda found: found[0])
            about = theorem_3(horizon) | {"statement": "AUD-4", "parameters": f"delta={delta:g}"}
            about["claimed"] = privacy.epsilon(delta, about["claimed"])
            yield exact_row(event, pair.words, lower=epsilon, engine="exact lattice", **about)


def modified_rows(
    levels: Sequence[int] = (1, 2, 5),
    horizon: int = 1_000,
    pre_pulls: Sequence[int] = (0, 1, 5, 20, 50, 100, 200, 300, 400),
    far: Sequence[int] = (0, 10, 100, 500, 1_000, 2_000, 5_000, 10_000, 20_000),
) -> Iterator[AuditRow]:
    """Yield AUD-3: Theorem 4 of ts-is-dp, at ``far`` pre-pulls the T of the experiments."""
    pairs = [constant(0.0, 1.0), constant(1.0, 1.0), hold(1.0, horizon)]
    for eta in levels:
        for rounds, b in [*((horizon, b) for b in pre_pulls), *((100_000, b) for b in far)]:
            c = privacy.required_c(b, float(eta), rounds)
            sampler, about = modified_ts(b, c, rounds), lemma_5(b, c, rounds)
            if rounds == horizon:
                yield lattice_row(partial(loss_law, sampler), pairs, **about)
            yield abandoned_row(sampler, **about)


def budget_rows(
    horizons: Sequence[int] = (1_000, 10_000, 100_000),
    alphas: Sequence[float] = (0.0, 0.25, 0.5, 0.75, 1.0),
) -> Iterator[AuditRow]:
    """Yield AUD-7 and AUD-8: Theorem 4.4 of dp-ts-ucb, and the tight version without its factor.

    Up to round K + floor(phi). Once arm 1 was pulled three times, its first reward is forgotten, so
    that the lattice can end there.
    """
    pairs = [constant(0.0, level) for level in (0.0, 0.5, 1.0)]
    for horizon, alpha in itertools.product(horizons, alphas):
        sampler = dp_ts_ucb(alpha, horizon)
        about: dict[str, Any] = {
            "statement": "AUD-7",
            "algorithm": "dp-ts-ucb",
            "horizon": horizon,
            "parameters": f"alpha={alpha:g}",
            "claimed": privacy.dp_ts_ucb_gdp(alpha, horizon),
        }
        exact = lattice_row(partial(loss_law, sampler, most_pulls=2), pairs, **about)
        tight = privacy.dp_ts_ucb_gdp(alpha, horizon, interpretation="tight")
        for row in (exact, abandoned_row(sampler, **about)):
            yield from (row, replace(row, statement="AUD-8", claimed=tight))
