"""The privacy of GDP-NCB (NCB-C15): one witness refutes it, none establishes it."""

import pytest

from claims.dp_ncb_judged import verdict_of
from claims.dp_ncb_perturbations import NO_WITNESS, Made
from claims.worlds import both, scaled

WITNESSES = "privacy-witnesses"


def test_the_exact_results_refute_it_as_written_and_as_coded_and_establish_it_repaired() -> None:
    verdicts = {
        variant: verdict_of("NCB-C15", Made(), variant).verdict
        for variant in ("as-written", "as-coded", "repaired")
    }
    assert verdicts == {"as-written": "fails", "as-coded": "fails", "repaired": "holds"}


def test_each_witness_is_a_comparison() -> None:
    judgement = verdict_of("NCB-C15", Made(), "as-written")
    found = {each.label: each.estimate.value for each in judgement.comparisons}
    name = "witnessed loss over epsilon{} [T=1e+07, epsilon=0.2]"
    assert found[name.format("")] == pytest.approx(1.00182, abs=1e-5)
    offset = ", {} pulls from the threshold"
    assert found[name.format(offset.format(-50))] == pytest.approx(1.5513, abs=1e-4)
    assert found[name.format(offset.format(0))] == pytest.approx(3.4265, abs=1e-4)
    assert found[name.format(offset.format(100))] == pytest.approx(9.6304, abs=1e-4)
    # The least that refutes at either T, and the largest bound of the audit.
    assert sum(each.comparison.decides for each in judgement.comparisons) == 3
    rare = found["log10 of the probability of these arms [T=1e+07, epsilon=0.2]"]
    assert rare == pytest.approx(-1_390_977.4, abs=0.1)


def test_the_events_refute_no_setting_of_the_paper_as_coded() -> None:
    judgement = verdict_of("NCB-C15", Made(), "as-coded")
    found = {each.label: each.estimate.value for each in judgement.comparisons}
    name = "the same events in Figure 1(a), largest loss over epsilon [epsilon={}]"
    assert found[name.format("2")] == pytest.approx(0.98354, abs=1e-5)
    assert found[name.format("0.2")] == pytest.approx(0.50202, abs=1e-5)


@pytest.mark.parametrize(
    ("variant", "where"),
    [
        ("as-written", {"quantity": "least", "horizon": 10**7}),
        ("as-coded", {"quantity": "witnessed", "horizon": 10**6, "epsilon": 2.0}),
    ],
)
def test_one_witness_is_enough(variant: str, where: dict[str, object]) -> None:
    one = both(NO_WITNESS, scaled(WITNESSES, 20.0, variant=variant, **where))
    judgement = verdict_of("NCB-C15", Made(edit=one), variant)
    assert judgement.verdict == "fails"
    assert sum(each.decision == "against" for each in judgement.comparisons) == 1


@pytest.mark.parametrize("variant", ["as-written", "as-coded"])
def test_without_a_witness_it_is_not_contradicted(variant: str) -> None:
    assert verdict_of("NCB-C15", Made(edit=NO_WITNESS), variant).verdict == "not contradicted"
