"""Run the notebooks of `examples/` in a kernel and keep their outputs: `make notebooks`."""

from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parents[1] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


WIDGET = "application/vnd.jupyter.widget-view+json"


def is_passing(output: Any) -> bool:
    """Return whether an output is what is announced, or a bar."""
    return output.get("name") == "stderr" or WIDGET in output.get("data", {})


def executed(path: Path) -> Any:
    """Return the notebook with the outputs of its cells, as they come out now."""
    notebook = nbformat.read(path, nbformat.NO_CONVERT)
    # A jupyter that is opened on one begins in its folder, too.
    place = {"metadata": {"path": str(EXAMPLES)}}
    # Text comes in as many pieces as the kernel happens to send.
    options = {"record_timing": False, "coalesce_streams": True}
    NotebookClient(notebook, resources=place, **options).execute()
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        # Bars and what is announced differ from time to time.
        if "outputs" in cell:
            cell.outputs = [each for each in cell.outputs if not is_passing(each)]
    return notebook


if __name__ == "__main__":
    for path in NOTEBOOKS:
        nbformat.write(executed(path), path)
        print(path.name)
