"""Conversions between kinds of guarantee, each with the source that it is taken from.

Kinds: ``pure`` (epsilon), ``gdp`` (eta), ``zcdp`` (rho: Renyi DP with rho alpha at every order),
``renyi`` (gamma at one order) and ``approximate`` (epsilon at a delta).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import erfinv, ndtri_exp

from dpbandits.errors import InputError
from dpbandits.privacy._checks import above_one, choice, non_negative, probability, scalar
from dpbandits.privacy.guarantee import Guarantee
from dpbandits.privacy.renyi import rdp_to_dp_at_order
from dpbandits.privacy.tight import (
    improved_rdp_to_dp,
    improved_zcdp_epsilon,
    tight_rdp_to_dp,
    zcdp_delta,
    zcdp_epsilon,
)

KINDS = ("pure", "gdp", "zcdp", "renyi", "approximate")

_PURE = "Kairouz, Oh and Viswanath (2015), tight"
_GAUSSIAN = "Dong, Roth and Su (2022), tight"
_MIRONOV = "Mironov (2017)"
_IMPROVED = "Canonne, Kamath and Steinke (2020)"
_TIGHT = "Asoodeh, Liao, Calmon, Kosut and Sankar (2021)"


@dataclass(frozen=True)
class Level:
    """A guarantee of one kind.

    Attributes:
        kind: one of ``KINDS``.
        value: epsilon, eta, rho or gamma, 0 or above.
        order: of ``renyi``, above 1.
        delta: of ``approximate``, strictly between 0 and 1.

    Raises:
        InputError: a number is outside its range, missing, or of another kind.
    """

    kind: str
    value: float
    order: float | None = None
    delta: float | None = None

    def __post_init__(self) -> None:
        """Raise InputError for what is no guarantee."""
        choice("kind", self.kind, KINDS)
        scalar(self.kind, non_negative(self.kind, self.value))
        _only("order", self.order, self.kind == "renyi", f"kind {self.kind}")
        _only("delta", self.delta, self.kind == "approximate", f"kind {self.kind}")
        if self.order is not None:
            scalar("order", above_one("order", self.order))
        if self.delta is not None:
            scalar("delta", probability("delta", self.delta))

    def describe(self) -> str:
        """Return it in the usual notation."""
        names = {"pure": "-DP (pure)", "gdp": "-GDP", "zcdp": "-zCDP"}
        if self.kind in names:
            return f"{self.value:.6g}{names[self.kind]}"
        if self.kind == "renyi":
            return f"({self.order:.6g}, {self.value:.6g})-Renyi DP"
        return f"({self.value:.6g}, {self.delta:.6g})-DP"


@dataclass(frozen=True)
class Converted:
    """What follows, and from what.

    Attributes:
        level: the guarantee that follows.
        source: where the conversion is taken from.
    """

    level: Level
    source: str

    def describe(self) -> str:
        """Return it in a few words."""
        return f"{self.level.describe()} [{self.source}]"


def convert(
    level: Level,
    kind: str,
    *,
    order: float | None = None,
    delta: float | None = None,
    epsilon: float | None = None,
) -> list[Converted]:
    """Return what a guarantee implies in another kind, the weakest conversion first.

    Args:
        level: what is given.
        kind: what is wanted, one of ``KINDS``.
        order: of the Renyi DP that is wanted.
        delta: at which epsilon is wanted, for ``approximate``.
        epsilon: at which delta is wanted, for ``approximate``, instead of delta.

    Raises:
        InputError: nothing of that kind follows, or a number is missing or outside its range.

    Example:
        >>> from dpbandits.privacy import Level, convert
        >>> [found] = convert(Level("gdp", 1.0), "approximate", delta=1e-6)
        >>> found.describe()
        '(4.88655, 1e-06)-DP [Dong, Roth and Su (2022), tight]'
    """
    choice("kind", kind, KINDS)
    _only("order", order, kind == "renyi", f"a conversion to {kind}")
    if kind == "approximate":
        if (delta is None) == (epsilon is None):
            raise InputError("approximate: delta or epsilon is wanted; allowed: one of them")
        return _to_approximate(level, delta, epsilon)
    _only("delta", delta, False, f"a conversion to {kind}")
    _only("epsilon", epsilon, False, f"a conversion to {kind}")
    if order is not None:
        order = scalar("order", above_one("order", order))
    if level.kind == kind and (order is None or level.order == order):
        return [Converted(level, "as given")]
    rule = _RULES.get((level.kind, kind))
    if rule is None:
        possible = [to for begin, to in _RULES if begin == level.kind]
        allowed = ", ".join(dict.fromkeys([level.kind, *possible, "approximate"]))
        raise InputError(f"{kind}: does not follow from {level.kind}; allowed: {allowed}")
    value, source = rule(level, order)
    return [Converted(Level(kind, value, order), source)]


def _only(name: str, value: object, allowed: bool, owner: str) -> None:
    """Raise InputError unless a number is given exactly where it is allowed."""
    if allowed and value is None:
        raise InputError(f"{name} is missing; it is needed for {owner}")
    if not allowed and value is not None:
        raise InputError(f"{name} is {value!r}; allowed: none for {owner}")


def pure_to_gdp(epsilon: float) -> float:
    """Return the smallest eta of the eta-GDP that epsilon-DP implies.

    2 Phi^-1(e^epsilon/(1 + e^epsilon)): the Gaussian trade-off curve through the kink of that of
    randomised response, which is above it elsewhere by convexity.

    Args:
        epsilon: 0 or above.
    """
    level = scalar("epsilon", non_negative("epsilon", epsilon))
    # Phi(-eta/2) = 1/(1 + e^epsilon), which is erf(eta/(2 sqrt 2)) = tanh(epsilon/2).
    if level < 1.0:
        found = 2.0 * math.sqrt(2.0) * float(erfinv(math.tanh(level / 2.0)))
    else:
        found = -2.0 * float(ndtri_exp(-level - math.log1p(math.exp(-level))))
    return found * (1.0 + 1e-14)


def pure_to_rdp(epsilon: float, alpha: float) -> float:
    """Return the smallest gamma of the (alpha, gamma)-RDP that epsilon-DP implies.

    The Renyi divergence of randomised response, which is the worst case of epsilon-DP:
    ln((e^(alpha epsilon) + e^((1 - alpha) epsilon))/(1 + e^epsilon))/(alpha - 1).

    Source: Mironov (2017), Proposition 5; Kairouz, Oh and Viswanath (2015) that it is the worst.

    Args:
        epsilon: 0 or above.
        alpha: Order, above 1.
    """
    level = scalar("epsilon", non_negative("epsilon", epsilon))
    order = scalar("alpha", above_one("alpha", alpha))
    if order * level > 500.0:
        grown = np.logaddexp(order * level, (1.0 - order) * level)
        excess = float(grown - np.logaddexp(0.0, level))
    else:
        # The same by cosh x - cosh y = 2 sinh((x + y)/2) sinh((x - y)/2), which loses no digits.
        product = math.sinh(order * level / 2.0) * math.sinh((order - 1.0) * level / 2.0)
        excess = math.log1p(2.0 * product / math.cosh(level / 2.0))
    return min(excess / (order - 1.0) * (1.0 + 1e-12), level)


_Rule = Callable[[Level, float | None], tuple[float, str]]
_RULES: dict[tuple[str, str], _Rule] = {
    ("pure", "gdp"): lambda level, order: (
        pure_to_gdp(level.value),
        "trade-off curve of randomised response, tight",
    ),
    ("pure", "zcdp"): lambda level, order: (
        level.value**2 / 2.0,
        "Bun and Steinke (2016), Proposition 3.3",
    ),
    ("pure", "renyi"): lambda level, order: (
        pure_to_rdp(level.value, order or math.inf),
        "Mironov (2017), randomised response, tight",
    ),
    ("gdp", "zcdp"): lambda level, order: (level.value**2 / 2.0, f"{_MIRONOV}, tight"),
    ("gdp", "renyi"): lambda level, order: (
        (order or math.inf) * level.value**2 / 2.0,
        f"{_MIRONOV}, tight",
    ),
    ("zcdp", "renyi"): lambda level, order: ((order or math.inf) * level.value, "definition"),
    ("renyi", "renyi"): lambda level, order: (_lowered(level, order or math.inf), "monotone"),
}


def _lowered(level: Level, order: float) -> float:
    """Return gamma at a smaller order, which is no larger; InputError at a larger one."""
    given = level.order or math.inf
    if order > given:
        raise InputError(f"order is {order:.6g}; allowed: at most the given one, {given:.6g}")
    return level.value


def _to_approximate(level: Level, delta: float | None, epsilon: float | None) -> list[Converted]:
    if level.kind in ("zcdp", "renyi"):
        if delta is not None:
            return _at_delta(level, scalar("delta", probability("delta", delta)))
        assert epsilon is not None
        return [_at_epsilon(level, scalar("epsilon", non_negative("epsilon", epsilon)))]
    source = _GAUSSIAN if level.kind == "gdp" else _PURE
    guarantee = _guarantee(level)
    if delta is not None:
        value, wanted = guarantee.epsilon(delta), delta
        if math.isinf(value):
            raise InputError(f"delta is {delta!r}; allowed: at least that given, {level.delta!r}")
    else:
        assert epsilon is not None
        value, wanted = epsilon, guarantee.delta(epsilon)
    return [_approximate(value, wanted, source)]


def _guarantee(level: Level) -> Guarantee:
    if level.kind == "approximate":
        return Guarantee("approximate", level.value, slack=level.delta or 0.0)
    return Guarantee("gdp" if level.kind == "gdp" else "pure", level.value)


def _approximate(epsilon: float, delta: float, source: str) -> Converted:
    """Return (epsilon, delta)-DP; with no delta at all, or one of 1, that is said in its kind."""
    if delta == 0.0:
        return Converted(Level("pure", epsilon), source)
    if delta >= 1.0:
        raise InputError(f"epsilon is {epsilon!r}; no delta below 1 follows there")
    return Converted(Level("approximate", epsilon, delta=delta), source)


def _at_delta(level: Level, delta: float) -> list[Converted]:
    """Return epsilon by each conversion of Renyi DP."""
    if level.kind == "zcdp":
        root = math.sqrt(-level.value * math.log(delta))
        best = "at the best order"
        found = {
            f"{_MIRONOV}, {best}": level.value + 2.0 * root,
            f"{_IMPROVED}, {best}": improved_zcdp_epsilon(level.value, delta),
            f"{_TIGHT}, {best}": zcdp_epsilon(level.value, delta),
        }
    else:
        order = level.order or math.inf
        found = {
            _MIRONOV: rdp_to_dp_at_order(level.value, order, delta),
            _IMPROVED: improved_rdp_to_dp(level.value, order, delta),
            f"{_TIGHT}, tight": tight_rdp_to_dp(level.value, order, delta),
        }
    return [_approximate(value, delta, source) for source, value in found.items()]


def _at_epsilon(level: Level, epsilon: float) -> Converted:
    if level.kind == "zcdp":
        found = zcdp_delta(level.value, epsilon)
        return _approximate(epsilon, found, f"{_IMPROVED}, at the best order")
    order = level.order or math.inf
    gain = (order - 1.0) * (level.value - epsilon) + (order - 1.0) * math.log1p(-1.0 / order)
    found = math.exp(min(gain - math.log(order), 0.0))
    return _approximate(epsilon, found, _IMPROVED)
