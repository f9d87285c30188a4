"""Rows of an audit from the results of the Gaussian engine."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from scipy.special import log_ndtr

from dpbandits.audit.gaussian.far_tail import Transcript, abandoned_arm
from dpbandits.audit.gaussian.lattice import LossLaw
from dpbandits.audit.gaussian.one_round import Decision
from dpbandits.audit.gaussian.pairs import abandoned_pair
from dpbandits.audit.gaussian.sampled import Certificate
from dpbandits.audit.gaussian.scores import Sampler
from dpbandits.audit.gaussian.tradeoff import Threshold, epsilon_at
from dpbandits.audit.rows import AuditRow

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
            engine: a word of ``dpbandits.audit.rows.ENGINES``.
            event: in words.
            lower: the bound.
            errors: log10 of alpha and of beta.
            direction: a word of ``dpbandits.audit.rows.DIRECTIONS``.
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
    subject: Subject, certificate: Certificate, pair: str, law: str, direction: str, seed: int
) -> AuditRow:
    """Return the bound on mu from simulated outputs with exact likelihood ratios.

    Args:
        subject: what is audited.
        certificate: of the outputs.
        pair: in words.
        law: that the outputs were drawn from, in words.
        direction: a word of ``dpbandits.audit.rows.DIRECTIONS``.
        seed: of the outputs.
    """
    sign = "ln(Q/P)" if direction == FORWARD else "ln(P/Q)"
    event = f"{sign} of the arm sequence is at least {certificate.ratio:.6g}"
    if math.isfinite(certificate.weight):
        likely = sign[3]
        event += f", and ln({likely}/R) at most {certificate.weight:.6g}, R being {law}"
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
