"""The notebooks of `examples/` run, and say what their committed outputs say."""

import json
from pathlib import Path

import pytest

from notebooks import NOTEBOOKS, Output, code_cells, executed

MOST_LINES = 12
assert NOTEBOOKS


def texts(outputs: list[list[Output]]) -> list[list[object]]:
    """Return what the outputs say, pictures left out."""
    return [[each.get("text") or each["data"].get("text/plain") for each in o] for o in outputs]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_says_what_is_committed(path: Path) -> None:
    """Where this fails: `make notebooks` writes the outputs anew. Cells are read at a glance."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cells = code_cells(notebook)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert max("".join(cell["source"]).count("\n") for cell in cells) < MOST_LINES
    found = executed(notebook)
    assert texts(found) == texts([cell["outputs"] for cell in cells])
    kinds = [each for cell in found for output in cell for each in output.get("data", ())]
    assert {"text/html", "image/png"} <= set(kinds)
