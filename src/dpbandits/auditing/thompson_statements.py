"""Rows of Gaussian Thompson sampling (AUD-1 to AUD-5) and of DP-TS-UCB (AUD-6 to AUD-8)."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from dpbandits import privacy
from dpbandits.auditing.inputs import GaussianPair, constant_pair, hold_pair
from dpbandits.auditing.lattice import LossLaw, best_threshold, loss_law, loss_law_many
from dpbandits.auditing.likelihood import simulate, threshold_certificate, weighted_certificate
from dpbandits.auditing.rows import (
    BACKWARD,
    AuditRow,
    Subject,
    abandoned_row,
    certificate_row,
    decision_row,
    epsilon_row,
    threshold_row,
    timed,
)
from dpbandits.auditing.thompson import (
    OTHER_PULLS,
    PULLS,
    ROUND_DELTAS,
    Decision,
    Sampler,
    dp_ts_ucb,
    modified_ts,
    score_shift,
    ts_gaussian,
    worst_decision,
)
from dpbandits.engine.identity import DEFAULT_ROOT_SEED, run_generator, stream_key


@dataclass(frozen=True)
class Scale:
    """Horizons, parameters and runs of an audit of Gaussian Thompson sampling.

    Attributes:
        horizons: T of the two-armed lattice.
        far_horizons: T of the far tail.
        three_armed_horizons: T of the lattice of three arms.
        sampled: arms, T and runs per law of the simulated outputs.
        delta_horizons: T of epsilon at delta.
        modified_horizon: T of the lattice of Modified TS.
        pre_pulls: b of Modified TS on the lattice.
        far_pre_pulls: b of Modified TS in the far tail, at T = 100,000.
        levels: eta of Modified TS.
        budget_horizons: T of DP-TS-UCB.
        alphas: of DP-TS-UCB.
        quoted_horizon: T of the figures of dp-ts-ucb with Modified TS.
    """

    horizons: tuple[int, ...]
    far_horizons: tuple[int, ...]
    three_armed_horizons: tuple[int, ...]
    sampled: tuple[tuple[int, int, int], ...]
    delta_horizons: tuple[int, ...]
    modified_horizon: int
    pre_pulls: tuple[int, ...]
    far_pre_pulls: tuple[int, ...]
    levels: tuple[int, ...]
    budget_horizons: tuple[int, ...]
    alphas: tuple[float, ...]
    quoted_horizon: int


_FAR_PRE_PULLS = (0, 10, 100, 500, 1_000, 2_000, 5_000, 10_000, 20_000)

FULL = Scale(
    horizons=(2, 3, 10, 30, 100, 300, 1_000, 3_000),
    far_horizons=(10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 1_000_000),
    three_armed_horizons=(10, 30),
    sampled=((2, 100, 200_000), (3, 100, 3_000), (5, 50, 2_000)),
    delta_horizons=(10, 30, 100, 300, 1_000),
    modified_horizon=1_000,
    pre_pulls=(0, 1, 5, 20, 50, 100, 200, 300, 400),
    far_pre_pulls=_FAR_PRE_PULLS,
    levels=(1, 2, 5),
    budget_horizons=(1_000, 10_000, 100_000),
    alphas=(0.0, 0.25, 0.5, 0.75, 1.0),
    quoted_horizon=1_000_000,
)

QUICK = Scale(
    horizons=(2, 3, 10, 30, 100),
    far_horizons=(10, 30, 100, 1_000, 100_000),
    three_armed_horizons=(10,),
    sampled=((2, 30, 10_000), (3, 10, 2_000)),
    delta_horizons=(10, 30, 100),
    modified_horizon=100,
    pre_pulls=(0, 1, 5, 20, 40),
    far_pre_pulls=_FAR_PRE_PULLS,
    levels=(1, 2, 5),
    budget_horizons=(100, 1_000),
    alphas=(0.0, 0.5, 1.0),
    quoted_horizon=1_000_000,
)


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


def candidate_pairs(rounds: int, arms: int = 2) -> list[GaussianPair]:
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


def lattice_row(subject: Subject, sampler: Sampler, pairs: list[GaussianPair]) -> AuditRow:
    """Return the largest observable bound on mu over the pairs."""
    found = []
    for pair in pairs:
        law = law_of(sampler, pair)
        found.append(threshold_row(subject, best_threshold(law), pair.words))
    return max(found, key=lambda row: row.lower)


def law_of(sampler: Sampler, pair: GaussianPair) -> LossLaw:
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


INTERPRETATION = "count=n"
"""Centre and variance over n, as dp-ts-ucb writes TS-Gaussian and M-TS-Gaussian."""

ALPHAS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""alpha of Figure 4."""

