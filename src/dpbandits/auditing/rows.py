"""One lower bound on a privacy loss, with all that is needed to check it by hand."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import pandas as pd

from dpbandits.auditing.events import EPSILON, Event, Measure
from dpbandits.errors import InputError

STATEMENTS: Mapping[str, tuple[str, str]] = {
    "AUD-1": ("ts-is-dp, Lemma 3: one decision", "TSDP-F11"),
    "AUD-2": ("ts-is-dp, Theorem 3", "TSDP-F11"),
    "AUD-3": ("ts-is-dp, Theorem 4", "TSDP-F12"),
    "AUD-4": ("ts-is-dp, Theorem 3, epsilon at delta", "TSDP-F13"),
    "AUD-5": ("ts-is-dp, Theorem 7: one decision", "TSDP-C28b"),
    "AUD-6": ("dp-ts-ucb, Section 3, on Thompson sampling", "DTU-F8"),
    "AUD-7": ("dp-ts-ucb, Theorem 4.4", "DTU-F9"),
    "AUD-8": ("dp-ts-ucb, Theorem 4.4 without its factor", "DTU-F9"),
    "AUD-9": ("dp-bai, Proposition 4.1 and Section 5", "BAI-C14a"),
    "AUD-10": ("dp-bai, Proposition 4.1, larger rewards", "BAI-F7"),
    "AUD-11": ("dp-bai, Appendix E.1", "BAI-C14c"),
    "AUD-12": ("dp-bai, Proposition D.2", "BAI-C24"),
    "AUD-13": ("dp-ncb, Theorems 2 and 4", "NCB-C15"),
    "AUD-14": ("dp-ncb, Theorems 2 and 4", "NCB-C15"),
    "AUD-15": ("dp-ncb, Theorems 2 and 4", "NCB-C15"),
    "AUD-16": ("dp-ncb, arXiv Section 5", "NCB-C16"),
    "AUD-17": ("Azize and Basu (2022)", "NCB-F18"),
    "AUD-18": ("", "DTU-F10"),
    "AUD-19": ("none: a control", "none: a control"),
}
"""Number -> place, and the claim or finding on it. AUD-13 to AUD-15 are on three variants; AUD-18
is on algorithms of other papers, each stated in its own."""

_CLAIMS = {
    ("AUD-9", "baseline"): "BAI-C14b",
    ("AUD-18", "ldp-ucb-l"): "none: stated in its own paper alone",
}
"""Those of an algorithm of its own."""


def claim_on(statement: str, algorithm: str) -> str:
    """Return the id of the claim or finding on it, or why there is none; "" for no statement."""
    return _CLAIMS.get((statement, algorithm), STATEMENTS.get(statement, ("", ""))[1])


_PROVING = ("exact", "support")
"""Engines whose bound may be infinite: the event is impossible under one of the inputs."""


@dataclass(frozen=True, kw_only=True)
class AuditRow:
    """A lower bound on the privacy loss of one algorithm at one pair of neighbouring inputs.

    Attributes:
        statement: number of the audited statement, ``AUD-n``, or "".
        algorithm: id in the registry.
        variant: ``as-written``, ``as-coded`` or ``repaired``.
        interpretation: such as ``log=base2``, or "".
        arms: K.
        horizon: T, or the budget.
        parameters: such as ``epsilon=0.2``, or "".
        notion: of neighbouring inputs, ``pull table``, ``round`` or ``local``.
        pair: the two inputs x and x' in words.
        engine: how the bound was computed: ``exact lattice``, ``exact sequence``, ``exact``,
            ``likelihood``, ``local``, ``black box`` or ``support``.
        event: set of outputs that shows the loss, in words that can be checked by hand.
        direction: the input that makes the event more likely, over the other one.
        measure: of the loss, ``epsilon``, ``mu`` or ``delta``.
        lower: the bound; infinite only with a proof.
        confidence: 1 for exact bounds, else the chance that the bound is correct.
        claimed: what the algorithm claims; infinite where it claims nothing.
        log10_alpha: log10 of the chance of the event under the less likely input.
        log10_beta: log10 of the chance that it fails under the more likely one.
        runs: simulated outputs per input; 0 for exact bounds.
        seed: root of their random streams; 0 for exact bounds.
        seconds: time taken.
        scaled: whether constants are smaller than published.
    """

    statement: str
    algorithm: str
    variant: str = "as-written"
    interpretation: str = ""
    arms: int = 2
    horizon: int
    parameters: str = ""
    notion: str = "pull table"
    pair: str
    engine: str = "exact"
    event: str
    direction: str
    measure: str
    lower: float
    confidence: float = 1.0
    claimed: float
    log10_alpha: float
    log10_beta: float
    runs: int = 0
    seed: int = 0
    seconds: float = 0.0
    scaled: bool = False

    def __post_init__(self) -> None:
        """Refuse what is not a bound."""
        is_proved = self.lower < math.inf or self.engine in _PROVING
        if not (self.lower >= 0.0 and is_proved and 0.0 < self.confidence <= 1.0):
            raise InputError(
                f"audit row: lower is {self.lower!r} by engine {self.engine}, confidence "
                f"{self.confidence!r}; allowed: 0 or above, inf by {' or '.join(_PROVING)} alone, "
                "confidence above 0 and at most 1"
            )

    @property
    def claim(self) -> str:
        """The id of the claim or finding on the statement, or why there is none."""
        return claim_on(self.statement, self.algorithm)

    @property
    def ratio(self) -> float:
        """The bound over the claim; 0 where nothing is claimed, NaN for inf over inf."""
        if math.isinf(self.claimed):
            return math.nan if math.isinf(self.lower) else 0.0
        if self.claimed == 0.0:
            return math.inf if self.lower > 0.0 else math.nan
        return self.lower / self.claimed


def exact_row(
    event: Event,
    pair: str,
    words: str = "",
    *,
    measure: Measure = EPSILON,
    lower: float | None = None,
    margin: float = 0.0,
    epsilon: float | None = None,
    constants: str = "",
    more: str = "",
    **fields: Any,
) -> AuditRow:
    """Return the row of an event, in its own words unless others are given, and its own bound.

    ``margin`` is what numerical errors may add to the bound; ``epsilon`` is claimed, and named in
    the parameters between ``constants`` and ``more``.
    """
    alpha, beta = event.log10_errors
    if epsilon is not None:
        fields |= {"parameters": f"{constants}epsilon={epsilon:g}{more}", "claimed": epsilon}
    return AuditRow(
        pair=pair,
        event=words or event.words,
        direction=event.direction,
        measure=measure.name,
        lower=max(measure.of(event) - margin, 0.0) if lower is None else lower,
        log10_alpha=alpha,
        log10_beta=beta,
        **fields,
    )


AUDIT_COLUMNS = [field.name for field in fields(AuditRow) if field.name != "seconds"]
AUDIT_COLUMNS.insert(AUDIT_COLUMNS.index("statement") + 1, "claim")
AUDIT_COLUMNS.insert(AUDIT_COLUMNS.index("claimed") + 1, "ratio")
"""Columns of a table of rows, in order; the time taken differs between machines."""


def to_frame(rows: Iterable[AuditRow]) -> pd.DataFrame:
    """Return the rows as a table with the columns of ``AUDIT_COLUMNS``."""
    lines = [{**asdict(row), "claim": row.claim, "ratio": row.ratio} for row in rows]
    return pd.DataFrame(lines, columns=AUDIT_COLUMNS)
