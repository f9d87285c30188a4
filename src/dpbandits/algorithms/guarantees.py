"""What is known of the guarantees that papers state, by algorithm, variant, horizon and instance.

A guarantee is "refuted" for those parameters for which two neighbouring inputs and an event exceed
it exactly. It is "proved" where a theorem with its proof, or composition that one can read off the
releases, covers what is played; otherwise "not contradicted" where losses were computed, and
"stated" where this project shows neither.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from inspect import signature
from typing import Any

import numpy as np

from dpbandits.algorithms import REGISTRY, find_definition
from dpbandits.algorithms.base import (
    BY_WORD,
    LARGEST_INTEGER,
    Definition,
    IdentificationAlgorithm,
    Interpretations,
)
from dpbandits.bandits import Bandit, LinearBandit
from dpbandits.errors import InputError, require_count
from dpbandits.privacy.guarantee import KINDS, Converted, Guarantee, Status, convert
from dpbandits.privacy.thompson import modified_ts_gdp, ts_gaussian_gdp
from dpbandits.privacy.witnesses import (
    abandoned_loss,
    classical_delta,
    release_loss,
    stop_test_loss,
    window_loss,
)

Holds = Callable[[Any, int, Bandit | None], bool]
"""(parameters, horizon or budget, instance or None) -> whether something is known."""


@dataclass(frozen=True)
class NotStated(Guarantee):
    """No guarantee, which does not say that there is none."""

    @property
    def name(self) -> str:
        """Its label."""
        return "no guarantee stated"


@dataclass(frozen=True)
class Entry:
    """What is known of one guarantee."""

    status: Status
    basis: str = ""  # the claim, theorem or argument that shows it
    interpretations: Interpretations = field(default_factory=dict)  # that are played
    condition: Holds = lambda parameters, horizon, bandit: True
    remark: str = ""
    two_arms: bool = False  # whether it is known for two arms only


def _computed(parameters: Any, horizon: int, bandit: Bandit | None) -> bool:
    """Return whether the losses of DP-OD and of pure DP-BAI were computed."""
    return bool(0.0 < parameters.epsilon <= 5.0)


def _oblique(parameters: Any, horizon: int, bandit: Bandit | None) -> bool:
    """Return whether some arm's features have an l1 norm above the largest l2 norm."""
    if not _computed(parameters, horizon, bandit):
        return False
    if not isinstance(bandit, LinearBandit):
        return bandit is None
    features = np.abs(bandit.feature_matrix)
    return bool(features.sum(axis=1).max() > np.hypot.reduce(features, axis=1).max() * (1 + 1e-9))


def _located(parameters: Any, horizon: int, bandit: Bandit | None) -> bool:
    """The released code adds noise of scale 1 in Phase I, a loss of 1 for each reward."""
    return bool(parameters.epsilon < 1.0)


def _located_window(parameters: Any, horizon: int, bandit: Bandit | None) -> bool:
    """The same; the window of one round is played uniformly."""
    return _located(parameters, horizon, bandit) and horizon >= 2


def _exceeds(loss: Callable[[int, float], float]) -> Holds:
    """The loss of a witness exceeds epsilon."""
    return lambda parameters, horizon, bandit: (
        loss(horizon, parameters.epsilon) > parameters.epsilon
    )


def _released(parameters: Any, horizon: int, bandit: Bandit | None) -> bool:
    """The loss of the releases of Phase II exceeds epsilon, with the printed constant."""
    is_printed = not hasattr(parameters, "constant")
    return is_printed and release_loss(horizon, parameters.epsilon) > parameters.epsilon


def _revealed(parameters: Any, horizon: int, bandit: Bandit | None) -> bool:
    """Round K + 1 plays the arm of the largest first reward, which is not protected."""
    return horizon > (2 if bandit is None else len(bandit.arms))


def _classical(parameters: Any, horizon: int, bandit: Bandit | None) -> bool:
    """Two arms in a plane are decided by a difference of means, three along a line by one mean."""
    counts = (1, 2) if bandit is None else (1,)
    needed = (classical_delta(parameters.epsilon, parameters.delta, means) for means in counts)
    return bool(max(needed) > parameters.delta)


