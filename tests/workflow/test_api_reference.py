"""docs/api.md is what the docstrings say, and holds everything public."""

from pathlib import Path

import dpbandits
from dpbandits import privacy
from dpbandits.pages.api import api_page

ROOT = Path(__file__).resolve().parents[2]


def test_the_reference_is_current() -> None:
    """Where this fails: `dpbandits publish` writes it anew."""
    assert (ROOT / "docs/api.md").read_text(encoding="utf-8") == api_page()


def test_everything_public_stands_there() -> None:
    text = api_page()
    apart = {"__version__", "privacy"}
    for module in (dpbandits, privacy):
        for name in set(module.__all__) - apart:
            assert f"{module.__name__}.{name}`\n" in text, name


def test_a_function_has_its_signature_arguments_and_errors() -> None:
    _, _, text = api_page().partition("### `dpbandits.simulate`\n")
    entry = text.partition("\n### ")[0]
    assert "simulate(*, algorithm: str | Algorithm, bandit: Bandit," in entry
    assert "\n- `workers`: processes to compute with; results do not depend on it.\n" in entry
    assert "\nRaises `InputError`: anything unknown or out of range, in one line.\n" in entry
    assert "\n>>> simulation.pulls.sum(axis=1)\n" in entry


def test_a_class_has_what_it_offers() -> None:
    _, _, text = api_page().partition("### `class dpbandits.Simulation`\n")
    entry = text.partition("\n### ")[0]
    assert "- `pulls` (`NDArray[np.int64]`): Pulls of each arm, shape (runs, K).\n" in entry
    assert "curve(*, metric: str, at: Sequence[int]) -> NDArray[np.float64]\n" in entry
    assert "_compute" not in entry
