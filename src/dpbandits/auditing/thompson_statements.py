"""The audited statements on Gaussian Thompson sampling and on DP-TS-UCB, as rows."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from dpbandits import privacy
from dpbandits.auditing.events import MU, Event, Measure
from dpbandits.auditing.inputs import Pair, constant, hold
from dpbandits.auditing.lattice import (
    LossLaw,
    best_threshold,
    loss_law,
    loss_law_many,
    worst_epsilon,
)
from dpbandits.auditing.rows import AuditRow, exact_row, swept
from dpbandits.auditing.thompson import (
    ABANDONED,
    OTHER_PULLS,
    PULLS,
    Sampler,
    abandoned_arm,
    decision,
    dp_ts_ucb,
    modified_ts,
    score_shift,
    simulate,
    simulated_threshold,
    ts_gaussian,
    worst_decision,
)
from dpbandits.engine.identity import DEFAULT_ROOT_SEED, run_generator, stream_key

Rows = Iterator[AuditRow]
About = dict[str, Any]
"""Fields of a row."""

LONG = 1_000
"""Horizon beyond which only the pairs that are worst at shorter ones are tried."""


def candidate_pairs(rounds: int, arms: int = 2) -> list[Pair]:
    """Return the pairs of which the worst is reported; an exact search costs nothing."""
    held = [hold(zeta, rounds, arms=arms) for zeta in (1.0, 1.5, 2.0)]
    if rounds > LONG:
        return held
    pairs = [constant(level, 1.0, arms=arms) for level in (0.0, 0.5, 1.0)]
    return [*pairs, constant(1.0, 0.0, arms=arms), *held]


def lattice_row(law: Callable[[Pair], LossLaw], pairs: Sequence[Pair], **about: Any) -> AuditRow:
    """Return the largest observable bound on mu over the pairs."""
    events = [(best_threshold(law(pair)), pair) for pair in pairs]
    event, pair = max(events, key=lambda found: found[0].mu)
    return exact_row(event, pair.words, measure=MU, engine="exact lattice", **about)


def abandoned_row(sampler: Sampler, **about: Any) -> AuditRow:
    """Return the bound on mu from the transcript in which arm 1 is abandoned."""
    event, words = abandoned_arm(sampler), ABANDONED.words
    return exact_row(event, words, measure=MU, engine="exact sequence", **about)


def decision_row(event: Event, **about: Any) -> AuditRow:
    """Return the bound of one decision."""
    pulls, others = map(int, event.place)
    pair = (
        f"before the decision arm 1 was pulled {pulls} times and arm 2 {others} times; one reward "
        "of arm 1 is 0 in x, 1 in x'"
    )
    about |= {"algorithm": "ts-gaussian", "notion": "round", "engine": "likelihood"}
    return exact_row(event, pair, horizon=pulls + others + 1, **about)


@swept("decisions")
def round_rows() -> Rows:
    """Yield AUD-1: one decision is 1/sqrt(2)-GDP (ts-is-dp, Lemma 3)."""
    for pulls in PULLS:
        others = OTHER_PULLS[-1]
        yield decision_row(
            decision(pulls, others, 1, -score_shift(pulls, others) / 2.0),
            measure=MU,
            statement="AUD-1",
            parameters=f"n1={pulls}, n2={others}",
            claimed=privacy.ts_round_gdp(),
        )


@swept("decisions", deltas=(0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-6))
def standard_rows(deltas: Sequence[float]) -> Rows:
    """Yield AUD-5: one decision is (epsilon0, delta0)-DP (ts-is-dp, Theorem 7)."""
    for delta in deltas:
        epsilon = privacy.ts_round_epsilon(delta, 2)
        yield decision_row(
            worst_decision(epsilon),
            measure=Measure("delta", epsilon=epsilon),
            statement="AUD-5",
            parameters=f"epsilon={epsilon:.6g}, delta={delta:g}",
            claimed=delta,
        )


def _theorem_3(horizon: int, arms: int = 2) -> About:
    return {
        "statement": "AUD-2",
        "algorithm": "ts-gaussian",
        "arms": arms,
        "horizon": horizon,
        "claimed": privacy.ts_gaussian_gdp(horizon),
    }


@swept(
    "thompson",
    quick={
        "horizons": (2, 3, 10, 30, 100),
        "three_armed": (10,),
        "far": (10, 30, 100, 1_000, 100_000),
    },
    horizons=(2, 3, 10, 30, 100, 300, 1_000),
    three_armed=(10, 30),
    far=(10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 1_000_000),
)
@swept("thompson-long", quick={"horizons": ()}, horizons=(3_000,))
def theorem_3_rows(
    horizons: Sequence[int], three_armed: Sequence[int] = (), far: Sequence[int] = ()
) -> Rows:
    """Yield AUD-2 by the lattices and the far tail: T rounds are sqrt(T/2)-GDP."""
    sizes = [(horizon, 2) for horizon in horizons] + [(horizon, 3) for horizon in three_armed]
    for horizon, arms in sizes:
        law = partial(loss_law if arms == 2 else loss_law_many, ts_gaussian(horizon))
        yield lattice_row(law, candidate_pairs(horizon, arms), **_theorem_3(horizon, arms))
    for horizon in far:
        yield abandoned_row(ts_gaussian(horizon), **_theorem_3(horizon))


SAMPLED_ZETA = 1.5
"""Distance of arm 1 in the tables of the simulated outputs."""


@swept(
    "thompson",
    quick={"sampled": ((2, 30, 10_000), (3, 10, 2_000))},
    sampled=((2, 100, 200_000), (3, 100, 3_000), (5, 50, 2_000)),
)
def sampled_rows(sampled: Sequence[tuple[int, int, int]], seed: int = DEFAULT_ROOT_SEED) -> Rows:
    """Yield AUD-2 by counts of simulated outputs: K, T and runs under either input."""
    for arms, horizon, runs in sampled:
        sampler, pair = ts_gaussian(horizon), hold(SAMPLED_ZETA, horizon, arms=arms)
        ratios = []
        for law in ("x", "x'"):
            key = stream_key(["audit", "gaussian", arms, horizon, runs, law])
            generator = run_generator(seed, key, 0)
            ratios.append(simulate(sampler, pair, runs, generator, second=law == "x'"))
        # The event that shows most is rare under x' and less so under x: arm 1 is avoided.
        tau, log_q, log_p, certifying = simulated_threshold(-ratios[1], -ratios[0])
        words = f"ln(P/Q) of the arm sequence is at least {tau:.6g}"
        yield exact_row(
            Event(words, log_p, log_q),
            pair.words,
            measure=MU,
            engine="likelihood",
            confidence=0.95,
            runs=int(certifying),
            seed=seed,
            **_theorem_3(horizon, arms),
        )


DELTAS = (1e-6, 1e-3)
"""Delta at which epsilon is compared (AUD-4)."""


@swept("thompson", quick={"horizons": (10, 30, 100)}, horizons=(10, 30, 100, 300, 1_000))
def epsilon_rows(horizons: Sequence[int]) -> Rows:
    """Yield AUD-4: epsilon at delta from Theorem 3 of ts-is-dp, by duality."""
    for horizon in horizons:
        laws = [(loss_law(ts_gaussian(horizon), pair), pair) for pair in candidate_pairs(horizon)]
        for delta in DELTAS:
            events = [(*worst_epsilon(law, delta), pair) for law, pair in laws]
            epsilon, event, pair = max(events, key=lambda found: found[0])
            yield exact_row(
                event,
                pair.words,
                lower=epsilon,
                statement="AUD-4",
                algorithm="ts-gaussian",
                engine="exact lattice",
                horizon=horizon,
                parameters=f"delta={delta:g}",
                claimed=privacy.epsilon(delta, privacy.ts_gaussian_gdp(horizon)),
            )


FAR_HORIZON = 100_000
"""T of the experiments with Modified TS."""

_FAR = (0, 10, 100, 500, 1_000, 2_000, 5_000, 10_000, 20_000)


@swept(
    "modified",
    quick={"levels": (1, 2, 5), "horizon": 100, "pre_pulls": (0, 1, 5, 20, 40), "far": _FAR},
    levels=(1, 2, 5),
    horizon=1_000,
    pre_pulls=(0, 1, 5, 20, 50, 100, 200, 300, 400),
    far=_FAR,
)
def modified_rows(
    levels: Sequence[int], horizon: int, pre_pulls: Sequence[int], far: Sequence[int]
) -> Rows:
    """Yield AUD-3: Modified TS is sqrt(T/(c(b+1)))-GDP (ts-is-dp, Theorem 4)."""
    pairs = [constant(0.0, 1.0), constant(1.0, 1.0), hold(1.0, horizon)]
    for eta in levels:
        for b in pre_pulls:
            sampler, about = _modified(eta, b, horizon)
            yield lattice_row(partial(loss_law, sampler), pairs, **about)
            yield abandoned_row(sampler, **about)
        for b in far:
            sampler, about = _modified(eta, b, FAR_HORIZON)
            yield abandoned_row(sampler, **about)


def _modified(eta: int, b: int, horizon: int) -> tuple[Sampler, About]:
    c = privacy.required_c(b, float(eta), horizon)
    return modified_ts(b, c, horizon), _lemma_5("AUD-3", b, c, horizon)


def _lemma_5(statement: str, b: int, c: float, horizon: int) -> About:
    return {
        "statement": statement,
        "algorithm": "m-ts-gaussian",
        "horizon": horizon,
        "parameters": f"b={b}, c={c:.10g}",
        "claimed": privacy.modified_ts_gdp(b, c, horizon),
    }


@swept(
    "budgets",
    quick={"far": (10, 30, 100, 1_000, 100_000), "horizon": 1_000_000},
    far=(10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 1_000_000),
    horizon=1_000_000,
)
def quoted_rows(far: Sequence[int], horizon: int) -> Rows:
    """Yield AUD-6: the bounds of Thompson sampling that dp-ts-ucb quotes (Section 3, Table 1).

    Centre and variance are over n, as dp-ts-ucb writes TS-Gaussian and M-TS-Gaussian.
    """
    about: About = {"statement": "AUD-6", "interpretation": "count=n"}
    for rounds in far:
        yield abandoned_row(ts_gaussian(rounds, "n"), **_theorem_3(rounds) | about)
    figure_4 = [(0, 5.0 * math.log(horizon) ** alpha) for alpha in (0.0, 0.25, 0.5, 0.75, 1.0)]
    # c makes the privacy equal to that of DP-TS-UCB.
    pre_pulls = (0, 1, 500, 1_000, 2_000, 5_000, 100_000)
    figures_5_and_6 = [
        (b, privacy.equal_privacy_c(alpha, b, horizon)) for alpha in (0.0, 1.0) for b in pre_pulls
    ]
    for b, c in figure_4 + figures_5_and_6:
        about |= _lemma_5("AUD-6", b, c, horizon)
        yield abandoned_row(modified_ts(b, c, horizon, "n"), **about)


@swept(
    "budgets",
    quick={"horizons": (100, 1_000), "alphas": (0.0, 0.5, 1.0)},
    horizons=(1_000, 10_000, 100_000),
    alphas=(0.0, 0.25, 0.5, 0.75, 1.0),
)
def budget_rows(horizons: Sequence[int], alphas: Sequence[float]) -> Rows:
    """Yield AUD-7 and AUD-8: Theorem 4.4 of dp-ts-ucb, and the tight version without its factor.

    Up to round K + floor(phi). Once arm 1 was pulled three times, its first reward is forgotten, so
    that the lattice can end there.
    """
    pairs = [constant(0.0, level) for level in (0.0, 0.5, 1.0)]
    for horizon, alpha in itertools.product(horizons, alphas):
        sampler = dp_ts_ucb(alpha, horizon)
        tight = privacy.dp_ts_ucb_gdp(alpha, horizon, interpretation="tight")
        about: About = {
            "statement": "AUD-7",
            "algorithm": "dp-ts-ucb",
            "horizon": horizon,
            "parameters": f"alpha={alpha:g}",
            "claimed": privacy.dp_ts_ucb_gdp(alpha, horizon),
        }
        exact = lattice_row(partial(loss_law, sampler, most_pulls=2), pairs, **about)
        for row in (exact, abandoned_row(sampler, **about)):
            yield from (row, replace(row, statement="AUD-8", claimed=tight))