def _abandoned(parameters: Any, horizon: int, bandit: Bandit | None) -> bool:
    """Of the two arms the first is never pulled again; of TS b = 0, c = 1."""
    if not hasattr(parameters, "b"):
        return abandoned_loss(horizon, 0, 1.0) > ts_gaussian_gdp(horizon)
    b, c = parameters.b, parameters.c
    return abandoned_loss(horizon, b, c) > modified_ts_gdp(b, c, horizon)


ONE_RELEASE = Entry("proved", "parallel composition: every reward enters one release")
TWO_COUNTERS = Entry("proved", "composition: every reward enters two counters, epsilon/2 each")
EVERY_REWARD = Entry("proved", "Laplace mechanism on every reward")

_FRESH = {"samples": "fresh", "sensitivity": "unit"}
_MEANS = {**_FRESH, "schedule": "consistent", "rounding": "ceiling", "ties": "index"}
_REGRESSION = {
    "design_rounding": "ceiling",
    "norm_over": "all",
    "basis": "orthonormal",
    "sensitivity": "unit",
    "ties": "index",
}
_PRINTED = {
    "cap": "none",
    "stop_test": "private",
    "refreshed": "pulled",
    "threshold": "1600",
    "threshold_log": "horizon",
    "index_log": "horizon",
    "start": "carried",
    "pseudo_pull": "counted",
    "release_log": "natural",
    "root": "outside",
}
_RELEASED_CODE = {
    **_PRINTED,
    "cap": "root",
    "stop_test": "clean",
    "threshold_log": "window",
    "index_log": "window",
    "start": "zeros",
    "ties": "lowest",
}
_REPAIRED = {"cap": "root", "stop_test": "off", "release_log": "base2"}
"""Phase I has W rounds, so that a reward enters log2 T releases at most, by any ``start``."""

_TWO_ARMS = "the witness has two arms"
_UNCOMPUTED = "losses were computed at the default interpretations, epsilon up to 5"
_ONE_MORE = "the lemma has n + 1 in the place of n pulls"
_WRAPPER = "our wrapper around the released code; no anytime code was released"
_ELSEWHERE = "NCB-C15 refutes it for other horizons, epsilons, constants or numbers of arms"

KNOWN: Mapping[str, tuple[Entry, ...]] = {
    "ts-gaussian": (
        Entry("proved", "ts-is-dp, Lemma 4", {"count": "n+1"}),
        Entry("refuted", "DTU-F8", {"count": "n"}, _abandoned, _TWO_ARMS, two_arms=True),
        Entry("stated", remark=_ONE_MORE),
    ),
    "m-ts-gaussian": (
        Entry("proved", "ts-is-dp, Lemma 5", {"count": "n+1"}),
        Entry("refuted", "DTU-F8", {"count": "n"}, _abandoned, _TWO_ARMS, two_arms=True),
        Entry("stated", remark=_ONE_MORE),
    ),
    "dp-ts-ucb": (
        Entry("proved", "dp-ts-ucb, Theorem 4.4", {"renewal": "batch"}),
        Entry("stated", remark="the theorem has budgets that are renewed by batch"),
    ),
    "dp-se": (ONE_RELEASE,),
    "anytime-lazy-ucb": (ONE_RELEASE,),
    "lazy-dp-ts": (ONE_RELEASE,),
    "dp-ts": (TWO_COUNTERS,),
    "adap-ucb": (
        replace(ONE_RELEASE, interpretations={"first_pulls": "private"}),
        Entry(
            "refuted",
            "round K + 1 plays the arm of the largest first reward, released without noise",
            {"first_pulls": "raw", "order": "index"},
            _revealed,
        ),
        Entry("stated", remark="the first rewards are released without noise"),
    ),
    "ldp-ucb-l": (EVERY_REWARD,),
    "dp-bai": (
        Entry("not contradicted", "BAI-C14a", _MEANS, _computed),
        Entry("stated", remark=_UNCOMPUTED),
    ),
    "baseline": (
        Entry("not contradicted", "BAI-C14b", {**_MEANS, "sizes": "stated"}, _computed),
        Entry("stated", remark=_UNCOMPUTED),
    ),
    "dp-od": (
        Entry(
            "refuted",
            "BAI-C14c",
            {**_REGRESSION, "norm": "l2"},
            _oblique,
            "with a Euclidean L, which the paper does not specify; the witness has arms at 46 and "
            "224 degrees, none was computed for others",
        ),
        Entry(
            "stated",
            interpretations={"norm": "l2"},
            remark="BAI-C14c refutes it with a Euclidean L for arms that are not along an axis",
        ),
        Entry(
            "not contradicted",
            "BAI-C14c",
            {**_REGRESSION, "norm": "l1"},
            _computed,
            "too little noise where a reduction of the dimension turns the basis",
        ),
        Entry("stated", remark=_UNCOMPUTED),
    ),
    "dp-bai-gauss": (
        Entry(
            "refuted",
            "BAI-C24",
            {**_MEANS, "calibration": "classical"},
            _classical,
            "the witness has three arms along one line, or two in a plane",
        ),
        Entry(
            "proved",
            "parallel composition of analytic Gaussian mechanisms, Balle and Wang (2018)",
            {**_FRESH, "calibration": "analytic"},
        ),
        Entry(
            "stated",
            remark="its noise is known to suffice for epsilon below 1; no witness refutes it here",
        ),
    ),
    "gdp-ncb": (
        Entry("refuted", "NCB-C15", _PRINTED, _exceeds(stop_test_loss)),
        Entry("refuted", "NCB-C15", _RELEASED_CODE, _released, _TWO_ARMS, True),
        Entry("proved", "NCB-C15", _REPAIRED),
        Entry("stated", remark=_ELSEWHERE),
    ),
    "anytime-gdp-ncb": (
        Entry(
            "refuted", "NCB-C15, in one window", _PRINTED, _exceeds(window_loss), _TWO_ARMS, True
        ),
        Entry("proved", "NCB-C15, windows having no reward in common", _REPAIRED),
        Entry("stated", remark=_ELSEWHERE),
    ),
    "ldp-ncb": (
        Entry("proved", "NCB-C16", {"exploration_noise": "scaled"}),
        Entry("refuted", "NCB-C16", condition=_located, remark="Phase I has noise of scale 1"),
        Entry("stated", remark="NCB-C16 refutes it below epsilon = 1"),
    ),
    "anytime-ldp-ncb": (
        Entry("proved", "NCB-C16, in every window", {"exploration_noise": "scaled"}),
        Entry("refuted", "NCB-C16, in every window", condition=_located_window, remark=_WRAPPER),
        Entry("stated", remark="NCB-C16 refutes it below epsilon = 1"),
    ),
}
"""Algorithm -> what is known; the first entry that applies counts, and one always does."""


