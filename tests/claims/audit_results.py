"""Results of the privacy audit, as claims read them, at the quick scale."""

from functools import cache

import pandas as pd

from dpbandits.comparisons.privacy_audit.analytic import ANALYTIC

FOLDER = "privacy-audit/"
"""Before the names of its results."""

AUDIT = tuple(FOLDER + name for name in ANALYTIC)
"""Names of its results, as claims read them."""


@cache
def audited(name: str) -> pd.DataFrame:
    """Return exactly computed results of the audit, computed once; never edited in place."""
    return ANALYTIC[name.removeprefix(FOLDER)]("quick", 0, 1)
