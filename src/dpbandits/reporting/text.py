"""Texts with numbers in them: templates of labels, readable numbers, and LaTeX."""

import re
from collections.abc import Mapping
from typing import Any

import pandas as pd

from dpbandits.errors import InputError

NUMBER_FORMAT = "%.10g"
"""Of the numbers in every csv."""


def fill(template: str, values: Mapping[str, Any], where: str) -> str:
    """Fill a template such as ``b={b}``; InputError where a name is unknown or a format wrong.

    Whole numbers that a table keeps as floats are printed as whole numbers.
    """
    try:
        return template.format_map({key: plain(value) for key, value in values.items()})
    except KeyError as error:
        allowed = ", ".join(values) or "none"
        raise InputError(
            f"{where} is {template!r}: no column {error}; allowed: {allowed}"
        ) from None
    except (ValueError, TypeError, IndexError, AttributeError) as error:
        raise InputError(f"{where} is {template!r}: {error}; allowed: names in braces") from None


def plain(value: Any) -> Any:
    """Return a whole float as an int, a numpy scalar as a Python one, all else as it is."""
    value = value.item() if hasattr(value, "item") else value
    return int(value) if isinstance(value, float) and value.is_integer() else value


_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")

_SCIENTIFIC = re.compile(r"(?<![\w.])(-?)(\d+(?:\.\d+)?)e([+-]?\d+)(?!\w)")
_INFINITE = re.compile(r"(?<![\w.])inf(?!\w)")
_SIGNED_ZERO = re.compile(r"(?<![\w.,)+-])[+-](0(?:\.0+)?)(?![\d.]|,\d)")
_PANEL = re.compile(r"fig(\d+)([a-z])")


def readable(text: str) -> str:
    """Return a text whose numbers are ``10⁻⁵``, ``2.5×10⁶``, ``∞`` and ``0.00``.

    The name of a panel alone, ``fig1a``, is ``1(a)``.

    Args:
        text: as Python prints numbers: ``1e-05``, ``2.5e+06``, ``inf``, ``-0.00``.
    """
    panel = _PANEL.fullmatch(text)
    if panel is not None:
        return f"{panel[1]}({panel[2]})"
    text = _INFINITE.sub("∞", _SCIENTIFIC.sub(_power, text))
    return _SIGNED_ZERO.sub(r"\1", text)


def _power(match: re.Match[str]) -> str:
    sign, mantissa, exponent = match.groups()
    power = "10" + str(int(exponent)).translate(_SUPERSCRIPTS)
    return sign + (power if float(mantissa) == 1.0 else f"{mantissa}×{power}")


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
    "φ": "phi",
    "Δ": "Delta",
    "Φ": "Phi",
    "Ω": "Omega",
}
_SPELLED = {name: name for name in _GREEK.values()} | {"epsilon": "varepsilon"}
_FUNCTIONS = ("exp", "ln", "log", "max", "min", "sqrt")
_SIGNS = {
    ">=": r"\ge ",
    "<=": r"\le ",
    "...": r"\dots ",
    "≤": r"\le ",
    "≥": r"\ge ",
    "≠": r"\ne ",
    "≈": r"\approx ",
    "×": r"\times ",
    "·": r"\cdot ",
    "±": r"\pm ",
    "∞": r"\infty ",
    "→": r"\to ",
    "−": "-",
    "√": r"\surd ",
    "%": r"\%",
}
_POWERS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"

SIGNS = "".join(_GREEK) + "".join(sign for sign in _SIGNS if not sign.isascii()) + _RAISED
"""Characters that are mathematics wherever they are."""

_LETTERS = "A-Za-z" + "".join(_GREEK)
_TOKEN = re.compile(
    rf"(?P<number>\d+(?:,\d{{3}})*(?:\.\d+)?)|(?P<raised>[{_RAISED}]+)|(?P<name>[A-Za-z]+)"
    rf"|(?P<greek>[{''.join(_GREEK)}])|(?P<space>\s+)"
    rf"|(?P<sign>\.\.\.|>=|<=|[≤≥≠≈×·±∞→−√%=<>+\-/|^_,()\[\]'])"
)
_SUBSCRIPT = re.compile(r"_[A-Za-z0-9]+")
_KEY = re.compile(r"[a-z]+(?:_[a-z]+)+=")
_STRONG = re.compile(
    rf"[{re.escape(SIGNS)}^_=<>]|(?<![\w)\]])[-+]\d|\b(?:{'|'.join(_SPELLED)})\b|sqrt\("
)
_WORDS = ("a", "A", "I")


