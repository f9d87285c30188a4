"""One lower bound on a privacy loss, with all that is needed to check it by hand."""

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields, replace

import pandas as pd
from scipy.special import log_ndtr

from dpbandits.auditing.inputs import abandoned_pair
from dpbandits.auditing.lattice import LossLaw, Threshold, epsilon_at
from dpbandits.auditing.likelihood import Certificate
from dpbandits.auditing.thompson import Decision, Sampler, Transcript, abandoned_arm
from dpbandits.errors import InputError

NOTIONS = ("pull table", "round", "local")
DIRECTIONS = ("x over x'", "x' over x")
MEASURES = ("epsilon", "mu", "delta")
ENGINES = ("A lattice", "A far tail", "A likelihood", "B", "C", "D", "support")

_PROVING_ENGINES = ("B", "support")
"""Engines whose bound may be infinite: the event is impossible under one of the inputs."""


@dataclass(frozen=True)
class AuditRow:
    """A lower bound on the privacy loss of one algorithm at one pair of neighbouring inputs.

    Attributes:
        statement: number of the audited statement, ``AUD-n``.
        claim: id in the claims ledger, or "".
        algorithm: id in the registry.
        variant: ``as-written``, ``as-coded`` or ``repaired``.
        interpretation: such as ``log=base2``, or "".
        arms: K.
        horizon: T, or the budget.
        parameters: such as ``epsilon=0.2``, or "".
        notion: of neighbouring inputs, one of ``NOTIONS``.
        pair: the two inputs x and x' in words.
        engine: how the bound was computed, one of ``ENGINES``.
        event: set of outputs that shows the loss, in words that can be checked by hand.
        direction: the input that makes the event more likely, over the other one.
        measure: of the loss, one of ``MEASURES``.
        lower: the bound; infinite only with a proof.
        confidence: 1 for exact bounds, else the chance that the bound is correct.
        claimed: what the algorithm claims; infinite where it claims nothing.
        log10_alpha: log10 of the chance of the event under the less likely input.
        log10_beta: log10 of the chance that it fails under the more likely one.
        runs: simulated outputs per input; 0 for exact bounds.
        seed: root of their random streams; 0 for exact bounds.
        seconds: time taken.
        scaled: whether constants are smaller than published.

    Raises:
        InputError: a word or a number is not allowed.
    """

    statement: str
    claim: str
    algorithm: str
    variant: str
    interpretation: str
    arms: int
    horizon: int
    parameters: str
    notion: str
    pair: str
    engine: str
    event: str
    direction: str
    measure: str
    lower: float
    confidence: float
    claimed: float
    log10_alpha: float
    log10_beta: float
    runs: int = 0
    seed: int = 0
    seconds: float = 0.0
    scaled: bool = False

    def __post_init__(self) -> None:
        """Refuse what is not a bound."""
        words = {
            "notion": NOTIONS,
            "direction": DIRECTIONS,
            "measure": MEASURES,
            "engine": ENGINES,
        }
        for name, allowed in words.items():
            if getattr(self, name) not in allowed:
                raise InputError(
                    f"audit row: {name} is {getattr(self, name)!r}; allowed: {', '.join(allowed)}"
                )
        if not self.lower >= 0.0:
            raise InputError(f"audit row: lower is {self.lower!r}; allowed: 0 or above")
        if math.isinf(self.lower) and self.engine not in _PROVING_ENGINES:
            raise InputError(
                f"audit row: lower is inf by engine {self.engine}; "
                f"allowed: inf by {' or '.join(_PROVING_ENGINES)} alone"
            )
        if not 0.0 < self.confidence <= 1.0:
            raise InputError(
                f"audit row: confidence is {self.confidence!r}; allowed: above 0, at most 1"
            )

    @property
    def ratio(self) -> float:
        """Return the bound over the claim; 0 where nothing is claimed, NaN for inf over inf."""
        if math.isinf(self.claimed):
            return math.nan if math.isinf(self.lower) else 0.0
        if self.claimed == 0.0:
            return math.inf if self.lower > 0.0 else math.nan
        return self.lower / self.claimed


