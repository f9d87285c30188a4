"""Text and tables as LaTeX that pdflatex compiles with the packages of a base installation."""

import pandas as pd

from dpbandits.errors import InputError

_GREEK = {
    "α": "alpha",
    "β": "beta",
    "γ": "gamma",
    "δ": "delta",
    "ε": "varepsilon",
    "ϵ": "epsilon",
    "η": "eta",
    "θ": "theta",
    "λ": "lambda",
    "μ": "mu",
    "π": "pi",
    "ρ": "rho",
    "σ": "sigma",
    "τ": "tau",
    "Δ": "Delta",
    "Φ": "Phi",
    "Ω": "Omega",
}
_SIGNS = {
    "≤": r"\le",
    "≥": r"\ge",
    "≠": r"\ne",
    "≈": r"\approx",
    "×": r"\times",
    "·": r"\cdot",
    "±": r"\pm",
    "√": r"\surd",
    "∞": r"\infty",
    "→": r"\to",
    "−": "-",
    "<": "<",
    ">": ">",
    "|": "|",
    **{sign: f"^{plain}" for sign, plain in zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True)},
}
_SPECIAL = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        '"': "''",
        "–": "--",
        "—": "---",
        "…": r"\dots{}",
        "’": "'",
        **{sign: rf"\ensuremath{{\{name}}}" for sign, name in _GREEK.items()},
        **{sign: rf"\ensuremath{{{name}}}" for sign, name in _SIGNS.items()},
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
    """Return plain text as LaTeX.

    Raises:
        InputError: a character that pdflatex would refuse.
    """
    for sign in text:
        if ord(sign) not in _SPECIAL and not (sign.isascii() or _is_accented_latin(sign)):
            raise InputError(
                f"text {text!r} has the character {sign!r}; allowed in a table: Latin and Greek "
                f"letters and common mathematical signs"
            )
    return " ".join(text.translate(_SPECIAL).split())


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
    escaped = cells.map(escape).set_axis([escape(name) for name in cells.columns], axis=1)
    table = escaped.style.hide(axis="index").to_latex(
        hrules=True,
        caption=escape(caption),
        column_format=column_format,
        environment="longtable" if long else "table",
        position=None if long else "h",
        position_float=None if long else "centering",
    )
    return _DOCUMENT.replace("%s", table)
