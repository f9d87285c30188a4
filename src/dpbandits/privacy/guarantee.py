"""Guarantees: of an algorithm, with what is known of it, and what one implies in another kind."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from dpbandits.errors import InputError
from dpbandits.privacy import gaussian
from dpbandits.privacy._checks import (
    FloatArray,
    Numbers,
    above_one,
    choice,
    non_negative,
    probability,
    refusal,
    scalar,
    unwrap,
)
from dpbandits.privacy.conversions import (
    improved_rdp_to_dp,
    improved_zcdp_epsilon,
    pure_to_gdp,
    pure_to_rdp,
    rdp_to_dp,
    rdp_to_dp_at_order,
    zcdp_delta,
)

KINDS = ("pure", "gdp", "zcdp", "renyi", "approximate")
"""Kinds of guarantees; ``_RULES`` says which follow from which."""

Status = Literal["stated", "proved", "not contradicted", "refuted"]
Model = Literal["central", "local"]

_SMALLEST = 5e-324
# The relative error of gaussian.delta is below 1e-9, and below 1e-12 from this eta on.
_EXACT_ETA = 1e-2
_ROUNDING = 8 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class Guarantee:
    """What an algorithm guarantees for its whole output, and what is known of that.

    Conversions are never below the true value: what rounding leaves open is added, some units in
    the last place (for GDP, a relative 1e-9 of delta below eta = 0.01 and 1e-12 from there on).

    Attributes:
        kind: "pure" (parameter = epsilon of pure DP), "gdp" (eta), "zcdp" (rho: Renyi DP with
            rho alpha at every order alpha), "renyi" (gamma at one order), "approximate" (epsilon
            of (epsilon, slack)-DP) or "none".
        parameter: 0 (the output does not depend on the rewards) or above; left out for "none",
            where it is infinite.
        slack: delta of (epsilon, delta)-DP, strictly between 0 and 1; 0 for the other kinds.
        status: "stated" by the paper; "proved" or "not contradicted" by this project; "refuted" by
            an exact witness: two neighbouring inputs and an event that exceed the guarantee.
        basis: where that is shown, a claim of this project or a theorem; left out where it is
            only stated.
        model: "central" (the algorithm sees rewards, its output is private) or "local" (every
            reward is private before the algorithm sees it).
        stated: where it is stated.
        remark: what else one should know of it.
        order: of "renyi", above 1.

    Raises:
        InputError: The kind or status is unknown, or a number outside its range.
    """

    kind: str
    parameter: float = math.inf
    slack: float = 0.0
    status: Status = "stated"
    basis: str = ""
    model: Model = "central"
    stated: str = ""
    remark: str = ""
    order: float | None = None

    def __post_init__(self) -> None:
        """Raise InputError for what is no guarantee."""
        choice("status", self.status, get_args(Status))
        choice("model", self.model, get_args(Model))
        if choice("kind", self.kind, (*KINDS, "none")) != "none":
            scalar("parameter", non_negative("parameter", self.parameter))
        elif self.parameter != math.inf:
            raise refusal("parameter", self.parameter, "left out for kind 'none'")
        _only("order", self.order, self.kind == "renyi", f"kind {self.kind}")
        if self.order is not None:
            scalar("order", above_one("order", self.order))
        if self.kind == "approximate":
            name = "slack (the delta)"
            scalar(name, probability(name, self.slack))
        elif self.slack != 0.0:
            raise refusal("slack", self.slack, f"left out for kind {self.kind!r}")

    def epsilon(self, delta: ArrayLike) -> Numbers:
        """Return the smallest epsilon such that the kind implies (epsilon, delta)-DP.

        For pure DP this is the tight log(e^p - delta (1 + e^p)) or 0, marginally below p (its
        worst case is randomised response; Kairouz, Oh and Viswanath, 2015); for (p, slack)-DP the
        same at (delta - slack)/(1 - slack), and infinity at a smaller delta than the slack. For
        Renyi DP it is that of `improved_rdp_to_dp`, and the smallest over all orders for zCDP.

        Args:
            delta: Strictly between 0 and 1. Any shape.

        Raises:
            InputError: delta is not strictly between 0 and 1.
        """
        deltas = probability("delta", delta)
        if self.kind == "none":
            return unwrap(np.full(deltas.shape, math.inf))
        if self.kind == "gdp" and self.parameter > 0:
            return unwrap(self._gaussian_epsilon(deltas))
        if self.kind == "zcdp":
            return unwrap(_each(improved_zcdp_epsilon, self.parameter, deltas))
        if self.order is not None:
            return unwrap(_each(improved_rdp_to_dp, self.parameter, self.order, deltas))
        if self.slack == 0.0:
            return unwrap(_response_epsilon(deltas, self.parameter))
        rest = (deltas - self.slack) / (1.0 - self.slack) * (1.0 - _ROUNDING)
        inside = np.where(rest > 0.0, rest, 0.5)
        found = np.where(rest > 0.0, _response_epsilon(inside, self.parameter), self.parameter)
        return unwrap(np.where(deltas < self.slack, math.inf, found))

    def delta(self, epsilon: ArrayLike) -> Numbers:
        """Return the smallest delta such that the kind implies (epsilon, delta)-DP.

        Args:
            epsilon: 0 or above. Any shape.

        Raises:
            InputError: An argument is outside its range.
        """
        epsilons = non_negative("epsilon", epsilon)
        if self.kind == "none":
            return unwrap(np.ones(epsilons.shape))
        if self.kind == "gdp" and self.parameter > 0:
            found = gaussian.delta(epsilons, self.parameter) * (1.0 + self._gaussian_error)
            return unwrap(np.clip(found, _SMALLEST, 1.0))
        if self.kind == "zcdp":
            return unwrap(_each(zcdp_delta, self.parameter, epsilons))
        if self.order is not None:
            less = self.order - 1.0
            gain = less * (self.parameter - epsilons) + less * math.log1p(-1.0 / self.order)
            return unwrap(np.exp(np.minimum(gain - math.log(self.order), 0.0)))
        found = _response_delta(epsilons, self.parameter)
        if self.slack:
            mixed = (self.slack + (1.0 - self.slack) * found) * (1.0 + _ROUNDING)
            found = np.where(found > 0.0, np.minimum(mixed, 1.0), self.slack)
        return unwrap(found)

    @property
    def _gaussian_error(self) -> float:
        return 1e-12 if self.parameter >= _EXACT_ETA else 1e-9

    def _gaussian_epsilon(self, deltas: FloatArray) -> FloatArray:
        """Return epsilon at a delta that is smaller by its possible error."""
        found = gaussian.epsilon(deltas * (1.0 - self._gaussian_error), self.parameter)
        raised = np.asarray(found) * (1.0 + 1e-13)
        return np.where(deltas >= self.delta(0.0), 0.0, raised)

    @property
    def name(self) -> str:
        """Its kind and parameter in a few words, such as "0.5-DP (pure)"."""
        if self.kind == "none":
            return "no privacy guarantee"
        number = f"{self.parameter:.6g}"
        return {
            "pure": f"{number}-DP (pure)",
            "gdp": f"{number}-GDP",
            "zcdp": f"{number}-zCDP",
            "renyi": f"({self.order or 0.0:.6g}, {number})-Renyi DP",
            "approximate": f"({number}, {self.slack:.6g})-DP",
        }[self.kind]

    def describe(self) -> str:
        """Return all that is known of it as one line of text, for a table or a legend."""
        words = [self.name]
        if self.stated:
            words[0] += f", {self.model} model"
            words.append(f"stated by {self.stated}")
        if self.status != "stated":
            words.append(f"{self.status} ({self.basis})")
        elif self.stated:
            words.append("neither proved nor refuted here")
        words += [self.remark] if self.remark else []
        return "; ".join(words)


def _each(function: Callable[..., float], *arguments: ArrayLike) -> FloatArray:
    """Return a conversion of Renyi DP at each number."""
    return np.asarray(np.vectorize(function, otypes=[float])(*arguments))


def _response_delta(epsilons: FloatArray, parameter: float) -> FloatArray:
    """Return (e^p - e^epsilon)/(1 + e^p), rounded up; 0 from p on."""
    gap = np.minimum(epsilons - parameter, 0.0)
    found = np.abs(np.expm1(gap)) / (1.0 + math.exp(-parameter)) * (1.0 + _ROUNDING)
    return np.where(gap < 0.0, np.minimum(np.nextafter(found, 1.0), 1.0), 0.0)


def _response_epsilon(deltas: FloatArray, parameter: float) -> FloatArray:
    """Return log(e^p - delta (1 + e^p)), rounded up; 0 from the delta of epsilon = 0 on.

    Below p = 1 from e^p - 1, above from 1 - delta: neither loses digits of p.
    """
    needed = deltas < _response_delta(np.zeros(()), parameter)
    if parameter < 1.0:
        grown = math.expm1(parameter)
        found = np.log1p(np.where(needed, np.maximum(grown - deltas * (2.0 + grown), 0.0), 0.0))
    else:
        kept = (1.0 - deltas) - deltas * math.exp(-parameter)
        found = parameter + np.log(np.where(needed, kept, 1.0))
    raised = found + np.maximum(_ROUNDING * parameter, _SMALLEST)
    return np.where(needed, np.clip(raised, 0.0, parameter), 0.0)


_PURE = "Kairouz, Oh and Viswanath (2015), tight"
_MIRONOV = "Mironov (2017)"
_TO_APPROXIMATE = {
    "pure": _PURE,
    "gdp": "Dong, Roth and Su (2022), tight",
    "zcdp": "Canonne, Kamath and Steinke (2020), at the best order",
    "renyi": "Canonne, Kamath and Steinke (2020)",
    "approximate": _PURE,
}
"""Kind -> the source of the conversion to (epsilon, delta)-DP."""


@dataclass(frozen=True)
class Converted:
    """What follows, and from what."""

    guarantee: Guarantee
    source: str  # where the conversion is taken from

    def describe(self) -> str:
        """Return it in a few words."""
        return f"{self.guarantee.name} [{self.source}]"


def convert(
    given: Guarantee,
    kind: str,
    *,
    order: float | None = None,
    delta: float | None = None,
    epsilon: float | None = None,
) -> list[Converted]:
    """Return what a guarantee implies in another kind, the weakest conversion first.

    Args:
        given: what is given.
        kind: what is wanted, one of ``KINDS``.
        order: of the Renyi DP that is wanted.
        delta: at which epsilon is wanted, for ``approximate``.
        epsilon: at which delta is wanted, for ``approximate``, instead of delta.

    Raises:
        InputError: nothing is given (kind ``none``), nothing of that kind follows, or a number is
            missing or outside its range.

    Example:
        >>> from dpbandits.privacy import Guarantee, convert
        >>> [found] = convert(Guarantee("gdp", 1.0), "approximate", delta=1e-6)
        >>> found.describe()
        '(4.88655, 1e-06)-DP [Dong, Roth and Su (2022), tight]'
    """
    if not isinstance(given, Guarantee):
        raise refusal("given", given, "a Guarantee, as Guarantee('pure', 1.0)")
    choice("given.kind", given.kind, KINDS)
    choice("kind", kind, KINDS)
    _only("order", order, kind == "renyi", f"a conversion to {kind}")
    if kind == "approximate":
        if (delta is None) == (epsilon is None):
            raise InputError("approximate: delta or epsilon is wanted; allowed: one of them")
        if delta is not None:
            delta = scalar("delta", probability("delta", delta))
        if epsilon is not None:
            epsilon = scalar("epsilon", non_negative("epsilon", epsilon))
        return _to_approximate(given, delta, epsilon)
    _only("delta", delta, False, f"a conversion to {kind}")
    _only("epsilon", epsilon, False, f"a conversion to {kind}")
    if order is not None:
        order = scalar("order", above_one("order", order))
    if given.kind == kind and (order is None or given.order == order):
        return [Converted(given, "as given")]
    rule = _RULES.get((given.kind, kind))
    if rule is None:
        possible = [to for begin, to in _RULES if begin == given.kind]
        allowed = ", ".join(dict.fromkeys([given.kind, *possible, "approximate"]))
        raise InputError(f"{kind}: does not follow from {given.kind}; allowed: {allowed}")
    if given.order and order and order > given.order:
        raise InputError(f"order is {order:.6g}; allowed: at most the given one, {given.order:.6g}")
    value, source = rule[0](given.parameter, order or math.inf), rule[1]
    return [Converted(Guarantee(kind, value, order=order), source)]


def _only(name: str, value: object, allowed: bool, owner: str) -> None:
    """Raise InputError unless a number is given exactly where it is allowed."""
    if allowed and value is None:
        raise InputError(f"{name} is missing; it is needed for {owner}")
    if not allowed and value is not None:
        raise InputError(f"{name} is {value!r}; allowed: none for {owner}")


_RULES: dict[tuple[str, str], tuple[Callable[[float, float], float], str]] = {
    ("pure", "gdp"): (
        lambda epsilon, order: pure_to_gdp(epsilon),
        "trade-off curve of randomised response, tight",
    ),
    ("pure", "zcdp"): (
        lambda epsilon, order: epsilon**2 / 2.0,
        "Bun and Steinke (2016), Proposition 3.3",
    ),
    ("pure", "renyi"): (pure_to_rdp, f"{_MIRONOV}, randomised response, tight"),
    ("gdp", "zcdp"): (lambda eta, order: eta**2 / 2.0, f"{_MIRONOV}, tight"),
    ("gdp", "renyi"): (lambda eta, order: order * eta**2 / 2.0, f"{_MIRONOV}, tight"),
    ("zcdp", "renyi"): (lambda rho, order: order * rho, "definition"),
    ("renyi", "renyi"): (lambda gamma, order: gamma, "monotone"),
}
"""(given, wanted) -> the wanted number by the given one and an order, and its source."""


def _to_approximate(
    given: Guarantee, delta: float | None, epsilon: float | None
) -> list[Converted]:
    source = _TO_APPROXIMATE[given.kind]
    if delta is None:
        return [_approximate(epsilon or 0.0, given.delta(epsilon or 0.0), source)]
    value = given.epsilon(delta)
    if math.isinf(value):
        raise InputError(f"delta is {delta!r}; allowed: at least that given, {given.slack!r}")
    found = [_approximate(value, delta, source)]
    if given.kind == "zcdp":
        weaker = rdp_to_dp(given.parameter, delta) if given.parameter else 0.0
        found.insert(0, _approximate(weaker, delta, f"{_MIRONOV}, at the best order"))
    elif given.order is not None:
        weaker = rdp_to_dp_at_order(given.parameter, given.order, delta)
        found.insert(0, _approximate(weaker, delta, _MIRONOV))
    return found


def _approximate(epsilon: float, delta: float, source: str) -> Converted:
    """Return (epsilon, delta)-DP, as pure DP where delta is 0; InputError where delta is 1."""
    if delta == 0.0:
        return Converted(Guarantee("pure", epsilon), source)
    if delta >= 1.0:
        raise InputError(f"epsilon is {epsilon!r}; no delta below 1 follows there")
    return Converted(Guarantee("approximate", epsilon, delta), source)
