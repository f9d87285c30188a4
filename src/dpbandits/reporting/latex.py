"""Text and tables as LaTeX that pdflatex compiles with the packages of a base installation."""

import pandas as pd

from dpbandits.errors import InputError
from dpbandits.reporting.mathematics import SIGNS, split_formulas, to_latex
from dpbandits.reporting.numbers import readable

_SPECIAL = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        **{sign: f"${sign}$" for sign in "<>|"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        '"': "''",
        "–": "--",
        "—": "---",
        "…": r"\dots{}",
        "’": "'",
    }
)

_DOCUMENT = r"""\documentclass[10pt]{article}
\usepackage[a4paper,landscape,margin=15mm]{geometry}
\usepackage{array}
\usepackage{booktabs}
\usepackage[skip=6pt]{caption}
\usepackage{longtable}
\begin{document}
\small
%s\end{document}
"""


def escape(text: str) -> str:
    """Return plain text as LaTeX, its formulas as mathematics.

    Raises:
        InputError: a character that pdflatex would refuse.
    """
    for sign in text:
        if ord(sign) not in _SPECIAL and not (
            sign in SIGNS or sign.isascii() or _is_accented_latin(sign)
        ):
            raise InputError(
                f"text {text!r} has the character {sign!r}; allowed in a table: Latin and Greek "
                f"letters and common mathematical signs"
            )
    pieces = split_formulas(readable(text))
    latex = "".join(f"${to_latex(each)}$" if formula else _prose(each) for formula, each in pieces)
    return " ".join(latex.split())


def _prose(text: str) -> str:
    """Return text that is no formula; signs of formulas that stand in it are mathematics alone."""
    return "".join(
        f"${to_latex(sign)}$" if sign in SIGNS else sign.translate(_SPECIAL) for sign in text
    )


def _is_accented_latin(sign: str) -> bool:
    return sign.isalpha() and ord(sign) < 0x180


def document(cells: pd.DataFrame, caption: str, column_format: str, *, long: bool) -> str:
    """Return a complete LaTeX document with one booktabs table.

    Args:
        cells: plain text; the column names are the head of the table.
        caption: plain text.
        column_format: LaTeX column types, one for each column.
        long: whether the table may break over pages.
    """
    escaped = _escaped(cells)
    table = escaped.style.hide(axis="index").to_latex(
        hrules=True,
        caption=escape(caption),
        column_format=column_format,
        environment="longtable" if long else "table",
        position=None if long else "h",
        position_float=None if long else "centering",
    )
    return _DOCUMENT.replace("%s", table)


def tabular(cells: pd.DataFrame, column_format: str) -> str:
    r"""Return a bare booktabs ``tabular``, for ``\input`` (packages array and booktabs).

    Args:
        cells: plain text; the column names are the head of the table.
        column_format: LaTeX column types, one for each column.
    """
    styled = _escaped(cells).style.hide(axis="index")
    return str(styled.to_latex(hrules=True, column_format=column_format))


def _escaped(cells: pd.DataFrame) -> pd.DataFrame:
    return cells.map(escape).set_axis([escape(name) for name in cells.columns], axis=1)
