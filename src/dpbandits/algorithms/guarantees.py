"""Guarantees that papers state, with what is known of them where something is played.

Each algorithm says what is known of its guarantee (``base.Known``). It is "refuted" for those
parameters for which two neighbouring inputs and an event exceed it exactly. It is "proved" where a
theorem with its proof, or composition that one can read off the releases, covers what is played;
otherwise "not contradicted" where losses were computed, and "stated" where we show neither.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

from dpbandits.algorithms import REGISTRY, find_definition
from dpbandits.algorithms.base import (
    BY_WORD,
    LARGEST_INTEGER,
    Definition,
    IdentificationAlgorithm,
    Interpretations,
)
from dpbandits.bandits import Bandit
from dpbandits.errors import InputError, require_count
from dpbandits.privacy.guarantee import KINDS, Converted, Guarantee, convert


@dataclass(frozen=True)
class NotStated(Guarantee):
    """No guarantee, which does not say that there is none."""

    @property
    def name(self) -> str:
        """Its label."""
        return "no guarantee stated"


def stated_guarantee(definition: Definition, parameters: Any, horizon: int) -> Guarantee:
    """Return the guarantee over a horizon or budget as its paper states it."""
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
    for known in definition.known:
        is_played = known.interpretations.items() <= played.items()
        has_witness = bandit is None or len(bandit.arms) == 2 or not known.two_arms
        if is_played and has_witness and known.condition(parameters, horizon, bandit):
            return replace(guarantee, status=known.status, basis=known.basis, remark=known.remark)
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
        InputError: anything unknown or out of range.

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
    """Return a guarantee at a delta as one line of text."""
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
