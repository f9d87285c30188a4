"""The public names of the package, imported when the first of them is asked for."""

from dpbandits import privacy
from dpbandits.algorithms.guarantees import guarantee
from dpbandits.auditing.blackbox import audit_mechanism
from dpbandits.auditing.inputs import make_pair as audit_pair
from dpbandits.auditing.run import audit
from dpbandits.bandits import (
    Bandit,
    LinearBandit,
    bernoulli,
    clipped_exponential,
    linear,
    truncated_exponential,
    uniform,
)
from dpbandits.errors import InputError
from dpbandits.metrics.nash_curve import NashCurve
from dpbandits.own.arms import arms, replay
from dpbandits.own.check import check_algorithm
from dpbandits.own.loading import load_algorithm
from dpbandits.own.policies import fraction, policy, positive, whole
from dpbandits.pipeline.choose import choose
from dpbandits.pipeline.overlay import overlay
from dpbandits.play.comparison import Comparison, compare
from dpbandits.play.identification import Identification, identify
from dpbandits.play.simulation import Simulation, simulate

__all__ = [
    "Bandit",
    "Comparison",
    "Identification",
    "InputError",
    "LinearBandit",
    "NashCurve",
    "Simulation",
    "arms",
    "audit",
    "audit_mechanism",
    "audit_pair",
    "bernoulli",
    "check_algorithm",
    "choose",
    "clipped_exponential",
    "compare",
    "fraction",
    "guarantee",
    "identify",
    "linear",
    "load_algorithm",
    "overlay",
    "policy",
    "positive",
    "privacy",
    "replay",
    "simulate",
    "truncated_exponential",
    "uniform",
    "whole",
]
