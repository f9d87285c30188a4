"""Claims: statements of a paper as comparisons, the one verdict function, and the ledger.

`load_claims` and `load_findings` read `claims.yaml` and `findings.yaml` of `config/papers/PAPER/`;
`Evidence` gives the results; `judge` comes to the verdicts; `ledger`, `comparisons` and `explain`
write them down.
"""

from dpbandits.claims.entries import Claim, Finding, Interpretation, Statistic, statistics_of
from dpbandits.claims.estimates import (
    Estimate,
    StudentEstimate,
    exact,
    largest,
    mean,
    ratio_of_means,
    smallest,
    welch_difference,
)
from dpbandits.claims.evidence import Evidence
from dpbandits.claims.judge import Judged, Judgement, Scale, judge
from dpbandits.claims.ledger import (
    COMPARISON_COLUMNS,
    LEDGER_COLUMNS,
    comparisons,
    explain,
    ledger,
    to_csv,
)
from dpbandits.claims.loading import load_claims, load_findings
from dpbandits.claims.percentiles import PercentileEstimate, from_resamples
from dpbandits.claims.rates import (
    DifferenceEstimate,
    RateEstimate,
    rate,
    rate_difference,
    rate_trend,
)
from dpbandits.claims.regions import KINDS, Region, region_of
from dpbandits.claims.verdict import ALPHA, Decision, Verdict, decide

__all__ = [
    "ALPHA",
    "COMPARISON_COLUMNS",
    "KINDS",
    "LEDGER_COLUMNS",
    "Claim",
    "Decision",
    "DifferenceEstimate",
    "Estimate",
    "Evidence",
    "Finding",
    "Interpretation",
    "Judged",
    "Judgement",
    "PercentileEstimate",
    "RateEstimate",
    "Region",
    "Scale",
    "Statistic",
    "StudentEstimate",
    "Verdict",
    "comparisons",
    "decide",
    "exact",
    "explain",
    "from_resamples",
    "judge",
    "largest",
    "ledger",
    "load_claims",
    "load_findings",
    "mean",
    "rate",
    "rate_difference",
    "rate_trend",
    "ratio_of_means",
    "region_of",
    "smallest",
    "statistics_of",
    "to_csv",
    "welch_difference",
]
