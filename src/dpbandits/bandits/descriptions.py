"""Instances as a config file or a command line describes them."""

from collections.abc import Mapping
from typing import Any

from dpbandits.bandits.instances import INSTANCES, Bandit
from dpbandits.bandits.linear import linear_from
from dpbandits.errors import InputError

LINEAR = "linear"


def bandit_from(description: Mapping[str, Any]) -> Bandit:
    """Make an instance from a mapping such as ``{law: bernoulli, means: [0.7, 0.5]}``.

    Raises:
        InputError: no mapping, unknown law, or keys other than ``law`` and the law's own.
    """
    if not isinstance(description, Mapping):
        raise InputError(f"bandit is {description!r}; allowed: a mapping with the key law")
    law = description.get("law")
    if law == LINEAR:
        return linear_from(description)
    if not isinstance(law, str) or law not in INSTANCES:
        raise InputError(f"bandit: law is {law!r}; allowed: {', '.join([*INSTANCES, LINEAR])}")
    key, make = INSTANCES[law]
    if set(description) != {"law", key}:
        raise InputError(
            f"bandit: keys {sorted(map(str, description))}; allowed for {law}: law, {key}"
        )
    return make(description[key])
