"""LaTeX documents: the body of one, and its PDF by pdflatex."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from dpbandits.engine.files import write_text
from dpbandits.errors import InputError

PASSES = 5
"""So often page numbers and widths of long tables may move before they stand."""


def body(document: str) -> str:
    r"""Return what a document of one table has between ``\small`` and its end.

    Tables that float stay where they are called instead.
    """
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
    """Return the PDF of a LaTeX document.

    Args:
        document: its source.
        folder: what the paths of its pictures are relative to.

    Raises:
        InputError: there is no pdflatex, or it refuses the document.
    """
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
