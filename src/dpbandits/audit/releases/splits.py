"""Splits of GDP-NCB's Phase I between two arms that lose the most in Phase II (claim NCB-C15)."""

import math
from collections.abc import Callable, Sequence

from dpbandits.audit.releases.carried_means import carried_witness
from dpbandits.audit.releases.phase_two import PhaseTwo, release_witness
from dpbandits.audit.releases.stop_test import Witness

SMALL = 0.01
"""c and alpha where they are scaled down: the accounting does not depend on them."""

HALVES = range(2, 9)
"""Phase I of the scaled rules has twice as many rounds."""

OFFSETS = (-3, -2, -1, 0, 1, 2, 3, 5, 10, 20, 40)
"""Pulls of the changed arm minus the other one's that are tried, of the parity of the rounds."""

Split = tuple[Witness, int, int]
"""(witness, pulls of the other arm, pulls of the changed arm)."""


def best_split(
    rules: PhaseTwo, witness: Callable[[PhaseTwo, int, int], Witness], offsets: Sequence[int]
) -> Split:
    """Return the split of Phase I with the largest loss.

    Args:
        rules: of Phase II.
        witness: of rules and a split.
        offsets: pulls of the changed arm minus those of the other one to try.
    """
    splits = []
    for offset in offsets:
        changed = (rules.rounds + offset) // 2
        other = rules.rounds - changed
        if changed >= 1 and other >= 1 and changed - other == offset:
            splits.append((witness(rules, other, changed), other, changed))
    return max(splits, key=lambda split: split[0].log_ratio)


def coded_split(rules: PhaseTwo) -> Split:
    """Return the worst split where Phase II begins with zeros; the changed arm has to come first.

    Args:
        rules: of Phase II.
    """
    return best_split(rules, release_witness, [-abs(offset) for offset in OFFSETS])


def carried_split(rules: PhaseTwo) -> Split:
    """Return the worst split where Phase II begins with carried means.

    Args:
        rules: of Phase II.
    """
    return best_split(rules, carried_witness, OFFSETS)


def carried_rules(horizon: int, epsilon: float, noise: str) -> PhaseTwo:
    """Return the rules of GDP-NCB with W rounds of Phase I and ln T in the index.

    Args:
        horizon: T.
        epsilon: above 0.
        noise: the logarithm of T in its scale, ``natural`` or ``base2``.
    """
    log = math.log(horizon)
    noise_log = math.log2(horizon) if noise == "base2" else log
    return PhaseTwo(horizon, epsilon, math.isqrt(horizon) + 1, log, noise_log)


def scaled_split(
    doublings: int, epsilon: float, noise: str, search: Callable[[PhaseTwo], Split]
) -> tuple[PhaseTwo, Split]:
    """Return the worst rules and split with small c and alpha, for so many releases.

    Args:
        doublings: j; T is one round more than Phase I and episodes of 2, 4, ..., 2^j pulls.
        epsilon: above 0.
        noise: as in ``carried_rules``.
        search: ``coded_split`` or ``carried_split``.
    """
    candidates = []
    for half in HALVES:
        horizon = 2 ** (doublings + 1) - 2 + 2 * half + 1
        noise_log = math.log2(horizon) if noise == "base2" else math.log(horizon)
        log = math.log(math.isqrt(horizon) + 1)
        rules = PhaseTwo(horizon, epsilon, 2 * half, log, noise_log, SMALL, SMALL)
        candidates.append((rules, search(rules)))
    return max(candidates, key=lambda candidate: candidate[1][0].log_ratio)


def in_window(witness: Witness, window: int) -> Witness:
    """Return a witness in a window, of which a share 1/W^2 is uniform play.

    The event names the arms of all W rounds, up to the order in Phase I, which both have alike.

    Args:
        witness: of the core with horizon W.
        window: W.
    """
    rounds = math.isqrt(window) + 1
    uniform = -2.0 * math.log(window) - (window - rounds) * math.log(2.0)
    private = math.log1p(-1.0 / window**2)
    ends = [
        max(uniform, private + log) + math.log1p(math.exp(-abs(uniform - private - log)))
        for log in (witness.log_probability, witness.log_probability + witness.log_ratio)
    ]
    return Witness(ends[1] - ends[0], ends[0], witness.log_arms)
