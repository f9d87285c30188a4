"""The row of an exact bound: no runs, no seed, confidence 1."""

import math
from dataclasses import dataclass

from dpbandits.audit.rows import AuditRow

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