def stated_guarantee(definition: Definition, parameters: Any, horizon: int) -> Guarantee:
    """Return the guarantee over a horizon or budget as it is stated, whatever is known of it."""
    given: Any = definition.guarantee
    if given is None:
        return NotStated("none")
    if isinstance(given, str):
        numbers = [float(getattr(parameters, name)) for name in BY_WORD[given]]
        if not numbers or math.isinf(numbers[0]):  # an infinite epsilon: no noise
            return Guarantee("none")
        return Guarantee(given, numbers[0], slack=numbers[1] if numbers[1:] else 0.0)  # type: ignore[arg-type]
    if callable(given):
        try:
            given = given(parameters, horizon)
        except InputError:
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise InputError(f"{definition.id}: guarantee fails: {reason}") from error
    if not isinstance(given, Guarantee):
        raise InputError(f"{definition.id}: guarantee is {given!r}; allowed: a Guarantee")
    return given


def guarantee_of(
    definition: Definition,
    parameters: Any,
    horizon: int,
    *,
    variant: str = "as-written",
    interpretations: Interpretations | None = None,
    bandit: Bandit | None = None,
) -> Guarantee:
    """Return the guarantee, with what is known of it for a variant, interpretations and instance.

    Of an algorithm that is not in the registry nothing is known; without an instance it is that for
    all.
    """
    guarantee = stated_guarantee(definition, parameters, horizon)
    if guarantee.kind == "none":
        return guarantee
    is_ours = REGISTRY.get(definition.id) is definition
    if definition.stated:
        # A changed copy is not what the authors of the original state something about.
        is_copied = definition.stated in {known.stated for known in REGISTRY.values()}
        stated = definition.stated if is_ours or not is_copied else ""
        where: Any = {"model": definition.model, "stated": stated}
        guarantee = replace(guarantee, **where)
    if not is_ours:
        return guarantee
    played = definition.interpretations_from(interpretations or {}, variant)
    # Where noise is scaled to the support, the proofs hold for larger rewards, too.
    is_scaled = played.get("sensitivity") == "support"
    if bandit is not None and bandit.largest_reward > 1.0 and not is_scaled:
        remark = f"rewards reach {bandit.largest_reward:.6g}; every proof has at most 1"
        return Guarantee("none", remark=remark)
    for entry in KNOWN.get(definition.id, ()):
        is_played = entry.interpretations.items() <= played.items()
        has_witness = bandit is None or len(bandit.arms) == 2 or not entry.two_arms
        if is_played and has_witness and entry.condition(parameters, horizon, bandit):
            return replace(guarantee, status=entry.status, basis=entry.basis, remark=entry.remark)
    return guarantee


