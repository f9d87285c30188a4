"""Runs the fault suite and writes docs/reliability.md from what it counted.

    python tests/reliability.py            the whole suite: all counts of WHOLE
    python tests/reliability.py --part     what `make test` runs: the page then says so

The page is current where its latest run, of the whole suite or of the part, was made with the
present sources.
"""

import argparse
import hashlib
import os
import platform
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/reliability.md"
WHOLE = {"kills": 20, "configs": 10_000, "dry-runs": 25, "damages": 200}
"""How often each fault of the whole suite is tried."""

# Also counted: tests of the same faults that stand with what they test. They run in the part, too.
ELSEWHERE = {
    "tests/exact/test_cache_entries.py": "damaged cache entries and interrupted writes, one by one",
    "tests/exact/test_cache_command.py": "what may be pruned from a cache, and what may not",
    "tests/exact/test_cache_folder.py": "an import writes nothing; where caches are",
    "tests/exact/test_check_algorithm.py": "a user-defined algorithm with a fault, checked",
    "tests/exact/test_checked_algorithms.py": "a user-defined algorithm with a fault, simulated",
    "tests/exact/test_command_line.py": "odd words on the command line",
    "tests/exact/test_estimates.py": "a simulation that needs too much memory or time",
    "tests/exact/test_filters.py": "filters of figures, tables and claims that no series meets",
    "tests/exact/test_guarantee_commands.py": "a guarantee asked for by a privacy engineer",
    "tests/exact/test_interruptions.py": "Ctrl-C",
    "tests/exact/test_known_guarantees.py": "a guarantee that is stated and does not hold",
    "tests/claims/test_guarantees_of_ledger.py": "a guarantee that the verdicts on claims refute",
    "tests/exact/test_own_code.py": "user-defined code that changes, or that cannot be hashed",
    "tests/exact/test_own_files.py": "a file of a user-defined algorithm that changes",
    "tests/exact/test_suggestions.py": "a misspelt name",
    "tests/exact/test_unwritable_cache.py": "a cache that is read-only, full, or over its quota",
    "tests/workflow/test_loaded_code.py": "code edited in an open interpreter, or under a job",
    "tests/workflow/test_stale_kernel.py": "a helper edited in another file than its kernel",
}
MADE_OF = (
    "Snakefile",
    "profiles/default/*.yaml",
    "workflow/rules/*.smk",
    "src/dpbandits/*.py",
    "src/dpbandits/cli/*.py",
    "src/dpbandits/pipeline/*.py",
    "src/dpbandits/engine/*.py",
    "src/dpbandits/claims/entries.py",
    "src/dpbandits/claims/filters.py",
    "src/dpbandits/reporting/filters.py",
    "src/dpbandits/claims/files.py",
    "src/dpbandits/reporting/*specs.py",
    "src/dpbandits/reporting/figure_files.py",
    "tests/faults/*.py",
    "tests/broken_configs.py",
    "tests/fault_project.py",
    "tests/isolated.sh",
    *ELSEWHERE,
)
"""What reads, checks, computes and writes files. Papers, figures, documents are none of it."""


def sources() -> list[Path]:
    """Return the files that the page's fingerprint covers, sorted.

    Raises:
        FileNotFoundError: a pattern of MADE_OF fits no file, as after a move.
    """
    found = {pattern: list(ROOT.glob(pattern)) for pattern in MADE_OF}
    if missing := [pattern for pattern, paths in found.items() if not paths]:
        raise FileNotFoundError(f"MADE_OF: no file is named {', '.join(missing)}")
    return sorted({path for paths in found.values() for path in paths})


def fingerprint() -> str:
    """Return the hash of ``sources``, 16 hex digits."""
    digest = hashlib.sha256()
    for path in sources():
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0")
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def fingerprints_of(page: str) -> dict[str, str]:
    """Return the fingerprints that a page states: of the ``whole`` suite and of the ``part``."""
    return dict(re.findall(r"^- (whole|part): .*\bfingerprint `([0-9a-f]{16})`", page, re.M))


TEXT = """# Reliability

What was done to the project on purpose, how often, and what held each time. Written by `make
faults` alone, and only where every test passed; the tests stand in `tests/faults/`. `make test`
runs a part of them, `make release-check` checks that this page is current.

| fault | times | what held |
|---|---:|---|
{rows}

Counts asked for in this run: {stated}.
`make faults` by itself asks for {asked}.

What is killed is a run of one whole paper, `ts-is-dp`, at the quick scale. Any other run is one
figure of it: two simulations, of which one tunes the other, and four panels. The bytes that are
compared are those of every csv, tex, html, pdf, png and parquet.

## Not tried
{skipped}

## What is not promised
- A kill may leave a hidden temporary file beside an output; nothing ever reads it.
- Snakemake and matplotlib keep folders in the user's cache folder. The Makefile puts them into
  `.cache/`; `XDG_CACHE_HOME=.cache` does so where Snakemake is called by hand.
- Compiled kernels (`.cache/dpbandits/numba`) are code. Results and cache entries are not: nothing
  in them is ever run. Do not take compiled kernels from others.

## Runs
The fingerprint is that of what reads, checks, computes and writes files, and of the fault tests
(`python tests/reliability.py --sources` lists them). Where it has changed since the whole suite
ran, `make faults-part` runs what `make test` runs of it and notes that here.

{runs}
"""


