"""Conversions of a guarantee between epsilon and delta, against sixty digits or more (mpmath).

They are never below the true value, monotone, and above it by no more than rounding. Wrong
arguments of all formulas are one line that names the argument and its value.
"""

import math
import re
import sys
from collections.abc import Callable

import mpmath as mp
import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from dpbandits import privacy
from dpbandits.privacy import Guarantee
from support import message_of

DIGITS = 60
parameters = st.one_of(
    st.floats(1e-300, 1e-3),
    st.floats(1e-3, 50.0),
    st.floats(50.0, 700.0),
    st.floats(-300, 2).map(lambda power: 10.0**power),
)
deltas = st.one_of(
    st.floats(1e-300, 1e-3),
    st.floats(1e-3, 1 - 1e-9),
    st.floats(-300, -0.01).map(lambda power: 10.0**power),
)
shares = st.floats(0.0, 1.2)


def digits_for(*values: float) -> int:
    """Return how many digits keep differences of 1 and a number of this size exact."""
    smallest = min((abs(value) for value in values if value), default=1.0)
    return DIGITS + max(0, math.ceil(-2.0 * math.log10(smallest)))


def true_delta(p: float, epsilon: float) -> mp.mpf:
    """(e^p - e^epsilon)/(1 + e^p), or 0."""
    grown = mp.exp(mp.mpf(p))
    return max((grown - mp.exp(mp.mpf(epsilon))) / (1 + grown), mp.mpf(0))


def true_epsilon(p: float, delta: float) -> mp.mpf:
    """log(e^p - delta (1 + e^p)), or 0, less what these digits leave open."""
    grown = mp.exp(mp.mpf(p))
    inside = grown - mp.mpf(delta) * (1 + grown)
    return max(mp.log(inside) - mp.mpf(10) ** (8 - mp.mp.dps), 0) if inside > 1 else mp.mpf(0)


@given(p=parameters, share=shares)
@example(p=5e-324, share=0.0)
@example(p=1e-20, share=1.0 - 2.0**-53)
def test_delta_of_pure_privacy(p: float, share: float) -> None:
    epsilon = share * p
    with mp.workdps(digits_for(p, epsilon)):
        true, found = true_delta(p, epsilon), mp.mpf(Guarantee("pure", p).delta(epsilon))
        assert found >= true
        assert found <= true * (1 + mp.mpf(2) ** -48) + mp.mpf(5e-324) * (true > 0)


@given(p=parameters, delta=deltas)
@example(p=1e-20, delta=1e-30)
@example(p=1e-20, delta=4.9999999999999e-21)
@example(p=30.0, delta=1 - 1e-10)
@example(p=1.0, delta=math.nextafter(math.tanh(0.5), 0.0))
@example(p=5e-324, delta=1e-300)
@example(p=1e100, delta=0.5)
@example(p=1e-20, delta=5.1e-21)
@example(p=1e-300, delta=1e-303)
def test_epsilon_of_pure_privacy(p: float, delta: float) -> None:
    with mp.workdps(digits_for(p, delta)):
        true, found = true_epsilon(p, delta), mp.mpf(Guarantee("pure", p).epsilon(delta))
        assert found >= true
        # Where delta is just below that of epsilon = 0 rounding of p is all there is.
        assert found <= true + max(mp.mpf(p) * mp.mpf(2) ** -48, mp.mpf(1e-322))


@given(p=parameters, slack=st.floats(1e-12, 0.9), share=shares)
def test_approximate_privacy(p: float, slack: float, share: float) -> None:
    """The worst case tells all with chance slack, and is randomised response otherwise."""
    guarantee = Guarantee("approximate", p, slack)
    with mp.workdps(digits_for(p, slack)):
        true = slack + (1 - mp.mpf(slack)) * true_delta(p, share * p)
        found = mp.mpf(guarantee.delta(share * p))
        assert true <= found <= min(true * (1 + mp.mpf(2) ** -47), 1) or found == true
        delta = slack + (1.0 - slack) * min(share, 0.99)
        rest = (mp.mpf(delta) - mp.mpf(slack)) / (1 - mp.mpf(slack))
        true, found = true_epsilon(p, rest), mp.mpf(guarantee.epsilon(delta))
        assert true <= found <= p
    assert guarantee.epsilon(math.nextafter(slack, 0.0)) == math.inf
    assert guarantee.epsilon(slack) == p


