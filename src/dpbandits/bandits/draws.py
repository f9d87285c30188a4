"""What kernels and references draw: rewards of an arm, their sums, noise, and one of tied arms."""

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from dpbandits.kernels import njit

BERNOULLI = 0
TRUNCATED_EXPONENTIAL = 1
CLIPPED_EXPONENTIAL = 2
UNIFORM = 3
FOURTH_ROOT = 4
TWO_POINT = 5
TABLE = 6
"""Rewards in a fixed order; the parameter is a row of a table (``NEXT``, ``AFTER``, ``FIRST``)."""

NEXT, AFTER, FIRST = range(3)
"""Positions in a row of a table: number of the next pull, reward after the last, first reward."""

LOWER_POINT = 0.4
"""The other value of the two-point law; its parameter is the larger one."""

BINOMIAL_FROM = 32
"""From this many Bernoulli rewards on, their sum is one binomial draw.

Measured: a single reward costs 3 ns, a binomial of any size 40 to 110 ns.
"""

DIGITS = 53  # binary digits of a double in [0, 1), each a fair coin
DIGITS_FROM = 512
"""From this many uniform rewards on, their sum is drawn digit by digit.

Measured: a single uniform costs 5.6 ns, the 53 binomials of a sum 2.7 microseconds.
"""

TABLES_FROM = 8
"""From this many trials on, their sums are drawn from tables.

Measured: a table costs 3 to 20 microseconds where it is new, a draw from it 8 ns.
"""

TABLED = {BERNOULLI: (1, BINOMIAL_FROM), UNIFORM: (DIGITS, 128)}
"""Law -> the binomials that make a sum, and the fewest rewards where they are cheaper by table."""

LARGEST_TABLED = 1_000_000
"""Tables of more rewards leave the cache of a core."""

SMALLEST_TABLED = 1e-19  # probability

TIES = ("lowest", "random")
"""Which of several arms with the largest index is played (DP-NCB, A20)."""


def _next_of_table(law, parameter, generator):
    """Return the next reward of a table's row, and move on."""
    place = FIRST + int(parameter[NEXT])
    parameter[NEXT] += 1.0
    return parameter[place] if place < parameter.size else parameter[AFTER]


def _reward_of_law(law, parameter, generator):
    uniform = generator.random()
    if law == BERNOULLI:
        return 1.0 if uniform < parameter else 0.0
    if law == TRUNCATED_EXPONENTIAL:
        return -math.log1p(uniform * math.expm1(-parameter)) / parameter
    if law == UNIFORM:
        return parameter * uniform
    if law == FOURTH_ROOT:
        return parameter * math.sqrt(math.sqrt(uniform))
    if law == TWO_POINT:
        return LOWER_POINT if uniform < 0.5 else parameter
    return min(-math.log1p(-uniform) / parameter, 1.0)  # CLIPPED_EXPONENTIAL


# In Python this one chooses; in a kernel numba puts the choice of `_compiled_reward` in its place,
# whose functions need the same names of arguments, without types.
def _reward(law, parameter, generator):
    draw = _next_of_table if isinstance(parameter, np.ndarray) else _reward_of_law
    return draw(law, parameter, generator)


@overload(_reward, inline="always")
def _compiled_reward(law, parameter, generator):
    """Choose by the type of the parameter when a kernel is compiled, at no cost for laws."""
    return _next_of_table if isinstance(parameter, numba.types.Array) else _reward_of_law


@njit(inline="always")
def draw_reward(law: int, parameter: Any, generator: np.random.Generator) -> float:
    """Draw one reward with one uniform, or take the next reward of a table (a row as parameter).

    It is in [0, 1], except for the uniform law. The parameter is the mean (Bernoulli), the rate
    (exponential laws) or the largest reward.
    """
    return float(_reward(law, parameter, generator))


@njit
def draw_uniform_sum(count: int, generator: np.random.Generator) -> float:
    """Draw the sum of independent uniforms on [0, 1): many by one binomial for each binary digit.

    The digits of a uniform double are fair coins, so that this is the same law, not an
    approximation.
    """
    total = 0.0
    if count < DIGITS_FROM:
        for _ in range(count):
            total += generator.random()
        return total
    weight = 0.5**DIGITS
    # The smallest digits first, whose sum the larger ones would swallow.
    for _ in range(DIGITS):
        total += weight * generator.binomial(count, 0.5)
        weight *= 2.0
    return total


def _sum_of_table(law, parameter, count, generator):
    total = 0.0
    for _ in range(count):
        total += _reward(law, parameter, generator)
    return total


