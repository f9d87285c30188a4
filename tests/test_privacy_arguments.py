"""Wrong arguments of the privacy formulas: one line that names the argument and its value."""

import math
import re
from collections.abc import Callable

import pytest

from dpbandits import privacy
from dpbandits.errors import InputError

ROWS: list[tuple[Callable[[], object], str]] = [
    (lambda: privacy.epsilon([0.1, 2.0], 1.0), "delta=2.0"),
    (lambda: privacy.epsilon(float("nan"), 1.0), "delta=nan"),
    (lambda: privacy.epsilon(0.1, "1"), "eta='1'"),
    (lambda: privacy.delta(math.inf, 1.0), "epsilon=inf"),
    (lambda: privacy.log_delta(1.0, -2.0), "eta=-2.0"),
    (lambda: privacy.eta_from(1.0, 1.5), "delta=1.5"),
    (lambda: privacy.compose_gdp([1.0, -1.0]), "etas=-1.0"),
    (lambda: privacy.rdp_to_dp(0.0, 0.1), "slope=0.0"),
    (lambda: privacy.rdp_to_dp_at_order(1.0, 1.0, 0.1), "alpha=1.0"),
    (lambda: privacy.ts_gaussian_rdp_epsilon(0.1, 0), "horizon=0"),
    (lambda: privacy.ts_gaussian_gdp(0), "horizon=0"),
    (lambda: privacy.ts_round_gdp(0), "pulls=0"),
    (lambda: privacy.modified_ts_gdp(1.5, 1.0, 10), "b=1.5"),
    (lambda: privacy.modified_ts_gdp(True, 1.0, 10), "b=True"),
    (lambda: privacy.modified_ts_gdp(0, [1.0, 2.0], 10), "c=[1.0, 2.0]"),
    (
        lambda: privacy.modified_ts_gdp(0, 1.0, 10, interpretation="lemma6"),
        "interpretation='lemma6'",
    ),
    (lambda: privacy.required_c(0, 0.0, 10), "eta=0.0"),
    (lambda: privacy.instance_specific_gdp([1.0], -1.0), "c=-1.0"),
    (lambda: privacy.Guarantee("rdp", 1.0), "kind='rdp'"),
    (lambda: privacy.Guarantee("renyi", 1.0), "order is missing"),
    (lambda: privacy.Guarantee("pure", 1.0, order=2.0), "order is 2.0"),
    (lambda: privacy.Guarantee("gdp"), "parameter=inf"),
    (lambda: privacy.Guarantee("none", 1.0), "parameter=1.0"),
    (lambda: privacy.Guarantee("pure", 1.0, 0.1), "slack=0.1"),
    (lambda: privacy.Guarantee("approximate", 1.0), "slack (the delta)=0.0"),
    (lambda: privacy.Guarantee("pure", 1.0, status="wrong"), "status='wrong'"),
    (lambda: privacy.ts_round_epsilon(0.5, 2), "delta=0.5"),
    (lambda: privacy.ts_round_epsilon(1e-6, 1), "n_arms=1"),
    (lambda: privacy.ts_standard_epsilon(1e-6, 10, 1), "n_arms=1"),
    (lambda: privacy.ts_standard_epsilon(0.6, 1, 2), "delta=0.6"),
    (lambda: privacy.ts_standard_epsilon(1e-6, 10, 2, "third"), "split='third'"),
    (lambda: privacy.ts_corrected_standard_epsilon(1e-6, 10, "third"), "split='third'"),
    (lambda: privacy.ts_basic_standard_epsilon(1e-6, 0), "horizon=0"),
    (lambda: privacy.advanced_composition(-1.0, 10, 0.1), "epsilon0=-1.0"),
    (lambda: privacy.report_noisy_max_true_delta(1.0, 1.0, float("nan")), "lowest=nan"),
    *(
        (lambda a=a: privacy.dp_ts_ucb_gdp(a, 1000), f"alpha={a!r}")
        for a in (-0.1, 1.1, math.nan, True, "1")
    ),
    *((lambda t=t: privacy.dp_ts_ucb_gdp(0.5, t), f"horizon={t!r}") for t in (2, 0, 1e6, True)),
    (lambda: privacy.dp_ts_ucb_budget(1.1, 1000), "alpha=1.1"),
    (lambda: privacy.equal_privacy_c(0.5, -1, 1000), "b=-1"),
]


def test_bad_arguments_end_in_one_line() -> None:
    for call, named in ROWS:
        with pytest.raises(InputError) as caught:
            call()
        assert str(caught.value).startswith(named)
        assert re.search(
            "is not allowed: it must be |is needed for|allowed: none", str(caught.value)
        )
        assert "\n" not in str(caught.value)