def split_formulas(text: str) -> list[tuple[bool, str]]:
    """Return the pieces of a text in order, each with whether it is a formula.

    A formula is a run of words of single letters, Greek ones, functions, numbers and signs, with
    balanced brackets and at least one sign that prose has not.
    """
    pieces: list[tuple[bool, str]] = []
    words = re.findall(r"\S+\s*", text)
    start = 0
    while start < len(words):
        end = _formula_end(words, start)
        piece = "".join(words[start : max(end, start + 1)])
        if end > start:
            formula, rest = _without_punctuation(piece)
            pieces += [(True, formula), (False, rest)]
        else:
            pieces.append((False, piece))
        start = max(end, start + 1)
    return pieces


def _formula_end(words: list[str], start: int) -> int:
    """Return behind which word a formula ends that begins with one; the same word if none does."""
    best, run = start, ""
    for index in range(start, len(words)):
        word = words[index].rstrip()
        if not _may_be_formula(word) or (index == start and word in _WORDS):
            break
        run += words[index]
        formula, rest = _without_punctuation(run)
        if _is_balanced(formula) and _STRONG.search(formula) and _is_whole(formula):
            best = index + 1
        if rest.strip() and _is_balanced(formula):
            break
    return best


def _without_punctuation(piece: str) -> tuple[str, str]:
    bare = piece.rstrip()
    formula = bare if bare.endswith("...") else bare.rstrip(".,;:")
    return formula, piece[len(formula) :]


def _is_whole(formula: str) -> bool:
    """Return whether a formula neither begins nor ends with a sign that joins two things."""
    return not (formula[0] in "=<>≤≥×·/^_)]," or formula[-1] in "=<>≤≥≈×·+-/^_([")


def _may_be_formula(word: str) -> bool:
    word = _without_punctuation(word)[0]
    if not word or _KEY.match(word):
        return False
    rest = _SUBSCRIPT.sub("_0", word)
    place = 0
    while place < len(rest):
        match = _TOKEN.match(rest, place)
        if match is None:
            return False
        name = match["name"]
        if name and len(name) > 1 and name not in _FUNCTIONS and name not in _SPELLED:
            return False
        place = match.end()
    return True


def _is_balanced(text: str) -> bool:
    depth = 0
    for sign in text:
        depth += (sign in "([") - (sign in ")]")
        if depth < 0:
            return False
    return depth == 0


def to_latex(formula: str) -> str:
    """Return a formula as LaTeX, without dollar signs.

    Args:
        formula: a piece that ``split_formulas`` calls one.
    """
    tokens = list(_TOKEN.finditer(formula))
    latex, _ = _sequence(tokens, 0)
    return re.sub(r" +(?=[)\]}^_]|$)", "", latex)


def _sequence(tokens: list[re.Match[str]], index: int, closing: str = "") -> tuple[str, int]:
    """Return the LaTeX of tokens up to a closing bracket, and the index behind it."""
    latex = ""
    while index < len(tokens):
        sign = tokens[index].group()
        if closing and sign == closing:
            return latex, index + 1
        if sign in "^_":
            inside, index = _argument(tokens, index + 1)
            latex += f"{sign}{{{inside}}}"
        elif sign == "sqrt" and index + 1 < len(tokens) and tokens[index + 1].group() == "(":
            inside, index = _sequence(tokens, index + 2, ")")
            latex += rf"\sqrt{{{inside}}}"
        elif sign == "(":
            inside, index = _sequence(tokens, index + 1, ")")
            latex += f"({inside})"
        else:
            latex += _token(tokens[index], latex, tokens[index + 1 : index + 2])
            index += 1
    return latex, index


def _argument(tokens: list[re.Match[str]], index: int) -> tuple[str, int]:
    """Return what is raised or lowered, a bracket without its signs, and the index behind it."""
    if index < len(tokens) and tokens[index].group() == "(":
        return _sequence(tokens, index + 1, ")")
    minus = ""
    if index < len(tokens) and tokens[index].group() in "-+":
        minus, index = tokens[index].group(), index + 1
    if index >= len(tokens):
        return minus, index
    token = tokens[index]
    name = token["name"]
    plain = name is not None and len(name) > 1 and name not in _SPELLED
    return minus + (rf"\mathrm{{{name}}}" if plain else _token(token, "", []).strip()), index + 1


def _token(token: re.Match[str], before: str, following: list[re.Match[str]]) -> str:
    if token["number"]:
        return token["number"].replace(",", "{,}")
    if token["raised"]:
        return f"^{{{token['raised'].translate(_POWERS)}}}"
    if token["greek"]:
        return f"\\{_GREEK[token['greek']]} "
    if token["name"]:
        return _name(token["name"])
    if token["space"]:
        # Numbers with their interval, and things beside each other, are apart.
        beside = following and (following[0]["number"] or following[0].group() in "[")
        return r"\ " if beside and re.search(r"[\w)}\]%]$", before) else " "
    return _SIGNS.get(token.group(), token.group())


def _name(name: str) -> str:
    if name in _SPELLED:
        return f"\\{_SPELLED[name]} "
    return f"\\{name} " if name in _FUNCTIONS else name


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
