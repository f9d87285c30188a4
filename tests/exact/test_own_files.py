"""Files of the user's own: how they are loaded, what their results are keyed by, the example."""

import math
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpbandits
from dpbandits.algorithms import REGRET
from dpbandits.algorithms.base import Algorithm
from dpbandits.engine import own_files
from dpbandits.engine.cells import algorithm_fingerprint
from support import kernel_decisions, message_of, run_python, settings_of

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/my_algorithm.py"


@pytest.fixture(autouse=True)
def bundles() -> Iterator[None]:
    """Forget what a test has loaded."""
    yield
    for bundle in [*own_files._BUNDLES.values()]:
        if not bundle.folder.is_relative_to(ROOT):
            own_files.remove(bundle)


def example() -> Algorithm:
    loaded = dpbandits.load_algorithm(EXAMPLE)
    assert isinstance(loaded, Algorithm)
    return loaded


def play(algorithm: Algorithm, **changes: Any) -> dpbandits.Simulation:
    base: dict[str, Any] = {
        "params": {"epsilon": 1.0, "pulls": 4},
        "bandit": dpbandits.bernoulli([0.75, 0.5, 0.25]),
        "horizon": 60,
        "runs": 20,
    }
    return dpbandits.simulate(algorithm=algorithm, **(base | changes))


def test_the_example_is_loaded_and_played() -> None:
    assert play(example()).pulls.sum() == 20 * 60


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 50.0])
def test_kernel_and_reference_of_the_example_agree(epsilon: float) -> None:
    bandit = dpbandits.truncated_exponential([0.5, 1.0, 2.0])
    algorithm = example()
    told = settings_of(algorithm, {"epsilon": epsilon, "pulls": 5}, {}, bandit, 100)
    for seed in range(20):
        fast = kernel_decisions(algorithm, told, bandit, np.random.default_rng(seed), 7)
        slow = algorithm.reference(told, bandit, np.random.default_rng(seed))
        assert list(fast) == list(slow)


def test_the_example_ends_in_its_first_phase_where_the_horizon_does() -> None:
    pulls = play(example(), horizon=7).pulls
    assert (pulls == [3, 2, 2]).all()


def test_the_noise_of_the_example_is_laplace_of_scale_one_over_epsilon() -> None:
    """One pull of an arm that pays 1 and of one that pays 0: the first one wins iff
    1 + (X - Y)/epsilon > 0, X and Y Laplace of scale 1, so that the other one wins with
    probability (2 + epsilon) exp(-epsilon) / 4."""
    epsilon, runs = 1.0, 4000
    arms = dpbandits.bernoulli([1.0, 0.0])
    chosen = play(
        example(), params={"epsilon": epsilon, "pulls": 1}, bandit=arms, horizon=3, runs=runs
    )
    worse = int((chosen.pulls[:, 1] == 2).sum())
    expected = (2 + epsilon) * math.exp(-epsilon) / 4
    # Four standard deviations; noise of half the scale would be off by 20 of them.
    assert abs(worse - runs * expected) < 4 * math.sqrt(runs * expected * (1 - expected))


def test_the_guarantee_of_the_example_is_pure() -> None:
    parameters = example().parameters_from({"epsilon": 0.5, "pulls": 3})
    assert example().guarantee(parameters, 100) == dpbandits.privacy.Guarantee("pure", 0.5)


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"epsilon": 0.0, "pulls": 3}, "private-explore-then-commit: epsilon is 0.0; allowed: "),
        ({"epsilon": 1.0, "pulls": 0}, "private-explore-then-commit: pulls is 0; allowed: "),
    ],
)
def test_the_example_refuses_bad_parameters(params: dict[str, Any], expected: str) -> None:
    assert message_of(lambda: play(example(), params=params)).startswith(expected)


ONE = "from dpbandits.algorithms import REGRET\nfrom dataclasses import replace\n"
COPY = "{name} = replace(REGRET['ucb1'], id='{id}')\n"


def write(folder: Path, name: str, *definitions: str) -> Path:
    path = folder / name
    path.write_text(ONE + "".join(COPY.format(name=each, id=each.lower()) for each in definitions))
    return path


def test_the_one_algorithm_of_a_file_may_have_any_name(tmp_path: Path) -> None:
    assert dpbandits.load_algorithm(write(tmp_path, "own_one.py", "MINE")).id == "mine"


def test_of_several_the_one_called_so_is_taken(tmp_path: Path) -> None:
    path = write(tmp_path, "own_two.py", "MINE", "ALGORITHM")
    assert dpbandits.load_algorithm(str(path)).id == "algorithm"


def test_an_algorithm_of_ours_that_a_file_imports_is_not_its_own(tmp_path: Path) -> None:
    path = write(tmp_path, "own_import.py", "MINE")
    path.write_text(path.read_text() + "UCB1 = REGRET['ucb1']\n")
    assert dpbandits.load_algorithm(path).id == "mine"


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("own_none.py", "x = 1\n", "defines no algorithm; allowed: ALGORITHM = Algorithm(...)"),
        ("own_syntax.py", "def (:\n", "cannot be imported (SyntaxError: "),
        ("own_error.py", "1 / 0\n", "cannot be imported (ZeroDivisionError: division by zero)"),
        ("own.txt", "", "is no Python file; allowed: the path of a .py file"),
        ("own_late.py", "import own_nowhere\n", "cannot be imported (ModuleNotFoundError: "),
    ],
)
def test_a_file_without_an_algorithm_is_refused_in_one_line(
    tmp_path: Path, name: str, content: str, expected: str
) -> None:
    (tmp_path / name).write_text(content)
    message = message_of(lambda: dpbandits.load_algorithm(tmp_path / name))
    assert message.startswith(f"{tmp_path / name}: ")
    assert expected in message


