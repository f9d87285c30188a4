"""One lower bound on a privacy loss, with all that is needed to check it by hand."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import pandas as pd

from dpbandits.auditing.events import EPSILON, LOG10_OBSERVABLE, Event, Measure
from dpbandits.errors import InputError

STATEMENTS: Mapping[str, tuple[str, str]] = {
    "AUD-1": ("ts-is-dp, Lemma 3: one decision", "TSDP-C29"),
    "AUD-2": ("ts-is-dp, Theorem 3", "TSDP-C29"),
    "AUD-3": ("ts-is-dp, Theorem 4", "TSDP-C30"),
    "AUD-4": ("ts-is-dp, Theorem 3, epsilon at delta", "TSDP-C29"),
    "AUD-5": ("ts-is-dp, Theorem 7: one decision", "TSDP-C28"),
    "AUD-6": ("ts-is-dp, Theorems 3 and 4, with n for n + 1 as in dp-ts-ucb, Section 3", "DTU-F8"),
    "AUD-7": ("dp-ts-ucb, Theorem 4.4", "DTU-C21"),
    "AUD-8": ("dp-ts-ucb, Theorem 4.4 without its factor", "DTU-C21"),
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


@dataclass(frozen=True, kw_only=True)
class AuditRow:
    """A lower bound on the privacy loss of one algorithm at one pair of neighbouring inputs."""

    statement: str  # AUD-n, or ""
    algorithm: str  # id in the registry
    variant: str = "as-written"
    interpretation: str = ""  # such as log=base2
    arms: int = 2
    horizon: int  # or the budget
    parameters: str = ""  # such as epsilon=0.2
    notion: str = "pull table"  # of neighbouring inputs; or round, or local
    pair: str  # the inputs x and x' in words
    engine: str = "exact"  # or exact lattice, exact sequence, likelihood, local, black box, support
    event: str  # outputs that show the loss, in words that can be checked by hand
    direction: str  # the input that makes the event more likely, over the other one
    measure: str  # of the loss: epsilon, mu or delta
    lower: float  # the bound; infinite only with a proof
    confidence: float = 1.0  # chance that the bound is correct; 1 where it is exact
    claimed: float  # infinite where nothing is claimed
    log10_alpha: float  # of the event under the less likely input
    log10_beta: float  # of its complement under the more likely one
    runs: int = 0  # simulated outputs per input, if any
    seed: int = 0  # root of their random streams
    seconds: float = 0.0  # time taken
    scaled: bool = False  # whether constants are smaller than published

    def __post_init__(self) -> None:
        """Raise InputError for what is no bound; an infinite one needs an excluded event."""
        is_proved = self.lower < math.inf or self.engine in ("exact", "support")
        if not (self.lower >= 0.0 and is_proved and 0.0 < self.confidence <= 1.0):
            raise InputError(
                f"audit row: lower is {self.lower!r} by engine {self.engine}, confidence "
                f"{self.confidence!r}; allowed: 0 or above, inf by exact or support alone, "
                "confidence above 0 and at most 1"
            )

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

    It is exact unless a ``confidence`` below 1 is given.

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
    lines = [
        {**vars(row), "claim": claim_on(row.statement, row.algorithm), "ratio": row.ratio}
        for row in rows
    ]
    return pd.DataFrame(lines, columns=AUDIT_COLUMNS)


def is_observable(frame: pd.DataFrame) -> "pd.Series[bool]":
    """Return whether the event of each row has a chance of 1e-6 under both inputs.

    So is one that is impossible under one of them, if it has that chance under the other.
    """
    alpha, other = frame["log10_alpha"], 1.0 - 10.0 ** frame["log10_beta"]
    impossible = (alpha == -math.inf) & (other >= 10.0**LOG10_OBSERVABLE)
    observable: pd.Series[bool] = alpha.ge(LOG10_OBSERVABLE) | impossible
    return observable