PRE_PULLS = (0, 1, 500, 1_000, 2_000, 5_000, 100_000)
"""b of Figures 5 and 6; c makes the privacy equal to that of DP-TS-UCB."""

INTERPRETATIONS = {"AUD-7": "theorem4.4", "AUD-8": "tight"}
"""Statement -> the bound of DP-TS-UCB that is audited."""


def quoted_rows(scale: Scale) -> Iterator[AuditRow]:
    """Yield AUD-6: the bounds of Thompson sampling that dp-ts-ucb quotes (Section 3, Table 1)."""
    for horizon in scale.far_horizons:
        claimed = privacy.ts_gaussian_gdp(horizon)
        subject = Subject(
            "AUD-6", "ts-gaussian", horizon, "", "mu", claimed, interpretation=INTERPRETATION
        )
        yield abandoned_row(subject, ts_gaussian(horizon, "n"))
    horizon = scale.quoted_horizon
    figure_4 = [(0, 5.0 * math.log(horizon) ** alpha) for alpha in ALPHAS]
    figures_5_and_6 = [
        (b, privacy.equal_privacy_c(alpha, b, horizon)) for alpha in (0.0, 1.0) for b in PRE_PULLS
    ]
    for b, c in figure_4 + figures_5_and_6:
        claimed = privacy.modified_ts_gdp(b, c, horizon)
        text = f"b={b}, c={c:.10g}"
        subject = Subject(
            "AUD-6", "m-ts-gaussian", horizon, text, "mu", claimed, interpretation=INTERPRETATION
        )
        yield abandoned_row(subject, modified_ts(b, c, horizon, "n"))


def budget_rows(scale: Scale) -> Iterator[AuditRow]:
    """Yield AUD-7 and AUD-8: Theorem 4.4 of dp-ts-ucb, and the tight version without its factor.

    Up to round K + floor(phi). Once arm 1 was pulled three times, its first reward is forgotten, so
    that the lattice can end there.
    """
    for horizon in scale.budget_horizons:
        for alpha in scale.alphas:
            levels = {
                statement: privacy.dp_ts_ucb_gdp(alpha, horizon, interpretation=interpretation)
                for statement, interpretation in INTERPRETATIONS.items()
            }
            text = f"alpha={alpha:g}"
            subject = Subject("AUD-7", "dp-ts-ucb", horizon, text, "mu", levels["AUD-7"])
            exact = timed(_first_epoch, subject, alpha)
            for row in (exact, abandoned_row(subject, dp_ts_ucb(alpha, horizon))):
                for statement, claimed in levels.items():
                    yield replace(row, statement=statement, claimed=claimed)


def _first_epoch(subject: Subject, alpha: float) -> AuditRow:
    """Return the largest observable bound over constant tables."""
    sampler = dp_ts_ucb(alpha, subject.horizon)
    rows = []
    for value in (0.0, 0.5, 1.0):
        pair = constant_pair((0.0, value), sampler.rounds)
        law = loss_law(sampler, pair.tables, most_pulls=2)
        rows.append(threshold_row(subject, best_threshold(law), pair.words))
    return max(rows, key=lambda row: row.lower)


def thompson_rows(scale: Scale = FULL, root: int = DEFAULT_ROOT_SEED) -> list[AuditRow]:
    """Return the rows of AUD-1 to AUD-8.

    Args:
        scale: ``FULL`` or ``QUICK``.
        root: seed of the simulated outputs.
    """

    def rows() -> Iterator[AuditRow]:
        yield from round_rows()
        yield from theorem_3_rows(scale)
        yield from sampled_rows(scale, root)
        yield from modified_rows(scale)
        yield from epsilon_rows(scale)
        yield from standard_rows()
        yield from quoted_rows(scale)
        yield from budget_rows(scale)

    return list(rows())
