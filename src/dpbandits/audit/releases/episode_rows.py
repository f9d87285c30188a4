"""Rows of episodic algorithms: AdaP-UCB (AUD-17), Anytime-Lazy-UCB and DP-SE (AUD-18)."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from dpbandits.audit.exact_rows import Audited
from dpbandits.audit.releases.best_arm_rows import Words, rows_of_losses
from dpbandits.audit.releases.elimination import elimination_loss, first_epoch
from dpbandits.audit.releases.index_policies import (
    LEAST_CHANCE,
    Leak,
    adap_ucb_policy,
    anytime_lazy_ucb_policy,
    constant_means,
    largest_leaks,
)
from dpbandits.audit.releases.losses import Loss
from dpbandits.audit.releases.tree import Policy
from dpbandits.audit.rows import AuditRow

EPSILONS = (0.2, 1.0)
ADAP_HORIZON, LAZY_HORIZON, SE_HORIZON = 60, 24, 100_000

TABLES = ((0.0, 0.0, 0), (0.0, 0.0, 1), (0.0, 1.0, 1), (1.0, 1.0, 0))
"""Constant rewards of both arms, and which private mean of arm 1 has the changed reward."""


def episode_rows(
    epsilons: Sequence[float] = EPSILONS,
    adap_horizon: int = ADAP_HORIZON,
    lazy_horizon: int = LAZY_HORIZON,
    se_horizon: int = SE_HORIZON,
) -> list[AuditRow]:
    """Return the rows of AUD-17 as written and of AUD-18 by exact computation.

    Args:
        epsilons: above 0.
        adap_horizon: T of AdaP-UCB, whose arm sequences are enumerated.
        lazy_horizon: likewise of Anytime-Lazy-UCB.
        se_horizon: T of DP-SE, above twice the pulls of its first epoch.
    """
    rows: list[AuditRow] = []
    for epsilon in epsilons:
        audited = Audited("AUD-17", "", "adap-ucb", "as-written", "pull table")
        adap = list(_enumerated(audited, adap_ucb_policy, adap_horizon, epsilon))
        # The repaired variant is the original.
        rows += [*adap, *(replace(row, variant="repaired") for row in adap)]
        audited = Audited("AUD-18", "", "anytime-lazy-ucb", "as-written", "pull table")
        rows += _enumerated(audited, anytime_lazy_ucb_policy, lazy_horizon, epsilon)
        rows += _elimination(se_horizon, epsilon)
    return rows


def _enumerated(
    audited: Audited, policy: Callable[[int, float], Policy], horizon: int, epsilon: float
) -> Iterator[AuditRow]:
    """Yield the rows of the worst arm sequence over all tables, and of the worst observable one."""
    leaks: list[list[tuple[Leak, str]]] = [[], []]
    for first, second, release in TABLES:
        tables = [constant_means(first, second, release, changed) for changed in (0.0, 1.0)]
        words = (
            f"arm 1 always {first:g}, arm 2 always {second:g}; the first reward of private mean "
            f"{release + 1} of arm 1 is 0 or 1"
        )
        found = largest_leaks(policy(horizon, epsilon), tables[0], tables[1], (LEAST_CHANCE, 1e-6))
        for by_chance, leak in zip(leaks, found, strict=True):
            by_chance.append((leak, words))
    for by_chance in leaks:
        leak, pair = max(by_chance, key=lambda candidate: candidate[0].log_ratio)
        yield audited.row(
            arms=2,
            horizon=horizon,
            parameters=f"epsilon={epsilon:g}",
            claimed=epsilon,
            pair=pair,
            event="the arms are " + _runs(leak.arms),
            lower=leak.log_ratio,
            log_alpha=leak.log_unlikely,
            log_likely=leak.log_unlikely + leak.log_ratio,
            direction="x' over x" if leak.changed_is_likelier else "x over x'",
        )


def _runs(arms: tuple[int, ...]) -> str:
    """Return an arm sequence in words, such as ``1, 2, 1 (4 times)``."""
    groups = ((arm, len(list(run))) for arm, run in itertools.groupby(arms))
    return ", ".join(
        f"{arm}" if length == 1 else f"{arm} ({length} times)" for arm, length in groups
    )


def _elimination(horizon: int, epsilon: float) -> Iterator[AuditRow]:
    pulls, _ = first_epoch(horizon, epsilon)

    def describe(loss: Loss) -> Words:
        output, place = loss.place
        difference = place - pulls
        pair = f"the {pulls} rewards of arm 1 in epoch 1 minus those of arm 2 sum to {difference}"
        event = ("arm 1 is dropped after epoch 1", "arm 2 is dropped after epoch 1", "none is")
        likelier = ("x over x'", "x' over x", "x over x'" if difference >= 0 else "x' over x")
        return Words(f"{pair} or {difference + 1}", event[output], likelier[output])

    yield from rows_of_losses(
        Audited("AUD-18", "", "dp-se", "as-written", "pull table"),
        lambda least: elimination_loss(horizon, epsilon, least),
        describe,
        arms=2,
        horizon=horizon,
        epsilon=epsilon,
    )
