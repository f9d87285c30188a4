"""Statements AUD-1 to AUD-5: Thompson sampling with Gaussian priors, plain and modified."""

from collections.abc import Iterator

from dpbandits import privacy
from dpbandits.audit.gaussian.lattice import LossLaw, loss_law
from dpbandits.audit.gaussian.lattice_many import loss_law_many
from dpbandits.audit.gaussian.one_round import (
    OTHER_PULLS,
    PULLS,
    ROUND_DELTAS,
    Decision,
    score_shift,
    worst_decision,
)
from dpbandits.audit.gaussian.pairs import Pair, constant_pair, hold_pair
from dpbandits.audit.gaussian.sampled import simulate, threshold_certificate, weighted_certificate
from dpbandits.audit.gaussian.scale import Scale
from dpbandits.audit.gaussian.scores import Sampler, modified_ts, ts_gaussian
from dpbandits.audit.gaussian.subjects import (
    BACKWARD,
    Subject,
    abandoned_row,
    certificate_row,
    decision_row,
    epsilon_row,
    threshold_row,
    timed,
)
from dpbandits.audit.gaussian.tradeoff import best_threshold
from dpbandits.audit.rows import AuditRow
from dpbandits.engine.identity import DEFAULT_ROOT_SEED, run_generator, stream_key

DELTAS = (1e-6, 1e-3)
"""Delta at which epsilon is compared (AUD-4)."""

LOWERED = 1.0
"""Standard deviations by which sequential importance sampling lowers the draws of arm 1."""

SAMPLED_ZETA = 1.5
"""Distance of arm 1 in the tables of the simulated outputs."""

LONG = 1_000
"""Horizon beyond which only the pairs that are worst at shorter ones are tried."""

FAR_HORIZON = 100_000
"""T of the experiments with Modified TS."""


def candidate_pairs(rounds: int, arms: int = 2) -> list[Pair]:
    """Return the pairs of which the worst is reported; with exact engines the search costs nothing.

    Args:
        rounds: rewards per arm.
        arms: K.
    """
    held = [hold_pair(zeta, rounds, arms) for zeta in (1.0, 1.5, 2.0)]
    if rounds > LONG:
        return held
    others = [1.0] * (arms - 1)
    constant = [constant_pair((value, *others), rounds) for value in (0.0, 0.5, 1.0)]
    constant.append(constant_pair([1.0] + [0.0] * (arms - 1), rounds))
    return constant + held


def lattice_row(subject: Subject, sampler: Sampler, pairs: list[Pair]) -> AuditRow:
    """Return the largest observable bound on mu over the pairs."""
    found = []
    for pair in pairs:
        law = law_of(sampler, pair)
        found.append(threshold_row(subject, best_threshold(law), pair.words))
    return max(found, key=lambda row: row.lower)


def law_of(sampler: Sampler, pair: Pair) -> LossLaw:
    """Return the law of the log-likelihood ratio by the lattice that fits the number of arms."""
    if pair.arms == 2:
        return loss_law(sampler, pair.tables)
    return loss_law_many(sampler, pair.tables)


def round_rows() -> Iterator[AuditRow]:
    """Yield AUD-1: one decision is 1/sqrt(2)-GDP (ts-is-dp, Lemma 3)."""
    for pulls in PULLS:
        others = OTHER_PULLS[-1]
        shift = score_shift(pulls, others)
        text = f"n1={pulls}, n2={others}"
        subject = Subject(
            "AUD-1",
            "ts-gaussian",
            pulls + others + 1,
            text,
            "mu",
            privacy.ts_round_gdp(),
            notion="round",
        )
        yield decision_row(subject, Decision(pulls, others, 1, shift, -shift / 2.0, shift), shift)


def theorem_3_rows(scale: Scale) -> Iterator[AuditRow]:
    """Yield AUD-2 by the lattices and the far tail: T rounds are sqrt(T/2)-GDP."""
    for horizon in scale.horizons:
        yield timed(_plain_row, horizon, 2)
    for horizon in scale.three_armed_horizons:
        yield timed(_plain_row, horizon, 3)
    for horizon in scale.far_horizons:
        yield abandoned_row(_theorem_3(horizon), ts_gaussian(horizon))


