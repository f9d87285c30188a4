"""Execute the notebooks of `examples/`, without a kernel: `make notebooks` writes their outputs.

Cells are executed one after the other in one namespace, as a notebook does: what a cell prints, its
last expression, and the figures that it leaves open are its outputs.
"""

import ast
import base64
import io
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))

Output = dict[str, Any]


def read(path: Path) -> dict[str, Any]:
    """Return a notebook."""
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


def executed(notebook: dict[str, Any]) -> list[list[Output]]:
    """Return the outputs of every code cell, in order."""
    # What the same process has drawn before is no output of the notebook.
    plt.close("all")
    namespace: dict[str, Any] = {"__name__": "__main__"}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [
        _outputs("".join(cell["source"]), namespace, number)
        for number, cell in enumerate(cells, start=1)
    ]


def _outputs(source: str, namespace: dict[str, Any], number: int) -> list[Output]:
    """Execute one cell and return what it prints, its last expression, and its figures."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with redirect_stdout(printed):
        exec(compile(tree, f"cell {number}", "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), namespace)
    found: list[Output] = []
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        found.append({"name": "stdout", "output_type": "stream", "text": text})
    if value is not None:
        shown = {"data": _data(value), "metadata": {}, "output_type": "execute_result"}
        found.append(shown | {"execution_count": number})
    for figure in plt.get_fignums():
        picture = io.BytesIO()
        plt.figure(figure).savefig(picture, format="png")
        data = {"image/png": base64.b64encode(picture.getvalue()).decode()}
        found.append({"data": data, "metadata": {}, "output_type": "display_data"})
    plt.close("all")
    return found


def _data(value: Any) -> dict[str, list[str]]:
    """Return what a notebook shows of a value: text, and HTML where it has some."""
    data = {"text/plain": repr(value).splitlines(keepends=True)}
    html = value._repr_html_() if hasattr(value, "_repr_html_") else None
    return data if html is None else {"text/html": html.splitlines(keepends=True), **data}


def texts(outputs: list[list[Output]]) -> list[list[Any]]:
    """Return what the outputs say, pictures left out."""
    return [
        [each.get("text") or each["data"].get("text/plain") for each in cell] for cell in outputs
    ]


def main() -> None:
    """Write the outputs of every notebook into it."""
    for path in NOTEBOOKS:
        notebook = read(path)
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        for number, (cell, outputs) in enumerate(zip(cells, executed(notebook), strict=True), 1):
            cell |= {"outputs": outputs, "execution_count": number}
        text = json.dumps(notebook, indent=1, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8")
        print(path, file=sys.stderr)


if __name__ == "__main__":
    main()