def test_a_missing_file_and_two_algorithms_are_refused(tmp_path: Path) -> None:
    missing = message_of(lambda: dpbandits.load_algorithm("nowhere.py"))
    assert missing == "nowhere.py: is no Python file; allowed: the path of a .py file"
    path = write(tmp_path, "own_both.py", "ONE", "OTHER")
    message = message_of(lambda: dpbandits.load_algorithm(path))
    assert message == f"{path}: defines ONE, OTHER; allowed: one, or one called ALGORITHM"


def test_the_key_follows_files_beside_it(tmp_path: Path) -> None:
    """A helper, and what the helper imports; a file that is not imported does not count."""
    text = EXAMPLE.read_text().replace("import numpy", "import own_helper\nimport numpy")
    (tmp_path / "own_policy.py").write_text(text)
    (tmp_path / "own_helper.py").write_text("from own_package import part\n")
    (tmp_path / "own_package").mkdir()
    for name in ("__init__.py", "part.py"):
        (tmp_path / "own_package" / name).write_text("")
    (tmp_path / "stranger.py").write_text("")

    def key() -> str:
        return algorithm_fingerprint(dpbandits.load_algorithm(tmp_path / "own_policy.py"))

    before = key()
    loaded = dpbandits.load_algorithm(tmp_path / "own_policy.py")
    (tmp_path / "stranger.py").write_text("x = 1\n")
    assert key() == before
    (tmp_path / "own_helper.py").write_text("from own_package import part\nx = 1\n")
    helped = key()
    assert helped != before
    (tmp_path / "own_package" / "part.py").write_text("x = 1\n")
    assert key() not in (before, helped)
    assert algorithm_fingerprint(loaded) == before, "what was loaded stays what it was"


PACKAGED = """
import own_package.inner.deep
from own_package import part
from own_package.inner import deep as other

assert part.VALUE == other.VALUE + 1 == own_package.inner.deep.VALUE + 1 == 3
assert __name__ != "own_shape" and __file__.endswith("own_shape.py")


def late():
    from own_late import VALUE
    return VALUE
"""


def test_packages_beside_it_are_imported_as_usual(tmp_path: Path) -> None:
    """Relative imports, packages in packages and imports inside functions; nothing else sees it."""
    path = write(tmp_path, "own_shape.py", "MINE")
    path.write_text(path.read_text() + PACKAGED)
    (tmp_path / "own_late.py").write_text("VALUE = 7\n")
    inner = tmp_path / "own_package" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "own_package" / "__init__.py").write_text("from . import part\n")
    (tmp_path / "own_package" / "part.py").write_text(
        "from .inner.deep import VALUE as DEEP\nVALUE = DEEP + 1\n"
    )
    (inner / "deep.py").write_text("VALUE = 2\n")
    dpbandits.load_algorithm(path)
    [bundle] = [each for each in own_files._BUNDLES.values() if each.folder == tmp_path]
    (tmp_path / "own_late.py").unlink()
    assert sys.modules[bundle.main_module].late() == 7
    assert not {"own_shape", "own_late", "own_package"} & set(sys.modules)


def test_results_come_from_the_cache(cache_folder: Path) -> None:
    first = play(example(), runs=10).pulls
    entries = set((cache_folder / "cells").rglob("*.block"))
    assert entries
    np.testing.assert_array_equal(play(example(), runs=10).pulls, first)
    assert set((cache_folder / "cells").rglob("*.block")) == entries


def test_a_copy_of_ours_plays_as_ours_does_but_for_its_streams(tmp_path: Path) -> None:
    own = replace(REGRET["ucb1"], id="copy")
    same = play(own, params={}, bandit=dpbandits.bernoulli([1.0, 0.0]), runs=3).pulls
    ours = dpbandits.simulate(
        algorithm="ucb1", bandit=dpbandits.bernoulli([1.0, 0.0]), horizon=60, runs=3
    ).pulls
    # Rewards of these arms are certain.
    np.testing.assert_array_equal(same, ours)


def test_a_kernel_need_not_be_compiled() -> None:
    plain = replace(example(), advance=example().advance.py_func)  # type: ignore[attr-defined]
    # The key of the cache is that of the same function, so that the results would be taken from it.
    cell = play(plain, runs=2).cell.blocks()[0]
    np.testing.assert_array_equal(
        replace(cell, runs=2, metrics=("pulls",)).play(0)["pulls"],
        replace(cell, algorithm=example(), runs=2, metrics=("pulls",)).play(0)["pulls"],
    )


CALL = """
import dpbandits

if __name__ == "__main__":
    simulation = dpbandits.simulate(
        algorithm=dpbandits.load_algorithm("folder/own_copy.py"), params={"epsilon": 1, "pulls": 4},
        bandit=dpbandits.bernoulli([0.75, 0.5]), horizon=60, runs=20, workers=2,
    )
    print(simulation.pulls.tolist())
"""


@pytest.mark.slow
def test_workers_find_a_loaded_file(tmp_path: Path, cache_folder: Path) -> None:
    (tmp_path / "folder").mkdir()
    shutil.copy(EXAMPLE, tmp_path / "folder/own_copy.py")
    (tmp_path / "call.py").write_text(CALL)
    done: subprocess.CompletedProcess[str] = run_python("call.py", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    shutil.rmtree(cache_folder / "cells")
    arms = dpbandits.bernoulli([0.75, 0.5])
    assert done.stdout.strip() == str(play(example(), bandit=arms).pulls.tolist())
