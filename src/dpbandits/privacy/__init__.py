"""Privacy accounting as pure mathematics, without algorithms or data.

`gaussian` converts between eta-GDP and (epsilon, delta), `conversions` between other kinds;
`guarantee` is the `Guarantee` that algorithms state, and `convert`; `thompson` has the theorems on
Thompson sampling and DP-TS-UCB; `witnesses` exact losses that exceed guarantees. What is known of
each algorithm is in `dpbandits.algorithms.guarantees`.
"""

from dpbandits.privacy.conversions import (
    improved_rdp_to_dp,
    improved_zcdp_epsilon,
    pure_to_gdp,
    pure_to_rdp,
    rdp_to_dp,
    rdp_to_dp_at_order,
    zcdp_delta,
)
from dpbandits.privacy.gaussian import (
    compose_gdp,
    delta,
    epsilon,
    eta_from,
    log_delta,
)
from dpbandits.privacy.guarantee import (
    Converted,
    Guarantee,
    convert,
)
from dpbandits.privacy.thompson import (
    advanced_composition,
    dp_ts_ucb_budget,
    dp_ts_ucb_gdp,
    equal_privacy_c,
    instance_specific_gdp,
    modified_ts_gdp,
    report_noisy_max_true_delta,
    required_c,
    ts_basic_standard_epsilon,
    ts_corrected_standard_epsilon,
    ts_gaussian_gdp,
    ts_gaussian_rdp_epsilon,
    ts_round_epsilon,
    ts_round_gdp,
    ts_standard_epsilon,
)

__all__ = [
    "Converted",
    "Guarantee",
    "advanced_composition",
    "compose_gdp",
    "convert",
    "delta",
    "dp_ts_ucb_budget",
    "dp_ts_ucb_gdp",
    "epsilon",
    "equal_privacy_c",
    "eta_from",
    "improved_rdp_to_dp",
    "improved_zcdp_epsilon",
    "instance_specific_gdp",
    "log_delta",
    "modified_ts_gdp",
    "pure_to_gdp",
    "pure_to_rdp",
    "rdp_to_dp",
    "rdp_to_dp_at_order",
    "report_noisy_max_true_delta",
    "required_c",
    "ts_basic_standard_epsilon",
    "ts_corrected_standard_epsilon",
    "ts_gaussian_gdp",
    "ts_gaussian_rdp_epsilon",
    "ts_round_epsilon",
    "ts_round_gdp",
    "ts_standard_epsilon",
    "zcdp_delta",
]
