"""Reward laws and bandit instances."""

from dpbandits.bandits.descriptions import bandit_from
from dpbandits.bandits.instances import (
    INSTANCES,
    Bandit,
    bernoulli,
    clipped_exponential,
    read_only,
    truncated_exponential,
    uniform,
)
from dpbandits.bandits.laws import (
    Bernoulli,
    ClippedExponential,
    FourthRoot,
    Law,
    TruncatedExponential,
    TwoPoint,
    Uniform,
)
from dpbandits.bandits.linear import LinearBandit, linear, linear_from

__all__ = [
    "INSTANCES",
    "Bandit",
    "Bernoulli",
    "ClippedExponential",
    "FourthRoot",
    "Law",
    "LinearBandit",
    "TruncatedExponential",
    "TwoPoint",
    "Uniform",
    "bandit_from",
    "bernoulli",
    "clipped_exponential",
    "linear",
    "linear_from",
    "read_only",
    "truncated_exponential",
    "uniform",
]