def _sum_of_law(law, parameter, count, generator):
    if law == BERNOULLI and count >= BINOMIAL_FROM:
        return float(generator.binomial(count, parameter))
    if law == TWO_POINT and count >= BINOMIAL_FROM:
        lower = generator.binomial(count, 0.5)
        return LOWER_POINT * lower + parameter * (count - lower)
    if law == UNIFORM:
        return parameter * draw_uniform_sum(count, generator)
    total = 0.0
    for _ in range(count):
        total += _reward(law, parameter, generator)
    return total


def _sum(law, parameter, count, generator):
    draw = _sum_of_table if isinstance(parameter, np.ndarray) else _sum_of_law
    return draw(law, parameter, count, generator)


@overload(_sum, inline="always")
def _compiled_sum(law, parameter, count, generator):
    return _sum_of_table if isinstance(parameter, numba.types.Array) else _sum_of_law


@njit
def draw_reward_sum(law: int, parameter: Any, count: int, generator: np.random.Generator) -> float:
    """Draw the sum of ``count`` independent rewards, by the arguments of ``draw_reward``.

    Bernoulli and two-point rewards are drawn at once from ``BINOMIAL_FROM`` of them on, uniform
    ones from ``DIGITS_FROM``: the sum has the same law, from another use of the stream.
    """
    return float(_sum(law, parameter, count, generator))


class SumTables(NamedTuple):
    """Alias tables of the sums of arms, one after the other in the same arrays.

    Many trials that pull the same arms equally often share one alias table of each binomial
    (Walker, 1977): of s values, each in a cell of probability 1/s, a cell keeps its own value with
    the probability of its threshold and gives its alias else, so that value k has the probability
    (its threshold + the sum of 1 - threshold over the cells whose alias it is) / s. One uniform
    draws cell and threshold. It is the law of the binomial up to rounding: the probabilities follow
    from each other by their exact ratios, from the mode outwards, to a relative 1e-12; values are
    left out where they are below 1e-19, 1e-17 in all, less than the 2^-53 by which uniforms differ.
    """

    binomials: NDArray[np.int64]  # of each arm, 1 or one a digit; 0 where it has no table
    scales: NDArray[np.float64]  # of each arm, its largest reward
    tables: NDArray[np.int64]  # of each arm, the number of its table
    firsts: NDArray[np.int64]  # the smallest value of each table
    starts: NDArray[np.int64]  # where each table begins, and the end
    thresholds: NDArray[np.float64]
    aliases: NDArray[np.int64]


@njit
def _chances(count, chance):
    """Return the first value of a binomial with chance in (0, 1), and all probabilities over it."""
    odds = chance / (1.0 - chance)
    mode = min(int((count + 1) * chance), count)
    logs = math.lgamma(count + 1.0) - math.lgamma(mode + 1.0) - math.lgamma(count - mode + 1.0)
    most = math.exp(logs + mode * math.log(chance) + (count - mode) * math.log1p(-chance))
    low = high = mode
    here = most
    while low > 0 and here > SMALLEST_TABLED:
        here *= low / ((count - low + 1.0) * odds)
        low -= 1
    here = most
    while high < count and here > SMALLEST_TABLED:
        here *= (count - high) / (high + 1.0) * odds
        high += 1
    chances = np.empty(high - low + 1)
    chances[mode - low] = most
    for k in range(mode, high):
        chances[k + 1 - low] = chances[k - low] * (count - k) / (k + 1.0) * odds
    for k in range(mode, low, -1):
        chances[k - 1 - low] = chances[k - low] * k / ((count - k + 1.0) * odds)
    return low, chances


@njit
def _alias(chances):
    """Return thresholds and aliases; the cells that are too small are filled by those too large."""
    size = chances.size
    thresholds, aliases = chances * (size / chances.sum()), np.arange(size)
    small, large = np.empty(size, np.int64), np.empty(size, np.int64)
    smaller = larger = 0
    for k in range(size):
        if thresholds[k] < 1.0:
            small[smaller] = k
            smaller += 1
        else:
            large[larger] = k
            larger += 1
    while smaller and larger:
        smaller -= 1
        filled, giver = small[smaller], large[larger - 1]
        aliases[filled] = giver
        thresholds[giver] -= 1.0 - thresholds[filled]
        if thresholds[giver] < 1.0:
            larger -= 1
            small[smaller] = giver
            smaller += 1
    # The remaining cells are full up to rounding.
    for k in small[:smaller]:
        thresholds[k] = 1.0
    for k in large[:larger]:
        thresholds[k] = 1.0
    return thresholds, aliases