def gaussian_delta(eta: float, epsilon: mp.mpf) -> mp.mpf:
    """Phi(eta/2 - epsilon/eta) - e^epsilon Phi(-eta/2 - epsilon/eta)."""
    half, ratio = mp.mpf(eta) / 2, epsilon / mp.mpf(eta)
    return mp.ncdf(half - ratio) - mp.exp(epsilon) * mp.ncdf(-half - ratio)


ETAS = [1e-200, 1e-20, 1e-6, 9e-6, 1.1e-5, 1e-3, 9e-3, 1.1e-2, 0.1, 1.0, 5.0, 30.0]


def test_gaussian_privacy() -> None:
    """Delta from epsilon; and epsilon from delta, by the delta at what is found."""
    for eta in ETAS:
        guarantee, error = Guarantee("gdp", eta), 2.1e-9 if eta < 1e-2 else 2.1e-12
        with mp.workdps(digits_for(eta)):
            for ratio in (0.0, 1e-8, 1e-3, 0.1, 1.0, 4.0, 8.0):
                true = gaussian_delta(eta, mp.mpf(ratio * eta))
                if true > sys.float_info.min:
                    assert true <= mp.mpf(guarantee.delta(ratio * eta)) <= true * (1 + error)
            for ratio in (1e-12, 1e-6, 1e-3, 0.05, 0.2, 0.39):
                delta = min(ratio * eta, ratio)
                if delta > 1e-300:
                    found = mp.mpf(guarantee.epsilon(delta))
                    assert gaussian_delta(eta, found) <= delta
                    lower = gaussian_delta(eta, found * (1 - mp.mpf(1e-12)))
                    assert lower >= delta * (1 - 2 * error) or found == 0


def test_conversions_are_monotone() -> None:
    for guarantee in [
        *(Guarantee("pure", p) for p in (1e-300, 1e-20, 1e-3, 0.5, 1.0, 3.0, 40.0)),
        *(Guarantee("gdp", eta) for eta in (1e-20, 1e-6, 1e-2, 1.0, 20.0)),
        *(Guarantee("approximate", p, 0.1) for p in (1e-20, 1.0, 40.0)),
    ]:
        scale = guarantee.parameter
        epsilons = np.unique(np.concatenate([[0.0], np.geomspace(1e-9, 10.0, 300)])) * scale
        assert (np.diff(guarantee.delta(epsilons)) <= 0.0).all()
        wanted = np.geomspace(1e-9, 0.999, 300) * min(scale, 1.0)
        found = guarantee.epsilon(wanted[wanted > 0.0])
        assert (np.asarray(found)[:-1] >= np.asarray(found)[1:]).all()


def test_a_larger_parameter_promises_less() -> None:
    for kind in ("gdp", "pure"):
        made = [Guarantee(kind, p) for p in np.geomspace(1e-12, 30.0, 40)]  # type: ignore[arg-type]
        for delta in (1e-15, 1e-6, 0.1):
            found = [each.epsilon(delta) for each in made]
            assert found == sorted(found)
        for epsilon in (0.0, 1e-9, 0.5):
            found = [each.delta(epsilon) for each in made]
            assert found == sorted(found)


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
    (lambda: privacy.modified_ts_gdp(0, 1.0, 9, interpretation="six"), "interpretation='six'"),
    (lambda: privacy.required_c(0, 0.0, 10), "eta=0.0"),
    (lambda: privacy.instance_specific_gdp([1.0], -1.0), "c=-1.0"),
    (lambda: privacy.Guarantee("rdp", 1.0), "kind='rdp'"),
    (lambda: privacy.Guarantee("renyi", 1.0), "order is missing"),
    (lambda: privacy.Guarantee("pure", 1.0, order=2.0), "order is 2.0"),
    (lambda: privacy.Guarantee("gdp"), "parameter=inf"),
    *(
        (lambda given=given, at=at: privacy.convert(given, "approximate", **at), words)
        for given, at, words in (
            (Guarantee("none"), {"delta": 0.1}, "given.kind='none'"),
            ("pure", {"delta": 0.1}, "given='pure'"),
            (Guarantee("gdp", 1.0), {"delta": [0.1, 0.2]}, "delta=[0.1, 0.2]"),
            (Guarantee("gdp", 1.0), {"epsilon": [1.0]}, "epsilon=[1.0]"),
        )
    ),
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


def test_bad_arguments_of_the_formulas_end_in_one_line() -> None:
    for call, named in ROWS:
        message = message_of(call)
        assert message.startswith(named)
        assert re.search("is not allowed: it must be |is needed for|allowed: none", message)