_FIELDS = [field.name for field in fields(AuditRow)]
_TYPES = {"arms": int, "horizon": int, "runs": int, "seed": int, "scaled": bool}
_RATIO_PLACE = _FIELDS.index("claimed") + 1

AUDIT_COLUMNS = (*_FIELDS[:_RATIO_PLACE], "ratio", *_FIELDS[_RATIO_PLACE:])
"""Columns of a table of rows, in order; ``seconds`` is left out of published files."""


def to_frame(rows: Iterable[AuditRow], *, seconds: bool = False) -> pd.DataFrame:
    """Return the rows as a table with the columns of ``AUDIT_COLUMNS``.

    Args:
        rows: any number of them, in the order wanted.
        seconds: whether to keep the time taken, which differs between machines.
    """
    lines = [{**asdict(row), "ratio": row.ratio} for row in rows]
    table = pd.DataFrame(lines, columns=list(AUDIT_COLUMNS))
    return table if seconds else table.drop(columns="seconds")


def from_frame(table: pd.DataFrame) -> list[AuditRow]:
    """Return the rows of a table that ``to_frame`` made; further columns are left out.

    Args:
        table: with or without ``seconds``.
    """
    names = [name for name in _FIELDS if name in table]
    # A column that other results lack has become one of floats or objects.
    typed = table.astype({name: kind for name, kind in _TYPES.items() if name in table})
    values = zip(*(typed[name].tolist() for name in names), strict=True)
    return [AuditRow(**dict(zip(names, line, strict=True))) for line in values]


OBSERVABLE = math.log(1e-6)
"""ln of the chance from which on an event is called observable."""


@dataclass(frozen=True)
class Audited:
    """What the rows of one algorithm have in common; fields as in ``AuditRow``."""

    statement: str
    claim: str
    algorithm: str
    variant: str
    notion: str
    engine: str = "B"
    interpretation: str = ""

    def row(
        self,
        *,
        arms: int,
        horizon: int,
        parameters: str,
        claimed: float,
        pair: str,
        event: str,
        lower: float,
        log_alpha: float,
        log_likely: float,
        direction: str = "x' over x",
        measure: str = "epsilon",
        scaled: bool = False,
    ) -> AuditRow:
        """Return one row.

        Args:
            arms: K.
            horizon: T, or the budget.
            parameters: of the algorithm, in words.
            claimed: the privacy loss, or delta, that the algorithm claims.
            pair: both inputs, in words.
            event: in words.
            lower: the bound; infinite with a proof alone.
            log_alpha: ln of the chance of the event under the input that makes it less likely;
                -inf where it is impossible.
            log_likely: ln of its chance under the other one.
            direction: the input that makes it more likely over the other one.
            measure: ``epsilon`` or ``delta``.
            scaled: whether constants are smaller than published.
        """
        missed = math.log(-math.expm1(log_likely)) if log_likely < 0.0 else -math.inf
        return AuditRow(
            statement=self.statement,
            claim=self.claim,
            algorithm=self.algorithm,
            variant=self.variant,
            interpretation=self.interpretation,
            arms=arms,
            horizon=horizon,
            parameters=parameters,
            notion=self.notion,
            pair=pair,
            engine=self.engine,
            event=event,
            direction=direction,
            measure=measure,
            lower=max(lower, 0.0),
            confidence=1.0,
            claimed=claimed,
            log10_alpha=log_alpha / math.log(10.0),
            log10_beta=missed / math.log(10.0),
            scaled=scaled,
        )


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
    subject: Subject, certificate: Certificate, pair: str, law: str, direction: str, seed: int
) -> AuditRow:
    """Return the bound on mu from simulated outputs with exact likelihood ratios.

    Args:
        subject: what is audited.
        certificate: of the outputs.
        pair: in words.
        law: that the outputs were drawn from, in words.
        direction: a word of ``dpbandits.auditing.rows.DIRECTIONS``.
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
