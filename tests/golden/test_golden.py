"""Every algorithm decides as it did, and every short simulation has the numbers that it had."""

import pytest

from golden_cases import FILE, TOLERANCE, cases, golden_values

CASES = cases()
GOLDEN = golden_values()
WRITTEN_BY = f"`make golden UPDATE=1` writes tests/golden/{FILE.name} anew"
PLAYED = sorted({case.partition(",")[0] for case in CASES})
"""What cases are of: an algorithm, frames, curves."""


@pytest.mark.parametrize("played", PLAYED)
def test_values_are_the_golden_ones(played: str) -> None:
    for case in (case for case in CASES if case.partition(",")[0] == played):
        if case not in GOLDEN:
            pytest.fail(f"{case}: has no golden values; {WRITTEN_BY}", pytrace=False)
        values, golden = CASES[case](), GOLDEN[case]
        expected = {
            name: text
            if isinstance(values.get(name, text), str)
            else pytest.approx(float(text), rel=TOLERANCE, abs=0.0)
            for name, text in golden.items()
        }
        assert values == expected, f"{case}: {WRITTEN_BY}"


def test_every_golden_value_has_a_case() -> None:
    assert GOLDEN.keys() <= CASES.keys(), WRITTEN_BY
