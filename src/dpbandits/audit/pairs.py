"""Families of neighbouring tables in which a bad pair is searched for.

The loss at a decision is the shift of a centre over the noise. It is large where an early reward
differs, where that arm is rarely pulled again, and where the others act as known thresholds.
"""

import math
from collections.abc import Iterator

from dpbandits.audit.tables import PULL_TABLE, ROUND, Pair, make_pair
from dpbandits.errors import InputError

LEVELS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Rewards of the arms in the family of constants."""

DEVIATIONS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
"""How far the family ``hold`` keeps the changed arm below, in standard deviations of its score."""

CHANGED_PULLS = (1, 2)
"""Pulls of arm 1 whose reward differs; the first two episodes of every algorithm begin there."""


def constant(level: float, others: float, *, arms: int = 2, pull: int = 1) -> Pair:
    """Return the pair in which arm 1 always pays ``level`` and all others ``others``.

    Args:
        level: reward of arm 1, but that of one pull, which is 0 in x and 1 in x'; 0 to 1.
        others: reward of the other arms, 0 to 1.
        arms: number of arms K, at least 2.
        pull: which pull of arm 1 differs, from 1.

    Raises:
        InputError: a reward is outside [0, 1], or the pull below 1.
    """
    if pull < 1:
        raise InputError(f"pull is {pull}; allowed: 1 or above")
    words = (
        f"arm 1 always {level:g}, {_others(arms)} always {others:g}; "
        f"reward {pull} of arm 1 is 0 or 1"
    )
    rest = [[others] * pull for _ in range(arms - 1)]
    rows = [[[level] * (pull - 1) + [cell], *rest] for cell in (0.0, 1.0)]
    return make_pair(*rows, after=[level] + [others] * (arms - 1), words=words)


def hold(zeta: float, horizon: int, *, arms: int = 2) -> Pair:
    """Return the pair that keeps arm 1 ``zeta`` standard deviations below all others, which pay 1.

    The sum of the first n rewards of arm 1 follows (n + 1) - zeta sqrt(n + 1) - 1/2 as closely as
    rewards from 0 to 1 allow.

    Args:
        zeta: standard deviations of a draw of variance 1/(n + 1), 0 or above.
        horizon: length of the table.
        arms: number of arms K, at least 2.
    """
    row, total = [0.0], 0.5
    for n in range(2, horizon + 1):
        aim = (n + 1) - zeta * math.sqrt(n + 1) - 0.5
        row.append(min(max(aim - total, 0.0), 1.0))
        total += row[-1]
    words = (
        f"rewards of arm 1 sum to about (n + 1) - {zeta:g} sqrt(n + 1) - 1/2 in n pulls, "
        f"{_others(arms)} always 1; reward 1 of arm 1 is 0 or 1"
    )
    rest = [[1.0] * horizon for _ in range(arms - 1)]
    return make_pair([row, *rest], [[1.0, *row[1:]], *rest], words=words)


def ladder(level: float, arms: int) -> Pair:
    """Return the pair in which the other arms pay a descending ladder from 1 to 0.

    Args:
        level: reward of arm 1 but the first, 0 to 1.
        arms: number of arms K, at least 3.

    Raises:
        InputError: there are fewer than 3 arms.
    """
    if arms < 3:
        raise InputError(f"ladder: {arms} arms; allowed: at least 3")
    steps = [1.0 - i / (arms - 2) for i in range(arms - 1)]
    words = (
        f"arm 1 always {level:g}, arms 2 to {arms} from 1 down to 0 in equal steps; "
        f"reward 1 of arm 1 is 0 or 1"
    )
    rest = [[step] for step in steps]
    return make_pair([[0.0], *rest], [[1.0], *rest], after=[level, *steps], words=words)


def shift(level: float, others: float, *, arms: int = 2) -> Pair:
    """Return the pair by rounds in which all rewards of round 1 are 0 in x and 1 in x'.

    Args:
        level: reward of arm 1 in all later rounds, 0 to 1.
        others: reward of the other arms in all later rounds.
        arms: number of arms K, at least 2.
    """
    words = (
        f"from round 2 on arm 1 always {level:g}, {_others(arms)} always {others:g}; "
        f"all rewards of round 1 are 0 or 1"
    )
    after = [level] + [others] * (arms - 1)
    x, other = ([[cell]] * arms for cell in (0.0, 1.0))
    return make_pair(x, other, after=after, words=words, notion=ROUND)


def search_pairs(notion: str, arms: int, horizon: int) -> Iterator[Pair]:
    """Yield the pairs that a search tries, in a fixed order.

    Args:
        notion: ``pull table`` or ``round``.
        arms: number of arms K, at least 2.
        horizon: number of rounds, or the budget.
    """
    for level in LEVELS:
        for others in LEVELS:
            if notion == ROUND:
                yield shift(level, others, arms=arms)
            else:
                for pull in CHANGED_PULLS:
                    yield constant(level, others, arms=arms, pull=pull)
    if notion == PULL_TABLE:
        yield from (hold(zeta, horizon, arms=arms) for zeta in DEVIATIONS)
        if arms > 2:
            yield from (ladder(level, arms) for level in LEVELS)


def _others(arms: int) -> str:
    return "arm 2" if arms == 2 else f"arms 2 to {arms}"