def guarantee(
    algorithm: str | Definition,
    *,
    horizon: float,
    params: Mapping[str, Any] | None = None,
    variant: str = "as-written",
    interpretations: Mapping[str, str] | None = None,
    **parameters: Any,
) -> Guarantee:
    """Return what an algorithm guarantees over a horizon or budget, for all instances.

    That of one instance is ``dpbandits.simulate(...).guarantee``.

    Args:
        algorithm: an id (``dpbandits list``) or an algorithm of your own.
        horizon: number of rounds, or budget of pulls, at least 1.
        params: the algorithm's parameters.
        variant: ``as-written``, ``as-coded`` or ``repaired``, where the algorithm has it.
        interpretations: named interpretations that depart from their defaults.
        parameters: parameters of the algorithm by keyword, such as ``epsilon=1.0``.

    Raises:
        InputError: anything unknown or out of range, in one line.

    Example:
        >>> import dpbandits
        >>> found = dpbandits.guarantee("ldp-ncb", epsilon=0.5, horizon=1000)
        >>> found.model, found.status, found.basis
        ('local', 'proved', 'NCB-C16')
    """
    definition = find_definition(algorithm)
    values = definition.merged_parameters(params, parameters, ARGUMENTS)
    return guarantee_of(
        definition,
        definition.parameters_from(values),
        require_count("horizon", horizon, 1, LARGEST_INTEGER),
        variant=definition.require_variant(variant),
        interpretations=definition.interpretations_from(interpretations or {}, variant),
    )


ARGUMENTS = [name for name in signature(guarantee).parameters if name != "parameters"]
"""What ``guarantee`` takes beside the parameters of algorithms."""


def at_delta(found: Guarantee, delta: float) -> str:
    """Return what a guarantee is at a delta, in one line."""
    epsilon = found.epsilon(delta)
    if found.kind == "none":
        return found.describe()
    if found.status == "refuted" or math.isinf(epsilon):
        return f"{found.describe()}; nothing follows at delta={delta:.6g}"
    condition = "" if found.status == "proved" else ", if it holds"
    return f"{found.describe()}; ({epsilon:.6g}, {delta:.6g})-DP{condition}"


def listed(definition: Definition) -> list[str]:
    """Return a line for each variant: what it guarantees at the example's parameters."""
    identifies = isinstance(definition, IdentificationAlgorithm)
    example, horizon = definition.example, 1000 if identifies else 10**8
    where = ", ".join(f"{name}={value}" for name, value in {**example, "T": horizon}.items())
    return [
        f"guarantee {variant} ({where}): "
        + guarantee(definition, params=example, horizon=horizon, variant=variant).describe()
        for variant in definition.variants
    ]


def conversion(
    given: Mapping[str, float], kind: str, wanted: Mapping[str, float]
) -> tuple[Guarantee, list[Converted]]:
    """Return a guarantee from numbers by name, and what it implies in another kind."""
    kinds = [name for name in given if name in KINDS]
    if len(kinds) != 1:
        words = " ".join(f"{name}={value:g}" for name, value in given.items()) or "nothing"
        allowed = ", ".join(f"{name}=VALUE" for name in KINDS)
        raise InputError(f"given is {words}; allowed: one of {allowed}")
    for name in given:
        if name not in (kinds[0], "order", "delta"):
            raise InputError.unknown("given", name, (kinds[0], "order", "delta"))
    for name in wanted:
        if name not in ("order", "delta", "epsilon"):
            raise InputError.unknown("to", name, ("order", "delta", "epsilon"))
    slack, order = given.get("delta", 0.0), given.get("order")
    stated = Guarantee(kinds[0], given[kinds[0]], slack, order=order)
    return stated, convert(stated, kind, **wanted)
