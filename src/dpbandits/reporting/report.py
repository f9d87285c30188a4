"""Documents: templates filled in, a table as a page of HTML, and LaTeX as PDF."""

import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpbandits.engine.provenance import write_text
from dpbandits.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from jinja2 import Environment

FOLDER = Path(__file__).with_name("templates")

# LaTeX has its braces to itself.
_LATEX = {
    "variable_start_string": "<<",
    "variable_end_string": ">>",
    "block_start_string": "<%",
    "block_end_string": "%>",
    "comment_start_string": "<#",
    "comment_end_string": "#>",
}


@cache
def _templates(suffix: str) -> "Environment":
    # Reading the config asks for the texts of templates alone.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    given: dict[str, Any] = _LATEX if suffix == ".tex" else {"autoescape": True}
    return Environment(
        loader=FileSystemLoader(FOLDER),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **given,
    )


def template_text(name: str) -> str:
    """Return the text of a template, which what is made with it depends on."""
    return (FOLDER / name).read_text(encoding="utf-8")


def render(name: str, **values: Any) -> str:
    """Return a template with its names filled in, all of them.

    One that ends in ``.tex`` marks its names ``<< >>`` and takes LaTeX.
    """
    return _templates(Path(name).suffix).get_template(name).render(values)


MOST_CHOICES = 12
"""A column with more values than that is searched, not chosen from."""

ROWS_A_CHOICE = 3
"""Rows that a value has on average, at least, where there is something to choose from."""


def page(cells: "pd.DataFrame", title: str, caption: str) -> str:
    """Return a complete page with one table of plain text and its filters, which loads nothing."""
    return render(
        "table.html",
        title=title,
        caption=caption,
        choices=_choices(cells),
        columns=list(cells.columns),
        rows=cells.to_numpy().tolist(),
    )


def _choices(cells: "pd.DataFrame") -> list[dict[str, Any]]:
    """Return the columns of few values: name, place among the columns, the values sorted."""
    found = [sorted(set(cells.iloc[:, index]) - {""}) for index in range(cells.shape[1])]
    return [
        {"name": name, "index": index, "found": values}
        for index, (name, values) in enumerate(zip(cells.columns, found, strict=True))
        if 2 <= len(values) <= min(MOST_CHOICES, len(cells) / ROWS_A_CHOICE)
    ]


PASSES = 5
"""So often page numbers and widths of long tables may move before they stand."""


def body(document: str) -> str:
    r"""Return what a document of one table has after ``\small``; tables stay where they are."""
    inside = document.partition("\\small\n")[2].partition("\\end{document}")[0]
    return inside.replace(r"\begin{table}[h]", r"\begin{table}[H]")


def require_pdflatex() -> str:
    """Return the path of pdflatex; InputError, in one line, where there is none."""
    found = shutil.which("pdflatex")
    if found is None:
        raise InputError(
            "report.pdf: pdflatex is not on PATH; allowed: a LaTeX installation (on Debian "
            "texlive-latex-base and texlive-latex-recommended); report.html needs none"
        )
    return found


def pdf_of(document: str, folder: Path) -> bytes:
    """Return the PDF of a LaTeX document, whose pictures have paths relative to the folder."""
    command = [require_pdflatex(), "-interaction=nonstopmode", "-halt-on-error"]
    with tempfile.TemporaryDirectory() as place:
        source = Path(place) / "report.tex"
        write_text(source, document)
        for _ in range(PASSES):
            done = subprocess.run(
                [*command, f"-output-directory={place}", str(source)],
                cwd=folder,
                capture_output=True,
                check=False,
            )
            log = done.stdout.decode(errors="replace")
            if done.returncode:
                raise InputError(f"report.tex: pdflatex refuses it ({_complaint(log)})")
            if "Rerun" not in log:
                break
        return source.with_suffix(".pdf").read_bytes()


def _complaint(log: str) -> str:
    """Return the line of a log that says what was wrong."""
    lines = [line for line in log.splitlines() if line.startswith("!")]
    return lines[0].strip("! ") if lines else "its log names no error"