def sampled_rows(scale: Scale, root: int = DEFAULT_ROOT_SEED) -> Iterator[AuditRow]:
    """Yield AUD-2 by simulated outputs: counts under both inputs, then importance sampling.

    Args:
        scale: of the audit.
        root: seed of all streams.
    """
    for arms, horizon, runs in scale.sampled:
        subject = _theorem_3(horizon, arms)
        sampler, pair = ts_gaussian(horizon), hold_pair(SAMPLED_ZETA, horizon, arms)
        streams = [
            run_generator(root, stream_key(["audit", "gaussian", arms, horizon, runs, law]), 0)
            for law in ("x", "x'", "lowered", "uniforms")
        ]
        under_x = simulate(sampler, pair.tables, runs, streams[0], under=0)
        under_y = simulate(sampler, pair.tables, runs, streams[1], under=1)
        # The event that shows most is rare under x' and less so under x: arm 1 is avoided.
        counted = threshold_certificate(under_y.reverse(), under_x.reverse())
        yield certificate_row(subject, counted, pair.words, "", BACKWARD, root)
        lowered = simulate(sampler, pair.tables, runs, streams[2], under=0, lowered=LOWERED)
        weighted = weighted_certificate(lowered.reverse(), streams[3])
        law = f"the law under x with the draws of arm 1 lowered by {LOWERED:g} deviations"
        yield certificate_row(subject, weighted, pair.words, law, BACKWARD, root)


def modified_rows(scale: Scale) -> Iterator[AuditRow]:
    """Yield AUD-3: Modified TS is sqrt(T/(c(b+1)))-GDP (ts-is-dp, Theorem 4)."""
    for eta in scale.levels:
        for b in scale.pre_pulls:
            subject, sampler = _modified(eta, b, scale.modified_horizon)
            pairs = [constant_pair((value, 1.0), sampler.rounds) for value in (0.0, 1.0)]
            pairs.append(hold_pair(1.0, sampler.rounds))
            yield timed(lattice_row, subject, sampler, pairs)
            yield abandoned_row(subject, sampler)
        for b in scale.far_pre_pulls:
            yield abandoned_row(*_modified(eta, b, FAR_HORIZON))


def epsilon_rows(scale: Scale) -> Iterator[AuditRow]:
    """Yield AUD-4: epsilon at delta from Theorem 3 of ts-is-dp, by duality."""
    for horizon in scale.delta_horizons:
        pairs = candidate_pairs(horizon)
        laws = [(pair, loss_law(ts_gaussian(horizon), pair.tables)) for pair in pairs]
        for delta in DELTAS:
            claimed = privacy.epsilon(delta, privacy.ts_gaussian_gdp(horizon))
            subject = Subject(
                "AUD-4", "ts-gaussian", horizon, f"delta={delta:g}", "epsilon", claimed
            )
            rows = [epsilon_row(subject, law, delta, pair.words) for pair, law in laws]
            yield max(rows, key=lambda row: row.lower)


def standard_rows() -> Iterator[AuditRow]:
    """Yield AUD-5: one decision is (epsilon0, delta0)-DP (ts-is-dp, Theorem 7)."""
    for delta in ROUND_DELTAS:
        epsilon = privacy.ts_round_epsilon(delta, 2)
        decision = worst_decision(epsilon)
        subject = Subject(
            "AUD-5",
            "ts-gaussian",
            decision.pulls + decision.others + 1,
            f"epsilon={epsilon:.6g}, delta={delta:g}",
            "delta",
            delta,
            claim="TSDP-C28b",
            notion="round",
        )
        yield decision_row(subject, decision, decision.needed)


def _theorem_3(horizon: int, arms: int = 2) -> Subject:
    claimed = privacy.ts_gaussian_gdp(horizon)
    return Subject("AUD-2", "ts-gaussian", horizon, "", "mu", claimed, arms=arms)


def _plain_row(horizon: int, arms: int) -> AuditRow:
    pairs = candidate_pairs(horizon, arms)
    return lattice_row(_theorem_3(horizon, arms), ts_gaussian(horizon), pairs)


def _modified(eta: int, b: int, horizon: int) -> tuple[Subject, Sampler]:
    c = privacy.required_c(b, float(eta), horizon)
    claimed = privacy.modified_ts_gdp(b, c, horizon)
    subject = Subject("AUD-3", "m-ts-gaussian", horizon, f"b={b}, c={c:.10g}", "mu", claimed)
    return subject, modified_ts(b, c, horizon)
