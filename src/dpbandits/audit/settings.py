"""Validation of what is audited: algorithm, notion of neighbours, and what is claimed."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpbandits.algorithms import REGISTRY, Definition, find_definition
from dpbandits.algorithms.base import IdentificationAlgorithm
from dpbandits.algorithms.guarantees import guarantee_of
from dpbandits.audit.blackbox.algorithms import Setting
from dpbandits.audit.blackbox.choice import Measure
from dpbandits.audit.tables import LOCAL, PULL_TABLE, ROUND
from dpbandits.errors import InputError

MAXIMAL_ARMS = 100
MAXIMAL_HORIZON = 1_000_000

RENYI_DELTA = 1e-6
"""Where a claim is in Renyi DP, epsilon is bounded at this delta."""


def setting_of(
    algorithm: str | Definition,
    horizon: int,
    params: Mapping[str, Any] | None = None,
    variant: str = "as-written",
    interpretations: Mapping[str, str] | None = None,
    arms: int = 2,
    features: ArrayLike | None = None,
) -> Setting:
    """Return what is audited, validated; ``dpbandits.audit`` says what the arguments are.

    Raises:
        InputError: anything unknown or out of range.
    """
    definition = find_definition(algorithm)
    if definition.id in REGISTRY and definition is not REGISTRY[definition.id]:
        raise InputError(f"algorithm: id {definition.id!r} is taken; allowed: an id of your own")
    return Setting(
        definition=definition,
        parameters=definition.parameters_from(params or {}),
        variant=definition.require_variant(variant),
        interpretations=definition.interpretations_from(interpretations or {}, variant),
        arms=_count("arms", arms, MAXIMAL_ARMS),
        horizon=_count("horizon", horizon, MAXIMAL_HORIZON),
        features=_features(definition, features),
    )


def _count(key: str, value: object, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 2 <= value <= most:
        raise InputError(f"{key} is {value!r}; allowed: an integer from 2 to {most}")
    return int(value)


def _features(
    definition: Definition, features: ArrayLike | None
) -> tuple[tuple[float, ...], ...] | None:
    if features is None:
        return None
    if not isinstance(definition, IdentificationAlgorithm):
        raise InputError(f"features: {definition.id} takes none; allowed: left out")
    try:
        rows = np.array(features, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("features are no table of numbers; allowed: one row an arm") from None
    if rows.ndim != 2:
        raise InputError(f"features have {rows.ndim} axes; allowed: one row an arm")
    return tuple(tuple(map(float, row)) for row in rows)


def require_notion(setting: Setting, notion: str) -> None:
    """Raise InputError where an algorithm cannot be played under a notion of neighbours."""
    identifies = isinstance(setting.definition, IdentificationAlgorithm)
    allowed = (PULL_TABLE,) if identifies else (PULL_TABLE, ROUND)
    if notion in allowed:
        return
    why = ""
    if notion == LOCAL:
        why = ", as a played algorithm shows its arms and no noisy reward"
    elif notion == ROUND:
        why = ", as a best-arm algorithm has tables by pulls"
    raise InputError(f"notion is {notion!r}; allowed: {', '.join(allowed)}{why}")


def claimed_measure(setting: Setting) -> tuple[Measure, float]:
    """Return what is bounded from below, and what the algorithm claims for it.

    mu of a Gaussian claim; delta at the claimed epsilon of an approximate one; else epsilon, at
    delta 0 or, of a Renyi claim, at ``RENYI_DELTA``. Without a claim it is infinite.

    Raises:
        InputError: the guarantee of a user's own algorithm fails.
    """
    claim = guarantee_of(
        setting.definition,
        setting.parameters,
        setting.horizon,
        variant=setting.variant,
        interpretations=setting.interpretations,
    )
    if claim.kind == "gdp":
        return Measure("mu"), claim.parameter
    if claim.kind == "approximate":
        return Measure("delta", epsilon=claim.parameter), claim.slack
    if claim.kind == "renyi":
        return Measure("epsilon", delta=RENYI_DELTA), float(claim.epsilon(RENYI_DELTA))
    return Measure("epsilon"), claim.parameter if claim.kind == "pure" else math.inf
