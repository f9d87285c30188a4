"""No stale result after an edit of a helper in another file than the kernel.

numba keys its cache of compiled kernels by the kernel's own file, and the cache of results by
fingerprints; both must miss after the edit, and hit again after its reversal.
"""

from pathlib import Path

import pytest

from support import copy_package, replace_in, run_python

SIMULATE = """
import dpbandits
from dpbandits.engine.cells import Cell

play, played = Cell.play, []
Cell.play = lambda cell, *rest: played.append(cell) or play(cell, *rest)
simulation = dpbandits.simulate(
    algorithm="anytime-lazy-ucb", params={"epsilon": 2.0},
    bandit=dpbandits.bernoulli([0.8, 0.5, 0.2]), horizon=400, runs=10, seed=3,
)
pulls = simulation.pulls.tolist()
print(dpbandits.__file__, simulation.cell.fingerprint, len(played), pulls)
"""


def simulate(package: Path, cache: Path) -> tuple[str, str, bool]:
    """Return fingerprint and pulls that a fresh process finds, and whether it computed them."""
    changes = {
        "PYTHONPATH": str(package.parent),
        "DPBANDITS_CACHE": str(cache),
        "NUMBA_CACHE_DIR": None,
    }
    run = run_python("-c", SIMULATE, changes=changes)
    assert run.returncode == 0, run.stderr
    module, fingerprint, played, pulls = run.stdout.split(maxsplit=3)
    assert Path(module).parent == package
    return fingerprint, pulls, played == "1"


@pytest.mark.slow
def test_edits_change_the_results_that_they_reach(tmp_path: Path) -> None:
    package, cache = copy_package(tmp_path), tmp_path / "own cache"
    original = simulate(package, cache)
    assert original[2], "nothing is in the cache yet"

    helper = package / "algorithms" / "noise.py"
    replace_in(helper, "return scale * ", "return 30.0 * scale * ")
    edited = simulate(package, cache)
    assert edited[0] != original[0]
    assert edited[1] != original[1], "the kernel still calls the helper as it was"
    assert edited[2]

    replace_in(helper, "return 30.0 * scale * ", "return scale * ")
    reverted = simulate(package, cache)
    assert reverted[:2] == original[:2]
    assert not reverted[2], "the first result is still in the cache"
    assert len(list((cache / "numba").iterdir())) == 2, "one folder of kernels for each state"

    other = package / "algorithms" / "dp_se.py"
    other.write_text(other.read_text() + "\n# edited\n")
    assert simulate(package, cache) == reverted, "another algorithm's file is none of its business"
