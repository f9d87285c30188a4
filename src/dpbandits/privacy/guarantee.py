"""The guarantee that every algorithm carries: its kind and parameter, and what is known of it."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dpbandits.privacy import gaussian, tight
from dpbandits.privacy._checks import (
    FloatArray,
    Values,
    choice,
    non_negative,
    probability,
    refusal,
    scalar,
    unwrap_like,
)

Kind = Literal["gdp", "pure", "approximate", "renyi", "none"]
Status = Literal["stated", "proved", "not contradicted", "refuted"]
Model = Literal["central", "local"]

KINDS = ("gdp", "pure", "approximate", "renyi", "none")
STATUSES = ("stated", "proved", "not contradicted", "refuted")
MODELS = ("central", "local")

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
        kind: "gdp" (parameter = eta), "pure" (parameter = epsilon of pure DP), "approximate"
            (parameter = epsilon of (epsilon, slack)-DP), "renyi" (parameter = rho of rho-zCDP,
            Renyi DP with rho alpha at every order alpha) or "none".
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

    Raises:
        InputError: The kind or status is unknown, or a number outside its range.
    """

    kind: Kind
    parameter: float = math.inf
    slack: float = 0.0
    status: Status = "stated"
    basis: str = ""
    model: Model = "central"
    stated: str = ""
    remark: str = ""

    def __post_init__(self) -> None:
        """Raise InputError for what is no guarantee."""
        choice("status", self.status, STATUSES)
        choice("model", self.model, MODELS)
        if choice("kind", self.kind, KINDS) != "none":
            scalar("parameter", non_negative("parameter", self.parameter))
        elif self.parameter != math.inf:
            raise refusal("parameter", self.parameter, "left out for kind 'none'")
        if self.kind == "approximate":
            scalar("slack", probability("slack", self.slack))
        elif self.slack != 0.0:
            raise refusal("slack", self.slack, f"left out for kind {self.kind!r}")

    def epsilon(self, delta: Values) -> Values:
        """Return the smallest epsilon such that the kind implies (epsilon, delta)-DP.

        For pure DP this is the tight log(e^p - delta (1 + e^p)) or 0, marginally below p (its
        worst case is randomised response; Kairouz, Oh and Viswanath, 2015); for (p, slack)-DP the
        same at (delta - slack)/(1 - slack), and infinity at a smaller delta than the slack. For
        zCDP it is the smallest that follows order by order (`tight_rdp_to_dp`).

        Args:
            delta: Strictly between 0 and 1. Any shape.

        Raises:
            InputError: delta is not strictly between 0 and 1.
        """
        deltas = probability("delta", delta)
        if self.kind == "none":
            return unwrap_like(delta, np.full(deltas.shape, math.inf))
        if self.kind == "gdp" and self.parameter > 0:
            return unwrap_like(delta, self._gaussian_epsilon(deltas))
        if self.kind == "renyi":
            found = np.vectorize(tight.zcdp_epsilon, otypes=[float])(self.parameter, deltas)
            return unwrap_like(delta, found)
        if self.slack == 0.0:
            return unwrap_like(delta, _response_epsilon(deltas, self.parameter))
        rest = (deltas - self.slack) / (1.0 - self.slack) * (1.0 - _ROUNDING)
        inside = np.where(rest > 0.0, rest, 0.5)
        found = np.where(rest > 0.0, _response_epsilon(inside, self.parameter), self.parameter)
        return unwrap_like(delta, np.where(deltas < self.slack, math.inf, found))

    def delta(self, epsilon: Values) -> Values:
        """Return the smallest delta such that the kind implies (epsilon, delta)-DP.

        Args:
            epsilon: 0 or above. Any shape.

        Raises:
            InputError: An argument is outside its range.
        """
        epsilons = non_negative("epsilon", epsilon)
        if self.kind == "none":
            return unwrap_like(epsilon, np.ones(epsilons.shape))
        if self.kind == "gdp" and self.parameter > 0:
            found = gaussian.delta(epsilons, self.parameter) * (1.0 + self._gaussian_error)
            return unwrap_like(epsilon, np.clip(found, _SMALLEST, 1.0))
        if self.kind == "renyi":
            least = np.vectorize(tight.zcdp_delta, otypes=[float])(self.parameter, epsilons)
            return unwrap_like(epsilon, least)
        found = _response_delta(epsilons, self.parameter)
        if self.slack:
            mixed = (self.slack + (1.0 - self.slack) * found) * (1.0 + _ROUNDING)
            found = np.where(found > 0.0, np.minimum(mixed, 1.0), self.slack)
        return unwrap_like(epsilon, found)

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
        kinds = {
            "gdp": "GDP",
            "pure": "DP (pure)",
            "approximate": f"DP at delta={self.slack:.6g}",
            "renyi": "zCDP (Renyi)",
        }
        return f"{self.parameter:.6g}-{kinds[self.kind]}"

    def describe(self) -> str:
        """Return all that is known of it in one line, for a table or a legend."""
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
