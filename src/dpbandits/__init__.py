"""Reference replication of four papers on differentially private bandits."""

from dpbandits._kernel_cache import use_kernel_cache

__version__ = "0.1.0"

# numba reads the folder when a kernel is declared, so this line stands before every other import.
use_kernel_cache()

from dpbandits import privacy  # noqa: E402
from dpbandits.bandits import (  # noqa: E402
    Bandit,
    LinearBandit,
    bernoulli,
    clipped_exponential,
    linear,
    truncated_exponential,
    uniform,
)
from dpbandits.engine.identification import Identification, identify  # noqa: E402
from dpbandits.engine.own_algorithm import load_algorithm  # noqa: E402
from dpbandits.engine.simulation import Simulation, simulate  # noqa: E402
from dpbandits.errors import InputError  # noqa: E402
from dpbandits.guarantees import guarantee  # noqa: E402
from dpbandits.metrics import NashCurve  # noqa: E402

__all__ = [
    "Bandit",
    "Identification",
    "InputError",
    "LinearBandit",
    "NashCurve",
    "Simulation",
    "__version__",
    "bernoulli",
    "clipped_exponential",
    "guarantee",
    "identify",
    "linear",
    "load_algorithm",
    "privacy",
    "simulate",
    "truncated_exponential",
    "uniform",
]
