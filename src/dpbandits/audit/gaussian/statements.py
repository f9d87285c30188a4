"""All rows of the Gaussian engine, statement by statement."""

from collections.abc import Iterator

from dpbandits.audit.gaussian.dp_ts_ucb_rows import budget_rows, quoted_rows
from dpbandits.audit.gaussian.scale import FULL, Scale
from dpbandits.audit.gaussian.thompson_rows import (
    epsilon_rows,
    modified_rows,
    round_rows,
    sampled_rows,
    standard_rows,
    theorem_3_rows,
)
from dpbandits.audit.rows import AuditRow
from dpbandits.engine.identity import DEFAULT_ROOT_SEED


def gaussian_rows(scale: Scale = FULL, root: int = DEFAULT_ROOT_SEED) -> list[AuditRow]:
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
