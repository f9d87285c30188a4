"""Reward laws and bandit instances."""

from dpbandits.bandits.instances import (
    INSTANCES,
    Bandit,
    bandit_from,
    bernoulli,
    clipped_exponential,
    truncated_exponential,
)
from dpbandits.bandits.laws import Bernoulli, ClippedExponential, Law, TruncatedExponential

__all__ = [
    "INSTANCES",
    "Bandit",
    "Bernoulli",
    "ClippedExponential",
    "Law",
    "TruncatedExponential",
    "bandit_from",
    "bernoulli",
    "clipped_exponential",
    "truncated_exponential",
]
