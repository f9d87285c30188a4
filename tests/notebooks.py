"""Run the notebooks of `examples/` in a kernel and keep their outputs: `make notebooks`."""

from pathlib import Path

import nbformat
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parents[1] / "examples"

if __name__ == "__main__":
    for path in sorted(EXAMPLES.glob("*.ipynb")):
        notebook = nbformat.read(path, nbformat.NO_CONVERT)
        # A jupyter that is opened on one begins in its folder, too.
        place = {"metadata": {"path": str(EXAMPLES)}}
        NotebookClient(notebook, resources=place, record_timing=False).execute()
        for cell in notebook.cells:
            # Bars and what is announced differ from time to time.
            if "outputs" in cell:
                cell.outputs = [each for each in cell.outputs if each.get("name") != "stderr"]
        nbformat.write(notebook, path)
        print(path.name)
