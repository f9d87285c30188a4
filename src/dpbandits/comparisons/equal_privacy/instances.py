"""Instances of the papers that are no short list of means."""

from collections.abc import Callable

from dpbandits.bandits import Bandit
from dpbandits.papers.dp_ncb.instances import fifty_arms

INSTANCES: dict[str, Callable[..., Bandit]] = {"fifty-arms": fifty_arms}