@lru_cache(maxsize=256)
def binomial_table(count: int, chance: float) -> tuple[int, NDArray[np.float64], NDArray[np.int64]]:
    """Return the smallest value, thresholds and aliases of a binomial with chance in (0, 1)."""
    first, chances = _chances(count, chance)
    return first, *_alias(chances)


def sum_tables(
    laws: NDArray[np.int64], parameters: NDArray[Any], counts: NDArray[np.int64], trials: int
) -> SumTables:
    """Return the tables for sums of ``counts`` rewards of each arm, for ``trials`` trials."""
    places: dict[tuple[int, float], int] = {}
    binomials, tables = np.zeros((2, counts.size), np.int64)
    scales = np.ones(counts.size)
    if trials < TABLES_FROM:
        return SumTables(binomials, scales, tables, tables, tables, scales, tables)
    for arm in range(counts.size):
        law, count = int(laws[arm]), int(counts[arm])
        number, fewest = TABLED.get(law, (0, 0))
        chance = 0.5 if law == UNIFORM else float(parameters[arm]) if number else 0.0
        if number and fewest <= count <= LARGEST_TABLED and 0.0 < chance < 1.0:
            binomials[arm], tables[arm] = number, places.setdefault((count, chance), len(places))
            scales[arm] = parameters[arm] if law == UNIFORM else 1.0
    made = [binomial_table(*place) for place in places]
    sizes = [thresholds.size for _, thresholds, _ in made]
    return SumTables(
        binomials,
        scales,
        tables,
        np.array([first for first, _, _ in made], np.int64),
        np.cumsum([0, *sizes]),
        np.concatenate([np.empty(0), *(thresholds for _, thresholds, _ in made)]),
        np.concatenate([np.empty(0, np.int64), *(aliases for _, _, aliases in made)]),
    )


@njit
def draw_tabled_sum(sums, arm, generator):
    """Draw the sum of an arm that has a table, a uniform one digit by digit."""
    table = sums.tables[arm]
    start, size = sums.starts[table], sums.starts[table + 1] - sums.starts[table]
    total, weight = 0.0, 0.5 ** (sums.binomials[arm] * (sums.binomials[arm] > 1))
    for _ in range(sums.binomials[arm]):
        uniform = generator.random() * size
        cell = int(uniform)
        if uniform - cell >= sums.thresholds[start + cell]:
            cell = sums.aliases[start + cell]
        total += weight * (sums.firsts[table] + cell)
        weight *= 2.0
    return sums.scales[arm] * total


def _nothing(parameter, pulls):
    return None


def _go_to(parameter, pulls):
    parameter[NEXT] = pulls


def _set_pulls(parameter, pulls):
    (_go_to if isinstance(parameter, np.ndarray) else _nothing)(parameter, pulls)


@overload(_set_pulls, inline="always")
def _compiled_set_pulls(parameter, pulls):
    return _go_to if isinstance(parameter, numba.types.Array) else _nothing


@njit(inline="always")
def set_pulls(parameter: Any, pulls: int) -> None:
    """Continue a table of rewards after ``pulls`` pulls: trials side by side restart it."""
    _set_pulls(parameter, pulls)


@njit(inline="always")
def laplace(scale: float, generator: np.random.Generator) -> float:
    """Draw from the Laplace law of the given scale, as the difference of two exponentials."""
    positive = generator.standard_exponential()
    return scale * (positive - generator.standard_exponential())


@njit
def arm_of_largest(
    indices: NDArray[np.float64], random_ties: bool, generator: np.random.Generator
) -> int:
    """Return the arm of the largest index, of several the lowest or, by a uniform for each, any."""
    arm, largest = 0, -math.inf
    for i in range(indices.size):
        if indices[i] > largest:
            arm, largest = i, indices[i]
    if random_ties:
        tied = 1
        for i in range(arm + 1, indices.size):
            if indices[i] == largest:
                tied += 1
                if generator.random() * tied < 1.0:
                    arm = i
    return arm


@njit(inline="always")
def pull(arms, arm, rng):
    """Draw one reward of an arm, as ``draw_reward`` does."""
    return draw_reward(arms.laws[arm], arms.parameters[arm], rng)


@njit(inline="always")
def pull_sum(arms, arm, count, rng):
    """Draw the sum of ``count`` rewards of an arm, as ``draw_reward_sum`` does."""
    return draw_reward_sum(arms.laws[arm], arms.parameters[arm], count, rng)
