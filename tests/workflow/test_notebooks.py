"""The notebooks of `examples/` run, and say what their committed outputs say."""

import ast
from pathlib import Path

import pytest

from notebooks import NOTEBOOKS, executed, read, texts

MOST_LINES = 12


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) == 2


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_says_what_is_committed(path: Path) -> None:
    """Where this fails: `make notebooks` writes the outputs anew."""
    notebook = read(path)
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    committed = [cell["outputs"] for cell in cells]
    found = executed(notebook)
    assert texts(found) == texts(committed)
    kinds = [each for cell in found for output in cell for each in output.get("data", ())]
    assert {"text/html", "image/png"} <= set(kinds)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_cell_can_be_read_at_a_glance(path: Path) -> None:
    for cell in read(path)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            ast.parse(source)
            assert len(source.splitlines()) <= MOST_LINES, source
