"""What this project found out about the guarantees that papers state.

Each entry is of one variant with its own readings, and says nothing of others. A guarantee is
"refuted" for those parameters for which two neighbouring inputs and an event exceed it exactly.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from scipy.special import ndtr

from dpbandits.privacy.guarantee import Guarantee, Status

Readings = Mapping[str, str]
Holds = Callable[[Any, int], bool]

_COMPUTED = 5.0
"""Up to this epsilon the losses of DP-OD and of pure DP-BAI were computed."""


@dataclass(frozen=True)
class Entry:
    """What is known of one guarantee.

    Attributes:
        status: where the condition holds.
        basis: the claim that shows it.
        condition: (parameters, horizon or budget) -> whether it is known for these.
        readings: those that differ from the defaults of the variant.
        variant: of the algorithm.
    """

    status: Status
    basis: str
    condition: Holds
    readings: Readings = field(default_factory=dict)
    variant: str = "as-written"


def _always(parameters: Any, horizon: int) -> bool:
    return True


def _computed(parameters: Any, horizon: int) -> bool:
    return bool(0.0 < parameters.epsilon <= _COMPUTED)


def _located(parameters: Any, horizon: int) -> bool:
    """The released code adds noise of scale 1 in Phase I, a loss of 1 for each reward."""
    return bool(parameters.epsilon < 1.0)


def _stopped(parameters: Any, horizon: int) -> bool:
    return bool(stop_test_loss(horizon, parameters.epsilon) > parameters.epsilon)


def _released(parameters: Any, horizon: int) -> bool:
    return bool(release_loss(horizon, parameters.epsilon) > parameters.epsilon)


def _classical(parameters: Any, horizon: int) -> bool:
    return bool(classical_delta(parameters.epsilon, parameters.delta) > parameters.delta)


KNOWN: Mapping[str, tuple[Entry, ...]] = {
    "dp-bai": (Entry("not contradicted", "BAI-C14a", _computed),),
    "baseline": (Entry("not contradicted", "BAI-C14b", _computed),),
    "dp-od": (
        Entry("refuted", "BAI-C14c", _computed),
        Entry("not contradicted", "BAI-C14c", _computed, {"norm": "l1"}),
    ),
    "dp-bai-gauss": (Entry("refuted", "BAI-C24", _classical),),
    "gdp-ncb": (
        Entry("refuted", "NCB-C15", _stopped),
        Entry("refuted", "NCB-C15", _released, variant="as-coded"),
        Entry("proved", "NCB-C15", _always, variant="repaired"),
    ),
    "ldp-ncb": (
        Entry("proved", "NCB-C16", _always),
        Entry("refuted", "NCB-C16", _located, variant="as-coded"),
        Entry("proved", "NCB-C16", _always, variant="repaired"),
    ),
}
"""Algorithm -> what is known; the first entry that applies counts."""


@dataclass(frozen=True)
class Known:
    """The guarantee of an algorithm as a function, with what is known of it.

    Attributes:
        algorithm: its id.
        stated: (parameters, horizon or budget) -> the guarantee that the paper states.
        readings: name -> allowed values, the default first.
        presets: variant -> the readings that it changes.
    """

    algorithm: str
    stated: Callable[[Any, int], Guarantee]
    readings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    presets: Mapping[str, Readings] = field(default_factory=dict)

    def __call__(
        self,
        parameters: Any,
        horizon: int,
        variant: str = "as-written",
        readings: Readings | None = None,
    ) -> Guarantee:
        """Return the guarantee, with its status for a variant and readings.

        Args:
            parameters: of the algorithm.
            horizon: horizon or budget.
            variant: one of the algorithm's.
            readings: those that differ from the defaults of the variant.
        """
        guarantee = self.stated(parameters, horizon)
        if guarantee.kind == "none" or guarantee.status != "stated":
            return guarantee
        played = self._all(variant, readings or {})
        for entry in KNOWN.get(self.algorithm, ()):
            alike = played == self._all(entry.variant, entry.readings)
            if alike and entry.condition(parameters, horizon):
                return replace(guarantee, status=entry.status, basis=entry.basis)
        return guarantee

    def _all(self, variant: str, readings: Readings) -> Readings:
        defaults = {name: allowed[0] for name, allowed in self.readings.items()}
        return {**defaults, **self.presets.get(variant, {}), **readings}


def _log_cdf(value: float) -> float:
    """Return the logarithm of the standard Laplace distribution function."""
    if value < 0.0:
        return math.log(0.5) + value
    return math.log1p(-0.5 * math.exp(-value))


def stop_test_loss(horizon: int, epsilon: float) -> float:
    """Return the privacy loss of GDP-NCB as written in the stop test of Phase I, two arms.

    Arms 1, 2, 1, 2, ..., 1, where rewards of arm 1 are 1 but for the first, which is 0 or 1, and
    those of arm 2 are 0: ln F(TH/b) - ln F((TH - n)/b) with n = (T - 1)/2 pulls, or -inf where
    these do not reach the threshold TH; b = ln T / epsilon. Derived in docs/privacy-witnesses.md.

    Args:
        horizon: T.
        epsilon: above 0.
    """
    log = math.log(horizon)
    scale, threshold = log / epsilon, 1600.0 * (9.0 * log + log**2 / epsilon)
    pulls = (horizon - 1) // 2
    if pulls < threshold:
        return -math.inf
    # Below the threshold the event is one of two that the formula adds up.
    slack = 2.0 * math.exp(-threshold / scale)
    return _log_cdf(threshold / scale) - _log_cdf((threshold - pulls) / scale) - slack


def release_loss(horizon: int, epsilon: float) -> float:
    """Return a privacy loss of GDP-NCB as coded in the releases of Phase II, two arms.

    Phase I of W rounds, all of reward 0 but one of arm 2, which is 0 or 1; then arm 2, whose
    rewards are 0, to the end. The product over the releases that a decision follows of
    F((1 - n theta)/b)/F(-n theta/b). Derived in docs/privacy-witnesses.md.

    Args:
        horizon: T.
        epsilon: above 0.
    """
    rounds = math.isqrt(horizon) + 1
    log, scale = math.log(rounds), math.log(horizon) / epsilon
    bonus = 3.1 * log**2 / epsilon + 4.0 * math.sqrt(6.2 / epsilon) * log**1.5
    first, second = rounds // 2 + 1, rounds - rounds // 2 - 1
    level, left, length, loss = bonus / (first + 1), horizon - rounds, 2, 0.0
    while left > length:
        pulls = second + length
        left -= length
        lacking = level - bonus / pulls
        if lacking >= 0.0:
            width = 6.0 * math.sqrt(2.0 * log / pulls)
            mean = (2.0 * lacking / (width + math.sqrt(width**2 + 4.0 * lacking))) ** 2
            if mean >= 1.0:
                break
            needed = pulls * mean / scale
            loss += _log_cdf(1.0 / scale - needed) - _log_cdf(-needed)
        length *= 2
    return loss


def classical_delta(epsilon: float, delta: float) -> float:
    """Return the delta that DP-BAI-Gauss needs at epsilon where a noisy mean decides by its sign.

    The largest over s >= 0 of Phi(-s/sigma) - e^epsilon Phi(-(s + 1)/sigma), the rewards of the
    tables summing to s and s + 1, sigma = sqrt(2 ln(1.25/delta))/epsilon (Algorithm 2, line 5).

    Args:
        epsilon: above 0.
        delta: between 0 and 1.
    """
    sigma = math.sqrt(2.0 * math.log(1.25 / delta)) / epsilon

    def needed(s: float) -> float:
        return float(ndtr(-s / sigma) - math.exp(epsilon) * ndtr(-(s + 1.0) / sigma))

    # The derivative in s is positive below sigma^2 epsilon - 1/2 and negative above.
    return needed(max(sigma**2 * epsilon - 0.5, 0.0))
