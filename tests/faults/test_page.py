"""docs/reliability.md tells of the present sources."""

import pytest

import reliability


@pytest.mark.release
def test_the_page_is_current() -> None:
    page = reliability.PAGE.read_text(encoding="utf-8")
    assert reliability.fingerprints_of(page).get("part") == reliability.fingerprint(), (
        "what reads, checks, computes or writes files has changed since; "
        "run `make faults-part` (a minute), or `make faults`"
    )


def test_the_fingerprint_covers_what_writes_and_not_what_is_drawn() -> None:
    names = {path.relative_to(reliability.ROOT).as_posix() for path in reliability.sources()}
    assert {"Snakefile", "src/dpbandits/engine/cache.py", "tests/isolated.sh"} <= names
    assert not any("/papers/" in name or name.startswith(("docs/", "figures/")) for name in names)


def test_fingerprints_are_read_off_the_page() -> None:
    line = reliability.run_line("part", 60.0)
    assert reliability.fingerprints_of(f"# x\n{line}\n") == {"part": reliability.fingerprint()}
    old = "- part: fingerprint `0123456789abcdef`, 1 minutes\n"
    renewed = reliability.with_part(old, reliability.Recorder(), 60.0)
    assert reliability.fingerprints_of(renewed) == {"part": reliability.fingerprint()}


def test_the_part_renews_the_rows_that_it_counts_in_full() -> None:
    file = "tests/exact/test_stale.py"
    other, old = "| a kill | 20 | resumed |", f"| anything (`{file}`) | 3 tests | pass |"
    page = f"# x\n\n|---|\n{other}\n{old}\n\nText\n"
    counts = {("a kill", "resumed"): 2, ("a new fault", "one line"): 1}
    recorder = reliability.Recorder(counted=counts, elsewhere={file: 7})
    found = reliability.with_part(page, recorder, 60.0).splitlines()
    new = f"| {reliability.ELSEWHERE[file]} (`{file}`) | 7 tests | pass |"
    assert found == ["# x", "", "|---|", other, "| a new fault | 1 | one line |", new, "", "Text"]


def test_what_is_counted_elsewhere_is_there() -> None:
    assert all((reliability.ROOT / file).is_file() for file in reliability.ELSEWHERE)
