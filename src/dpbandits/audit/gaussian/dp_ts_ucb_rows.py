"""Statements AUD-6 to AUD-8: what dp-ts-ucb says of Thompson sampling, and DP-TS-UCB itself."""

import math
from collections.abc import Iterator
from dataclasses import replace

from dpbandits import privacy
from dpbandits.audit.gaussian.lattice import loss_law
from dpbandits.audit.gaussian.pairs import constant_pair
from dpbandits.audit.gaussian.scale import Scale
from dpbandits.audit.gaussian.scores import dp_ts_ucb, modified_ts, ts_gaussian
from dpbandits.audit.gaussian.subjects import Subject, abandoned_row, threshold_row, timed
from dpbandits.audit.gaussian.tradeoff import best_threshold
from dpbandits.audit.rows import AuditRow

INTERPRETATION = "count=n"
"""Centre and variance over n, as dp-ts-ucb writes TS-Gaussian and M-TS-Gaussian."""

ALPHAS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""alpha of Figure 4."""

PRE_PULLS = (0, 1, 500, 1_000, 2_000, 5_000, 100_000)
"""b of Figures 5 and 6; c makes the privacy equal to that of DP-TS-UCB."""

INTERPRETATIONS = {"AUD-7": "theorem4.4", "AUD-8": "tight"}
"""Statement -> the bound of DP-TS-UCB that is audited."""


def quoted_rows(scale: Scale) -> Iterator[AuditRow]:
    """Yield AUD-6: the bounds of Thompson sampling that dp-ts-ucb quotes (Section 3, Table 1)."""
    for horizon in scale.far_horizons:
        claimed = privacy.ts_gaussian_gdp(horizon)
        subject = Subject(
            "AUD-6", "ts-gaussian", horizon, "", "mu", claimed, interpretation=INTERPRETATION
        )
        yield abandoned_row(subject, ts_gaussian(horizon, "n"))
    horizon = scale.quoted_horizon
    figure_4 = [(0, 5.0 * math.log(horizon) ** alpha) for alpha in ALPHAS]
    figures_5_and_6 = [
        (b, privacy.equal_privacy_c(alpha, b, horizon)) for alpha in (0.0, 1.0) for b in PRE_PULLS
    ]
    for b, c in figure_4 + figures_5_and_6:
        claimed = privacy.modified_ts_gdp(b, c, horizon)
        text = f"b={b}, c={c:.10g}"
        subject = Subject(
            "AUD-6", "m-ts-gaussian", horizon, text, "mu", claimed, interpretation=INTERPRETATION
        )
        yield abandoned_row(subject, modified_ts(b, c, horizon, "n"))


def budget_rows(scale: Scale) -> Iterator[AuditRow]:
    """Yield AUD-7 and AUD-8: Theorem 4.4 of dp-ts-ucb, and the tight version without its factor.

    Up to round K + floor(phi). Once arm 1 was pulled three times, its first reward is forgotten, so
    that the lattice can end there.
    """
    for horizon in scale.budget_horizons:
        for alpha in scale.alphas:
            levels = {
                statement: privacy.dp_ts_ucb_gdp(alpha, horizon, interpretation=interpretation)
                for statement, interpretation in INTERPRETATIONS.items()
            }
            text = f"alpha={alpha:g}"
            subject = Subject("AUD-7", "dp-ts-ucb", horizon, text, "mu", levels["AUD-7"])
            exact = timed(_first_epoch, subject, alpha)
            for row in (exact, abandoned_row(subject, dp_ts_ucb(alpha, horizon))):
                for statement, claimed in levels.items():
                    yield replace(row, statement=statement, claimed=claimed)


def _first_epoch(subject: Subject, alpha: float) -> AuditRow:
    """Return the largest observable bound over constant tables."""
    sampler = dp_ts_ucb(alpha, subject.horizon)
    rows = []
    for value in (0.0, 0.5, 1.0):
        pair = constant_pair((0.0, value), sampler.rounds)
        law = loss_law(sampler, pair.tables, most_pulls=2)
        rows.append(threshold_row(subject, best_threshold(law), pair.words))
    return max(rows, key=lambda row: row.lower)
