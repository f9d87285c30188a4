"""docs/api.md is what the docstrings say, and holds everything public."""

from pathlib import Path

import dpbandits
from dpbandits import privacy
from dpbandits.pages.api import DOCUMENT, reference

ROOT = Path(__file__).resolve().parents[2]


def test_the_reference_is_current() -> None:
    """Where this fails: `python -m dpbandits.pages.api` writes it anew."""
    assert (ROOT / DOCUMENT).read_text(encoding="utf-8") == reference()


def test_everything_public_stands_there() -> None:
    text = reference()
    apart = {"__version__", "privacy"}
    for module in (dpbandits, privacy):
        for name in set(module.__all__) - apart:
            assert f"`{module.__name__}.{name}`\n" in text, name


def test_a_function_has_its_signature_arguments_and_errors() -> None:
    _, _, text = reference().partition("### `dpbandits.simulate`\n")
    entry = text.partition("\n### ")[0]
    assert "    algorithm: str | Algorithm,\n" in entry
    assert "\n- `workers`: processes to compute with; results do not depend on it.\n" in entry
    assert "\n- `InputError`: anything unknown or out of range, in one line.\n" in entry
    assert "\n>>> simulation.pulls.sum(axis=1)\n" in entry


def test_a_class_has_what_it_offers() -> None:
    _, _, text = reference().partition("### class `dpbandits.Simulation`\n")
    entry = text.partition("\n### ")[0]
    assert "#### `.pulls`: `NDArray[np.int64]`\n\nPulls of each arm, shape (runs, K).\n" in entry
    assert "curve(*, metric: str, at: Sequence[int]) -> NDArray[np.float64]\n" in entry
    assert "_compute" not in entry
