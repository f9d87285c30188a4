"""One figure as pdf, png and csv; the same results give the same bytes."""

import io
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from dpbandits.engine.files import write_bytes, write_text
from dpbandits.errors import InputError
from dpbandits.reporting import style

COLUMNS = ["series", "variant", "interpretation", "x", "y", "lo", "hi", "runs"]
"""Columns of the csv beside every figure."""

MAXIMAL_POINTS = 400
"""Most points that one series may have."""

SUFFIXES = (".pdf", ".png", ".csv")
"""What is written of every figure."""

NUMBER_FORMAT = "%.10g"

# None leaves an entry out: dates and versions would change the bytes.
_METADATA: dict[str, dict[str, str | None]] = {
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
}


def write_figure(path: Path, figure: Figure, points: pd.DataFrame) -> list[Path]:
    """Write ``path`` with the suffixes .pdf, .png and .csv, each whole or not at all.

    Args:
        path: folder and name, without a suffix.
        figure: the drawn figure.
        points: the plotted numbers, with (at least) the columns ``COLUMNS``, in drawing order.

    Returns:
        The files written.

    Raises:
        InputError: a column is missing, a series is too long, or the folder cannot be written.
    """
    table = points_csv(points, path.name)
    images = {kind: _image(figure, kind) for kind in _METADATA}
    files = {suffix: path.with_name(path.name + suffix) for suffix in SUFFIXES}
    for kind, content in images.items():
        write_bytes(files[f".{kind}"], content)
    write_text(files[".csv"], table)
    return list(files.values())


def rounded(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with its numbers to as many digits as a csv has.

    Pictures are drawn from rounded numbers: processors differ in the last bits of a sum, which
    would move a pixel where the csv is the same.
    """
    numbers = table.copy()
    for name in table.select_dtypes("float"):
        numbers[name] = [float(NUMBER_FORMAT % y) for y in table[name]]
    return numbers


def points_csv(points: pd.DataFrame, name: str) -> str:
    """Return the plotted numbers as csv text.

    Args:
        points: as in ``write_figure``.
        name: name of the figure, for error messages.

    Raises:
        InputError: a column is missing or a series has more than ``MAXIMAL_POINTS`` points.
    """
    missing = [column for column in COLUMNS if column not in points]
    if missing:
        raise InputError(f"{name}: points lack {', '.join(missing)}; needed: {', '.join(COLUMNS)}")
    for series, count in points.value_counts(["series", "variant", "interpretation"]).items():
        if count > MAXIMAL_POINTS:
            raise InputError(
                f"{name}: series {series} has {count} points; allowed: at most {MAXIMAL_POINTS}"
            )
    text = points[COLUMNS].to_csv(index=False, float_format=NUMBER_FORMAT, lineterminator="\n")
    return str(text)


def _image(figure: Figure, kind: str) -> bytes:
    buffer = io.BytesIO()
    with style.context():
        figure.savefig(buffer, format=kind, metadata=_METADATA[kind])
    return buffer.getvalue()
