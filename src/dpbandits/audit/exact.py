"""All exact rows (engines B and C and support arguments), at full and at quick scale."""

from collections.abc import Callable, Mapping

from dpbandits.algorithms import REGRET
from dpbandits.audit.releases.best_arm_rows import best_arm_rows
from dpbandits.audit.releases.dp_od_rows import dp_od_rows
from dpbandits.audit.releases.episode_rows import episode_rows
from dpbandits.audit.releases.gaussian_rows import gaussian_rows
from dpbandits.audit.releases.gdp_ncb_rows import gdp_ncb_rows
from dpbandits.audit.releases.stop_test_rows import stop_test_rows
from dpbandits.audit.reports import report_rows
from dpbandits.audit.rows import AuditRow
from dpbandits.audit.support_rows import support_rows

Rows = Callable[[], list[AuditRow]]


def _reports() -> list[AuditRow]:
    return report_rows([each for each in REGRET.values() if each.model == "local"])


FULL: Mapping[str, Rows] = {
    "best arm": best_arm_rows,
    "dp-od": dp_od_rows,
    "gaussian": gaussian_rows,
    "gdp-ncb": gdp_ncb_rows,
    "stop test": stop_test_rows,
    "episodes": episode_rows,
    "reports": _reports,
    "support": support_rows,
}
"""Name -> the rows at full scale."""

QUICK: Mapping[str, Rows] = {
    **FULL,
    "gdp-ncb": lambda: gdp_ncb_rows((0.2, 2.0), (10**4, 10**6), (3, 5, 8), 2**16),
    "stop test": lambda: stop_test_rows((0.2,), (10**7,), (16,)),
    "episodes": lambda: episode_rows((1.0,), 12, 10, 20_000),
}
"""Name -> the rows at quick scale."""


def exact_rows(*, quick: bool = False) -> list[AuditRow]:
    """Return every exact row.

    Args:
        quick: whether at quick scale, in seconds.
    """
    return [row for rows in (QUICK if quick else FULL).values() for row in rows()]
