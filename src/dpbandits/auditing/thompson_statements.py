"""Rows of Gaussian Thompson sampling (AUD-1 to AUD-5) and of DP-TS-UCB (AUD-6 to AUD-8)."""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from scipy.special import log_ndtr

from dpbandits import privacy
from dpbandits.auditing.inputs import GaussianPair, abandoned_pair, constant_pair, hold_pair
from dpbandits.auditing.lattice import (
    LossLaw,
    Threshold,
    best_threshold,
    epsilon_at,
    loss_law,
    loss_law_many,
)
from dpbandits.auditing.likelihood import (
    Certificate,
    simulate,
    threshold_certificate,
)
from dpbandits.auditing.rows import AuditRow
from dpbandits.auditing.thompson import (
    OTHER_PULLS,
    PULLS,
    ROUND_DELTAS,
    Decision,
    Sampler,
    Transcript,
    abandoned_arm,
    dp_ts_ucb,
    modified_ts,
    score_shift,
    ts_gaussian,
    worst_decision,
)
from dpbandits.engine.identity import DEFAULT_ROOT_SEED, run_generator, stream_key

LOG10 = math.log(10.0)
FORWARD, BACKWARD = "x' over x", "x over x'"


@dataclass(frozen=True)
class Subject:
    """What is audited against which claim; the fields are those of ``AuditRow``."""

    statement: str
    algorithm: str
    horizon: int
    parameters: str
    measure: str
    claimed: float
    claim: str = ""
    interpretation: str = ""
    arms: int = 2
    notion: str = "pull table"

    def row(
        self,
        pair: str,
        engine: str,
        event: str,
        lower: float,
        errors: tuple[float, float],
        *,
        direction: str = FORWARD,
        confidence: float = 1.0,
        runs: int = 0,
        seed: int = 0,
    ) -> AuditRow:
        """Return the row of one lower bound.

        Args:
            pair: in words.
            engine: a word of ``dpbandits.auditing.rows.ENGINES``.
            event: in words.
            lower: the bound.
            errors: log10 of alpha and of beta.
            direction: a word of ``dpbandits.auditing.rows.DIRECTIONS``.
            confidence: 1 for exact bounds.
            runs: simulated outputs that certify.
            seed: of their streams.
        """
        return AuditRow(
            statement=self.statement,
            claim=self.claim,
            algorithm=self.algorithm,
            variant="as-written",
            interpretation=self.interpretation,
            arms=self.arms,
            horizon=self.horizon,
            parameters=self.parameters,
            notion=self.notion,
            pair=pair,
            engine=engine,
            event=event,
            direction=direction,
            measure=self.measure,
            lower=lower,
            confidence=confidence,
            claimed=self.claimed,
            log10_alpha=errors[0],
            log10_beta=errors[1],
            runs=runs,
            seed=seed,
        )


def timed(make: Callable[..., AuditRow], *arguments: object) -> AuditRow:
    """Return the row that a function makes, with the seconds that it took."""
    begin = time.perf_counter()
    row = make(*arguments)
    return replace(row, seconds=time.perf_counter() - begin)


def threshold_row(subject: Subject, threshold: Threshold, pair: str) -> AuditRow:
    """Return the bound on mu from a threshold on the ratio of the lattice."""
    event = f"ln(Q/P) of the arm sequence, in rounded steps, is at least {threshold.ratio:.6g}"
    errors = (_log10(threshold.alpha), _log10(threshold.beta))
    return subject.row(pair, "A lattice", event, threshold.mu, errors)


def epsilon_row(subject: Subject, law: LossLaw, delta: float, pair: str) -> AuditRow:
    """Return the largest epsilon at which the pair needs more than delta, in either direction.

    The event is that of the outputs with Q > exp(epsilon) P.
    """
    reverse = epsilon_at(law, delta, reverse=True) > epsilon_at(law, delta)
    epsilon = epsilon_at(law, delta, reverse=reverse)
    likely, unlikely = (law.p, law.q) if reverse else (law.q, law.p)
    inside = likely > math.exp(epsilon) * unlikely
    errors = (_log10(float(unlikely[inside].sum())), _log10(float(likely[~inside].sum())))
    sign = "P/Q" if reverse else "Q/P"
    event = f"{sign} of the arm sequence, in rounded steps, is above exp({epsilon:.6g})"
    direction = BACKWARD if reverse else FORWARD
    return subject.row(pair, "A lattice", event, epsilon, errors, direction=direction)


