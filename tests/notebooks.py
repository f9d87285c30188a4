"""Execute the notebooks of `examples/`, without a kernel: `make notebooks` writes their outputs.

Cells are executed one after the other in one namespace, as a notebook does: what a cell prints, its
last expression, and the figures that it leaves open are its outputs.
"""

import ast
import base64
import io
import json
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt

NOTEBOOKS = sorted((Path(__file__).parents[1] / "examples").glob("*.ipynb"))
Output = dict[str, Any]


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the cells of code."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def executed(notebook: dict[str, Any]) -> list[list[Output]]:
    """Return the outputs of every code cell: what it prints, its last expression, its figures."""
    # What the same process has drawn before is no output of the notebook.
    plt.close("all")
    namespace: dict[str, Any] = {"__name__": "__main__"}
    sources = ["".join(cell["source"]) for cell in code_cells(notebook)]
    return [_outputs(source, namespace, k) for k, source in enumerate(sources, start=1)]


def _outputs(source: str, namespace: dict[str, Any], number: int) -> list[Output]:
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with redirect_stdout(printed):
        exec(compile(tree, f"cell {number}", "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), namespace)
    found: list[Output] = []
    if text := printed.getvalue().splitlines(keepends=True):
        found.append({"name": "stdout", "output_type": "stream", "text": text})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        if hasattr(value, "_repr_html_"):
            data = {"text/html": value._repr_html_().splitlines(keepends=True)} | data
        shown = {"data": data, "metadata": {}, "output_type": "execute_result"}
        found.append(shown | {"execution_count": number})
    for figure in plt.get_fignums():
        picture = io.BytesIO()
        plt.figure(figure).savefig(picture, format="png")
        png = {"image/png": base64.b64encode(picture.getvalue()).decode()}
        found.append({"data": png, "metadata": {}, "output_type": "display_data"})
    plt.close("all")
    return found


if __name__ == "__main__":
    for path in NOTEBOOKS:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for number, outputs in enumerate(executed(notebook), start=1):
            code_cells(notebook)[number - 1].update(outputs=outputs, execution_count=number)
        path.write_text(f"{json.dumps(notebook, indent=1, ensure_ascii=False)}\n", encoding="utf-8")
