"""Privacy accounting: Gaussian, Renyi and standard differential privacy, and the guarantees.

`gaussian` converts between eta-GDP and (epsilon, delta); `renyi` does the same for Renyi DP;
`tight` holds tighter conversions of it, and `conversions` those between all kinds;
`standard` holds report-noisy-max and advanced composition; `guarantee` is the `Guarantee` that
algorithms state; `guarantees` has what Thompson sampling guarantees, `dp_ts_ucb` what DP-TS-UCB
does. What is known of each algorithm's is in `dpbandits.algorithms.guarantees`.
"""

from dpbandits.privacy.conversions import Converted, Level, convert, pure_to_gdp, pure_to_rdp
from dpbandits.privacy.dp_ts_ucb import (
    dp_ts_ucb_budget,
    dp_ts_ucb_delta,
    dp_ts_ucb_draw_gdp,
    dp_ts_ucb_epsilon,
    dp_ts_ucb_gdp,
    equal_privacy_c,
)
from dpbandits.privacy.gaussian import (
    compose_gdp,
    delta,
    epsilon,
    eta_from,
    gaussian_mechanism,
    log_delta,
)
from dpbandits.privacy.guarantee import Guarantee
from dpbandits.privacy.guarantees import (
    instance_specific_gdp,
    modified_ts_delta,
    modified_ts_epsilon,
    modified_ts_gdp,
    required_c,
    ts_gaussian_delta,
    ts_gaussian_epsilon,
    ts_gaussian_gdp,
    ts_gaussian_rdp_epsilon,
    ts_round_gdp,
)
from dpbandits.privacy.renyi import (
    compose_rdp,
    gaussian_rdp_slope,
    optimal_order,
    rdp_to_dp,
    rdp_to_dp_at_order,
)
from dpbandits.privacy.standard import (
    advanced_composition,
    report_noisy_max_epsilon,
    report_noisy_max_true_delta,
    ts_basic_standard_epsilon,
    ts_corrected_standard_epsilon,
    ts_round_epsilon,
    ts_standard_epsilon,
)
from dpbandits.privacy.tight import (
    improved_rdp_to_dp,
    improved_zcdp_epsilon,
    tight_rdp_to_dp,
    zcdp_delta,
    zcdp_epsilon,
)

__all__ = [
    "Converted",
    "Guarantee",
    "Level",
    "advanced_composition",
    "compose_gdp",
    "compose_rdp",
    "convert",
    "delta",
    "dp_ts_ucb_budget",
    "dp_ts_ucb_delta",
    "dp_ts_ucb_draw_gdp",
    "dp_ts_ucb_epsilon",
    "dp_ts_ucb_gdp",
    "epsilon",
    "equal_privacy_c",
    "eta_from",
    "gaussian_mechanism",
    "gaussian_rdp_slope",
    "improved_rdp_to_dp",
    "improved_zcdp_epsilon",
    "instance_specific_gdp",
    "log_delta",
    "modified_ts_delta",
    "modified_ts_epsilon",
    "modified_ts_gdp",
    "optimal_order",
    "pure_to_gdp",
    "pure_to_rdp",
    "rdp_to_dp",
    "rdp_to_dp_at_order",
    "report_noisy_max_epsilon",
    "report_noisy_max_true_delta",
    "required_c",
    "tight_rdp_to_dp",
    "ts_basic_standard_epsilon",
    "ts_corrected_standard_epsilon",
    "ts_gaussian_delta",
    "ts_gaussian_epsilon",
    "ts_gaussian_gdp",
    "ts_gaussian_rdp_epsilon",
    "ts_round_epsilon",
    "ts_round_gdp",
    "ts_standard_epsilon",
    "zcdp_delta",
    "zcdp_epsilon",
]
