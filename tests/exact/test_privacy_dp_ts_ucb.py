"""What DP-TS-UCB guarantees: every value that the restatement of dp-ts-ucb ("spec") prints.

Section 2.1 has the tables, section 3 the formulas, section 5 the claims, section 6 the errata.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import optimize

from dpbandits.errors import InputError
from dpbandits.privacy import (
    compose_gdp,
    delta,
    dp_ts_ucb_budget,
    dp_ts_ucb_delta,
    dp_ts_ucb_draw_gdp,
    dp_ts_ucb_epsilon,
    dp_ts_ucb_gdp,
    epsilon,
    equal_privacy_c,
    modified_ts_gdp,
    required_c,
    ts_gaussian_gdp,
)

ALPHAS = (0.0, 0.25, 0.5, 0.75, 1.0)
C0 = 4.132731

# dp-ts-ucb, Algorithm 1, as printed; the rows of 10^4.5 and 10^5.5 rounded to whole horizons.
ETAS = {
    10_000: ("152.0", "56.4", "20.9", "7.75", "2.875"),
    31_622: ("221.4", "74.7", "25.2", "8.52", "2.875"),
    100_000: ("319.5", "98.4", "30.3", "9.33", "2.875"),
    316_227: ("457.7", "128.9", "36.27", "10.21", "2.875"),
    1_000_000: ("651.5", "167.9", "43.28", "11.15", "2.875"),
}


def unit(printed: str) -> float:
    """Half a unit of the last printed digit, and a little for the row of 10^5.5."""
    return 0.51 * 10.0 ** -len(printed.partition(".")[2])


@pytest.mark.parametrize("horizon", ETAS)
@pytest.mark.parametrize("column", range(5))
def test_etas_of_theorem_4_4(horizon: int, column: int) -> None:
    printed = ETAS[horizon][column]
    found = dp_ts_ucb_gdp(ALPHAS[column], horizon)
    assert found == pytest.approx(float(printed), abs=unit(printed))


def test_budget_is_the_formula() -> None:
    # Section 4.1: phi = c0 T^((1 - alpha)/2) ln(T)^((3 - alpha)/2); whole parts in
    # test_dp_ts_ucb.py.
    for alpha in ALPHAS:
        for horizon in ETAS:
            log = math.log(horizon)
            phi = C0 * math.exp((1 - alpha) / 2 * log) * log**1.5 * log ** (-alpha / 2)
            assert dp_ts_ucb_budget(alpha, horizon) == pytest.approx(phi, rel=1e-6)


def test_one_draw() -> None:
    # dp-ts-ucb, proof of Theorem 4.4: 1/sqrt(n v), at most ln(T)^(-alpha/2).
    for alpha in ALPHAS:
        worst = math.log(1000) ** (-alpha / 2)
        assert dp_ts_ucb_draw_gdp(alpha, 1000) == pytest.approx(worst, rel=1e-14)
        assert dp_ts_ucb_draw_gdp(alpha, 1000, 16) == pytest.approx(worst / 4, rel=1e-14)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_draws_compose(alpha: float) -> None:
    # dp-ts-ucb, proof of Theorem 4.4 and derived and DTU-E8: floor(phi) draws make sqrt(phi /
    # ln(T)^alpha) and no more; Theorem 4.4
    # counts them twice.
    draws = math.floor(dp_ts_ucb_budget(alpha, 10_000))
    composed = float(compose_gdp(np.full(draws, dp_ts_ucb_draw_gdp(alpha, 10_000))))
    tight = dp_ts_ucb_gdp(alpha, 10_000, interpretation="tight")
    assert composed <= tight < composed * math.sqrt((draws + 1) / draws)
    printed = dp_ts_ucb_gdp(alpha, 10_000)
    assert printed == pytest.approx(float(compose_gdp([tight, tight])), rel=1e-14)


def test_closed_form_of_theorem_4_4() -> None:
    # dp-ts-ucb, Theorem 4.4: sqrt(2 c0 T^((1 - alpha)/2) ln(T)^(1.5 (1 - alpha))).
    for alpha in ALPHAS:
        for horizon in ETAS:
            growth = horizon ** (0.5 * (1 - alpha)) * math.log(horizon) ** (1.5 * (1 - alpha))
            found = dp_ts_ucb_gdp(alpha, horizon)
            assert found == pytest.approx(math.sqrt(2 * C0 * growth), rel=1e-6)


def test_theorem_4_6_has_another_eta() -> None:
    # DTU-E2: the same at alpha = 0; 10.69 and 2.87 at alpha = 1, T = 10^6.
    assert dp_ts_ucb_gdp(0.0, 10**6, interpretation="theorem4.6") == dp_ts_ucb_gdp(0.0, 10**6)
    assert dp_ts_ucb_gdp(1.0, 10**6, interpretation="theorem4.6") == pytest.approx(10.69, abs=0.005)
    assert dp_ts_ucb_gdp(1.0, 10**6) == pytest.approx(2.87, abs=0.006)


def test_standard_dp_is_the_duality() -> None:
    # Theorem 4.6; DTU-F6: at T = 10^6, delta = 10^-6, alpha = 0 gives 2.15e5 and alpha = 1 gives
    # 17.2.
    levels = np.array([0.5, 5.0, 20.0])
    for interpretation in ("theorem4.4", "theorem4.6", "tight"):
        eta = dp_ts_ucb_gdp(1.0, 10**6, interpretation=interpretation)
        found = dp_ts_ucb_delta(levels, 1.0, 10**6, interpretation=interpretation)
        np.testing.assert_array_equal(found, delta(levels, eta))
        assert dp_ts_ucb_epsilon(1e-6, 1.0, 10**6, interpretation=interpretation) == epsilon(
            1e-6, eta
        )
    assert dp_ts_ucb_epsilon(1e-6, 0.0, 10**6) == pytest.approx(2.15e5, rel=0.003)
    assert dp_ts_ucb_epsilon(1e-6, 1.0, 10**6) == pytest.approx(17.2, abs=0.05)


def test_equal_regret_modified_ts() -> None:
    # dp-ts-ucb, Table 1: Modified TS at b = 0, c = 5 ln(T)^alpha, T = 10^6.
    found = [modified_ts_gdp(0, 5 * math.log(10**6) ** alpha, 10**6) for alpha in ALPHAS]
    np.testing.assert_allclose(found, [447.21, 322.08, 231.97, 167.06, 120.32], rtol=0, atol=0.005)


PREPULLS = (0, 1, 500, 1000, 2000, 5000, 100_000)
EQUAL_PRIVACY = {
    0.0: (2.35604, 1.17802, 0.00470267, 0.00235369, 0.00117743, 4.71114e-4, 2.35602e-5),
    1.0: (120985, 60492.7, 241.488, 120.864, 60.4624, 24.1922, 1.20984),
}
"""dp-ts-ucb, Appendix E.1, T = 10^6, to six digits."""


@pytest.mark.parametrize("alpha", EQUAL_PRIVACY)
def test_equal_privacy(alpha: float) -> None:
    found = [equal_privacy_c(alpha, b, 10**6) for b in PREPULLS]
    np.testing.assert_allclose(found, EQUAL_PRIVACY[alpha], rtol=5e-6)
    # It gives the eta of Theorem 4.4, and is what the general formula asks for.
    eta = dp_ts_ucb_gdp(alpha, 10**6)
    for b, c in zip(PREPULLS, found, strict=True):
        assert modified_ts_gdp(b, c, 10**6) == pytest.approx(eta, rel=1e-13)
        assert required_c(b, eta, 10**6) == pytest.approx(c, rel=1e-13)


def test_printed_c() -> None:
    # DTU-C6, C7 and DTU-E1: 1.178 and 60.462 without the root, 1.085 and 7.776 with it.
    for alpha, b, plain, rooted in ((0.0, 1, 1.178, 1.085), (1.0, 2000, 60.462, 7.776)):
        assert equal_privacy_c(alpha, b, 10**6) == pytest.approx(plain, abs=5e-4)
        assert equal_privacy_c(alpha, b, 10**6, root=True) == pytest.approx(rooted, abs=5e-4)
        wrong = modified_ts_gdp(b, equal_privacy_c(alpha, b, 10**6, root=True), 10**6)
        assert wrong != pytest.approx(dp_ts_ucb_gdp(alpha, 10**6), rel=0.01)


def test_claims_c2_and_c3() -> None:
    for horizon in (3, *ETAS):
        etas = [dp_ts_ucb_gdp(alpha, horizon) for alpha in ALPHAS]
        assert etas == sorted(etas, reverse=True)
        assert etas[-1] == pytest.approx(2.874972, abs=5e-7)  # C16: sqrt(2 c0)


def test_claim_c5() -> None:
    # Smaller than Modified TS (0, 5 ln(T)^alpha) but at alpha = 0; there the tight eta is 460.7.
    better = [
        dp_ts_ucb_gdp(alpha, 10**6) < modified_ts_gdp(0, 5 * math.log(10**6) ** alpha, 10**6)
        for alpha in ALPHAS
    ]
    assert better == [False, True, True, True, True]
    assert dp_ts_ucb_gdp(0.0, 10**6, interpretation="tight") == pytest.approx(460.7, abs=0.05)


def crossover(rival: Callable[[int], float]) -> float:
    """The horizon from which on DP-TS-UCB(0) has the smaller eta."""

    def excess(log_horizon: float) -> float:
        horizon = round(math.exp(log_horizon))
        return dp_ts_ucb_gdp(0.0, horizon) - rival(horizon)

    return math.exp(optimize.brentq(excess, math.log(10**5), math.log(10**8), xtol=1e-6))


def test_claim_c14() -> None:
    # 651.5 and 707.1 at T = 10^6, 319.5 and 223.6 at 10^5; crossovers 6.57e5 and 6.6e6 (c = 5).
    assert ts_gaussian_gdp(10**6) == pytest.approx(707.1, abs=0.05)
    assert ts_gaussian_gdp(10**5) == pytest.approx(223.6, abs=0.05)
    ratio = dp_ts_ucb_gdp(0.0, 10**6) / ts_gaussian_gdp(10**6)
    assert ratio == pytest.approx(0.92, abs=0.005)
    assert crossover(ts_gaussian_gdp) == pytest.approx(6.57e5, abs=500)
    assert crossover(lambda horizon: modified_ts_gdp(0, 5.0, horizon)) == pytest.approx(
        6.6e6, abs=5e4
    )


@pytest.mark.parametrize("alpha", [-0.1, 1.1, math.nan, True, "1"])
def test_alpha_outside_its_range(alpha: Any) -> None:
    for function in (dp_ts_ucb_budget, dp_ts_ucb_gdp, dp_ts_ucb_draw_gdp):
        with pytest.raises(InputError, match="alpha="):
            function(alpha, 1000)
    with pytest.raises(InputError, match="alpha="):
        equal_privacy_c(alpha, 1, 1000)


@pytest.mark.parametrize("horizon", [2, 0, -5, 1e6, True])
def test_horizon_outside_its_range(horizon: Any) -> None:
    with pytest.raises(InputError, match="horizon="):
        dp_ts_ucb_gdp(0.5, horizon)


def test_other_refusals() -> None:
    with pytest.raises(InputError, match="interpretation="):
        dp_ts_ucb_gdp(0.5, 1000, interpretation="theorem4.5")
    with pytest.raises(InputError, match="pulls="):
        dp_ts_ucb_draw_gdp(0.5, 1000, 0)
    with pytest.raises(InputError, match="b="):
        equal_privacy_c(0.5, -1, 1000)