def abandoned_row(subject: Subject, sampler: Sampler) -> AuditRow:
    """Return the bound on mu from the transcript in which arm 1 is abandoned."""
    output = abandoned_arm(sampler)
    first = f"each arm {sampler.forced_pulls} times" if sampler.forced_pulls else "arm 1 in round 1"
    event = f"{first}, then arm 2 in all rounds up to {sampler.rounds}"
    words = abandoned_pair(1).words
    return subject.row(words, "A far tail", event, output.mu, _output_errors(output))


def certificate_row(
    subject: Subject, certificate: Certificate, pair: str, direction: str, seed: int
) -> AuditRow:
    """Return the bound on mu from simulated outputs with exact likelihood ratios.

    Args:
        subject: what is audited.
        certificate: of the outputs.
        pair: in words.
        direction: a word of ``dpbandits.auditing.rows.DIRECTIONS``.
        seed: of the outputs.
    """
    sign = "ln(Q/P)" if direction == FORWARD else "ln(P/Q)"
    event = f"{sign} of the arm sequence is at least {certificate.ratio:.6g}"
    # The complement's chance is at most one minus the lower bound of the event's.
    beta = -math.expm1(certificate.log_power)
    errors = (certificate.log_alpha / LOG10, _log10(beta))
    return subject.row(
        pair,
        "A likelihood",
        event,
        certificate.mu,
        errors,
        direction=direction,
        confidence=0.95,
        runs=certificate.runs,
        seed=seed,
    )


def decision_row(subject: Subject, decision: Decision, lower: float) -> AuditRow:
    """Return the bound of one decision."""
    pair = (
        f"before the decision arm 1 was pulled {decision.pulls} times and arm 2 "
        f"{decision.others} times; one reward of arm 1 is 0 in x, 1 in x'"
    )
    chosen = f"the decision is arm {decision.chosen}, its score under the less likely input being "
    direction = FORWARD if decision.chosen == 1 else BACKWARD
    errors = (
        float(log_ndtr(decision.score)) / LOG10,
        float(log_ndtr(-decision.score - decision.shift)) / LOG10,
    )
    event = f"{chosen}{decision.score:.6g}"
    return subject.row(pair, "A likelihood", event, lower, errors, direction=direction)


def _output_errors(output: Transcript) -> tuple[float, float]:
    """Return log10 of the smaller chance, and of one minus the larger one."""
    large, small = max(output.log_p, output.log_q), min(output.log_p, output.log_q)
    return small / LOG10, _log10(-math.expm1(large))


def _log10(chance: float) -> float:
    return math.log10(chance) if chance > 0.0 else -math.inf


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
    """Yield AUD-2 by counts of simulated outputs under both inputs.

    Args:
        scale: of the audit.
        root: seed of all streams.
    """
    for arms, horizon, runs in scale.sampled:
        subject = _theorem_3(horizon, arms)
        sampler, pair = ts_gaussian(horizon), hold_pair(SAMPLED_ZETA, horizon, arms)
        streams = [
            run_generator(root, stream_key(["audit", "gaussian", arms, horizon, runs, law]), 0)
            for law in ("x", "x'")
        ]
        under_x = simulate(sampler, pair.tables, runs, streams[0], under=0)
        under_y = simulate(sampler, pair.tables, runs, streams[1], under=1)
        # The event that shows most is rare under x' and less so under x: arm 1 is avoided.
        counted = threshold_certificate(under_y.reverse(), under_x.reverse())
        yield certificate_row(subject, counted, pair.words, BACKWARD, root)


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
