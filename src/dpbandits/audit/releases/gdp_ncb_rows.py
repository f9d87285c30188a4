"""Rows of GDP-NCB's releases: as coded (AUD-13), as written (AUD-14), repaired (AUD-15)."""

from collections.abc import Iterator, Sequence

from dpbandits.audit.exact_rows import Audited
from dpbandits.audit.releases.phase_two import PhaseTwo, as_coded
from dpbandits.audit.releases.splits import (
    SMALL,
    Split,
    carried_rules,
    carried_split,
    coded_split,
    in_window,
    scaled_split,
)
from dpbandits.audit.rows import AuditRow

EPSILONS = (0.2, 1.0, 2.0)
HORIZONS = (10**3, 10**4, 10**5, 10**6, 10**7, 10**8)
WINDOW = 2**24

FIXED_LENGTH = "cap=root, stop_test=off, release_log=natural"
"""Interpretation of Algorithm 1 whose Phase I has W rounds; Phase II begins with its means.

The paper prints no base of the logarithm in the noise; with base 2 nothing exceeds epsilon (A9).
"""

DOUBLINGS = (3, 4, 5, 6, 8, 10, 12, 16, 20)
"""Numbers of releases of the scaled rows."""


def gdp_ncb_rows(
    epsilons: Sequence[float] = EPSILONS,
    horizons: Sequence[int] = HORIZONS,
    doublings: Sequence[int] = DOUBLINGS,
    window: int = WINDOW,
) -> list[AuditRow]:
    """Return the rows of AUD-13 to AUD-15 that count releases, the anytime versions among them.

    Args:
        epsilons: above 0.
        horizons: T.
        doublings: numbers of releases of the scaled rows.
        window: W of the anytime versions.
    """
    rows: list[AuditRow] = []
    for epsilon in epsilons:
        for horizon in horizons:
            rows += _releases(horizon, epsilon)
        for number in doublings:
            rows += _scaled(number, epsilon)
        rows += _windows(window, epsilon)
    return rows


_CODED = Audited("AUD-13", "NCB-C15", "gdp-ncb", "as-coded", "round")
_CARRIED = Audited("AUD-14", "NCB-C15", "gdp-ncb", "as-written", "round", "B", FIXED_LENGTH)
_REPAIRED = Audited("AUD-15", "NCB-C15", "gdp-ncb", "repaired", "round")


def _releases(horizon: int, epsilon: float) -> Iterator[AuditRow]:
    """Yield the rows of the releases of Phase II with the published constants."""
    for audited, noise in ((_CODED, "natural"), (_REPAIRED, "base2")):
        rules = as_coded(horizon, epsilon, noise)
        yield _row_of_split(audited, rules, coded_split(rules))
    rules = carried_rules(horizon, epsilon, "natural")
    yield _row_of_split(_CARRIED, rules, carried_split(rules))


def _scaled(doublings: int, epsilon: float) -> Iterator[AuditRow]:
    cases = (
        (_CODED, "natural", coded_split),
        (_CARRIED, "natural", carried_split),
        (_REPAIRED, "base2", coded_split),
    )
    for audited, noise, search in cases:
        rules, split = scaled_split(doublings, epsilon, noise, search)
        yield _row_of_split(audited, rules, split)


def _row_of_split(audited: Audited, rules: PhaseTwo, split: Split) -> AuditRow:
    witness, other, changed = split
    scaled = rules.c == SMALL
    constants = f"alpha={SMALL:g}, c={SMALL:g}, " if scaled else ""
    log_alpha = witness.log_probability + witness.log_arms
    return audited.row(
        arms=2,
        horizon=rules.horizon,
        parameters=f"{constants}epsilon={rules.epsilon:g}",
        claimed=rules.epsilon,
        pair=f"rewards of the {rules.rounds} rounds of Phase I are 0, in x' one of them is 1; "
        "those of an episode sum to 1 less than what its release needs, where they can",
        event=f"Phase I pulls one arm {other} times and the other {changed} times, the changed "
        "round among these, which then has all episodes as long as it can",
        lower=witness.log_ratio,
        log_alpha=log_alpha,
        log_likely=log_alpha + witness.log_ratio,
        scaled=scaled,
    )


def _windows(window: int, epsilon: float) -> Iterator[AuditRow]:
    """Yield the rows of one window of the anytime versions, where the changed round is."""
    cases = (("AUD-13", "as-coded", "natural"), ("AUD-15", "repaired", "base2"))
    for statement, variant, noise in cases:
        rules = as_coded(window, epsilon, noise)
        witness, other, changed = coded_split(rules)
        audited = Audited(statement, "NCB-C15", "anytime-gdp-ncb", variant, "round")
        yield _row_of_split(audited, rules, (in_window(witness, window), other, changed))
