"""Reference replication of four papers on differentially private bandits."""

from dpbandits._kernel_cache import use_kernel_cache
from dpbandits._sources import load_what_was_read

__version__ = "0.1.0"

# Before every other import: what is loaded is what is hashed, and numba reads its folder when a
# kernel is declared.
load_what_was_read()
use_kernel_cache()

from dpbandits import privacy  # noqa: E402
from dpbandits.audit.run import audit  # noqa: E402
from dpbandits.audit.tables import make_pair as audit_pair  # noqa: E402
from dpbandits.bandits import (  # noqa: E402
    Bandit,
    LinearBandit,
    bernoulli,
    clipped_exponential,
    linear,
    truncated_exponential,
    uniform,
)
from dpbandits.engine.check_algorithm import check_algorithm  # noqa: E402
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
    "audit",
    "audit_pair",
    "bernoulli",
    "check_algorithm",
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