@dataclass
class Recorder:
    """A pytest plugin that adds up what the tests counted.

    Attributes:
        counted: (fault, what held) -> how often it was tried.
        elsewhere: file of ``ELSEWHERE`` -> tests that passed.
        skipped: what was not tried, with the reason.
    """

    counted: dict[tuple[str, str], int] = field(default_factory=dict)
    elsewhere: dict[str, int] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note one test."""
        if report.skipped:
            reason = str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else ""
            self.skipped.append(f"{report.nodeid.split('::')[-1]}: {reason}")
        if report.when != "call" or not report.passed:
            return
        file = report.nodeid.split("::")[0]
        if file in ELSEWHERE:
            self.elsewhere[file] = self.elsewhere.get(file, 0) + 1
        for name, value in report.user_properties:
            if name == "fault" and isinstance(value, dict):
                key = (value["fault"], value["held"])
                self.counted[key] = self.counted.get(key, 0) + value["times"]


def rows(recorder: Recorder) -> Iterator[str]:
    """Yield the rows of the page's table."""
    for (fault, held), times in sorted(recorder.counted.items()):
        yield f"| {fault} | {times:,} | {held} |"
    yield from elsewhere_rows(recorder)


def elsewhere_rows(recorder: Recorder) -> Iterator[str]:
    """Yield the rows on the tests of ``ELSEWHERE``."""
    for file, tests in sorted(recorder.elsewhere.items()):
        yield f"| {ELSEWHERE[file]} (`{file}`) | {tests} tests | pass |"


def run_line(name: str, seconds: float) -> str:
    """Return the line that says which run the page tells of."""
    libraries = ", ".join(f"{each} {version(each)}" for each in ("snakemake", "numpy", "numba"))
    return (
        f"- {name}: fingerprint `{fingerprint()}`, {seconds / 60:.0f} minutes, "
        f"Python {platform.python_version()}, {libraries}"
    )


def page_of(recorder: Recorder, counts: dict[str, int], seconds: float) -> str:
    """Return the page after a run of the whole suite."""
    part = run_line("part", seconds).replace("- part: ", "- part: with the whole suite, ")
    return TEXT.format(
        rows="\n".join(rows(recorder)),
        stated=_stated(counts),
        asked=_stated(WHOLE),
        skipped="\n".join(f"- {each}" for each in sorted(recorder.skipped)) or "- nothing",
        runs=f"{run_line('whole', seconds)}\n{part}",
    )


def _stated(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {name.replace('-', ' ')}" for name, count in counts.items())


def with_part(page: str, recorder: Recorder, seconds: float) -> str:
    """Return the page with its line on the part renewed, and the rows that are the part's as well.

    These are the rows of ``ELSEWHERE``, and of faults that the page does not have yet.
    """
    page = re.sub(r"^- part: .*$", run_line("part", seconds), page, flags=re.M)
    lines = [line for line in page.splitlines(keepends=True) if not line.endswith("| pass |\n")]
    known = {line.split(" | ")[0] for line in lines}
    new = [row for row in rows(recorder) if row.split(" | ")[0] not in known]
    last = max((at for at, line in enumerate(lines) if line.startswith("|")), default=-1)
    return "".join([*lines[: last + 1], *(f"{row}\n" for row in new), *lines[last + 1 :]])


def words(part: bool) -> list[str]:
    """Return what pytest is called with: ``make test`` leaves out most of the whole suite."""
    chosen = ["tests/faults", *ELSEWHERE, "--ignore", "tests/faults/test_page.py"]
    marks = [] if part else ["-m", "not release"]
    return [*chosen, "-q", "-n", "2", "--dist", "loadfile", *marks]


def main() -> int:
    """Run the suite; write the page where everything passed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--part", action="store_true", help="only what `make test` runs")
    parser.add_argument("--sources", action="store_true", help="list what the fingerprint covers")
    for name, count in WHOLE.items():
        parser.add_argument(f"--{name}", type=int, default=count)
    arguments = vars(parser.parse_args())
    if arguments["sources"]:
        print("\n".join(path.relative_to(ROOT).as_posix() for path in sources()))
        return 0
    counts: dict[str, int] = {name: arguments[name.replace("-", "_")] for name in WHOLE}
    if not arguments["part"]:
        os.environ["FAULTS_WHOLE"] = "1"
        for name, count in counts.items():
            os.environ[f"FAULTS_{name.upper().replace('-', '_')}"] = str(count)
    recorder: Any = Recorder()
    begun, before = time.monotonic(), fingerprint()
    status = int(pytest.main(words(arguments["part"]), plugins=[recorder]))
    seconds = time.monotonic() - begun
    if status != 0 or fingerprint() != before:
        print(f"{PAGE.name} is left as it was: a test failed, or sources changed", file=sys.stderr)
        return status or 1
    if arguments["part"]:
        page = with_part(PAGE.read_text(encoding="utf-8"), recorder, seconds)
    else:
        page = page_of(recorder, counts, seconds)
    PAGE.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
