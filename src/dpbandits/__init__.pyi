# The public names and their modules: `__init__.py` imports each when it is asked for first.
from . import privacy as privacy
from .algorithms.guarantees import guarantee as guarantee
from .auditing.blackbox import audit_mechanism as audit_mechanism
from .auditing.inputs import audit_pair as audit_pair
from .auditing.run import audit as audit
from .bandits import Bandit as Bandit
from .bandits import LinearBandit as LinearBandit
from .bandits import bernoulli as bernoulli
from .bandits import clipped_exponential as clipped_exponential
from .bandits import linear as linear
from .bandits import truncated_exponential as truncated_exponential
from .bandits import uniform as uniform
from .errors import InputError as InputError
from .metrics.nash_curve import NashCurve as NashCurve
from .own.arms import arms as arms
from .own.arms import replay as replay
from .own.check import check_algorithm as check_algorithm
from .own.loading import load_algorithm as load_algorithm
from .own.policies import fraction as fraction
from .own.policies import policy as policy
from .own.policies import positive as positive
from .own.policies import whole as whole
from .pipeline.choose import choose as choose
from .pipeline.overlay import overlay as overlay
from .play.comparison import Comparison as Comparison
from .play.comparison import compare as compare
from .play.identification import Identification as Identification
from .play.identification import identify as identify
from .play.simulation import Simulation as Simulation
from .play.simulation import simulate as simulate

__version__: str
