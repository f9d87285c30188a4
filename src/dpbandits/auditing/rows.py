"""One lower bound on a privacy loss, with all that is needed to check it by hand."""

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields

import pandas as pd

from dpbandits.errors import InputError

NOTIONS = ("pull table", "round", "local")
DIRECTIONS = ("x over x'", "x' over x")
MEASURES = ("epsilon", "mu", "delta")
ENGINES = ("A lattice", "A far tail", "A likelihood", "B", "C", "D", "support")

ENGINE_NAMES = {
    "A lattice": "exact lattice",
    "A far tail": "exact sequence",
    "A likelihood": "likelihood",
    "B": "exact",
    "C": "local",
    "D": "black box",
    "support": "support",
}
"""Engine -> its name on pages and figures."""

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
