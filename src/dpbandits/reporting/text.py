"""Texts with numbers in them, and LaTeX."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpbandits.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

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


_GREEK_NAMES = (
    *("alpha", "beta", "gamma", "delta", "varepsilon", "epsilon", "eta", "theta", "lambda"),
    *("mu", "pi", "rho", "sigma", "tau", "phi", "Delta", "Phi", "Omega"),
)
_GREEK = dict(zip("αβγδεϵηθλμπρστφΔΦΩ", _GREEK_NAMES, strict=True))
_SIGN_NAMES = ("le", "ge", "ne", "approx", "times", "cdot", "pm", "infty", "to", "surd")
_SIGNS = dict(zip("≤≥≠≈×·±∞→√", _SIGN_NAMES, strict=True))
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"
_POWERS = str.maketrans(_RAISED, "0123456789-")
_SUPERSCRIPTS = str.maketrans("0123456789-", _RAISED)
_UPPER = dict(zip("0123456789-+αn", f"{_RAISED}⁺ᵅⁿ", strict=True))

_SCIENTIFIC = re.compile(r"(?<![\w.])(-?)(\d+(?:\.\d+)?)e([+-]?\d+)(?!\w)")
_INFINITE = re.compile(r"(?<![\w.])inf(?!\w)")
_SIGNED_ZERO = re.compile(r"(?<![\w.,)+-])[+-](0(?:\.0+)?)(?![\d.]|,\d)")
_NEGATIVE = re.compile(r"(?<![\w.,)\]}^-])-(?=[\d∞])")
_PANEL = re.compile(r"fig(\d+)([a-z])")


def readable(text: str) -> str:
    """Return a text whose numbers are ``10⁻⁵``, ``2.5×10⁶``, ``∞`` and ``0.00``, not Python's.

    The name of a panel alone, ``fig1a``, is ``1(a)``.
    """
    panel = _PANEL.fullmatch(text)
    if panel is not None:
        return f"{panel[1]}({panel[2]})"
    text = _INFINITE.sub("∞", _SCIENTIFIC.sub(_power, text))
    return _NEGATIVE.sub("−", _SIGNED_ZERO.sub(r"\1", text))


_IN_POWERS = re.compile(rf"(?:(\d[\d.]*)×)?10([{_RAISED}]+)")


def mathtext(text: str) -> str:
    """Return a readable text whose powers of ten are mathematics, as the labels of axes are."""

    def formula(match: re.Match[str]) -> str:
        factor = rf"{match[1]}\times" if match[1] else ""
        return rf"${factor}10^{{{match[2].translate(_POWERS)}}}$"

    return _IN_POWERS.sub(formula, readable(text))


def _power(match: re.Match[str]) -> str:
    sign, mantissa, exponent = match.groups()
    power = "10" + str(int(exponent)).translate(_SUPERSCRIPTS)
    return sign + (power if float(mantissa) == 1.0 else f"{mantissa}×{power}")


_LETTERS = {name: sign for sign, name in (_GREEK | _SIGNS).items()}
_LETTERS |= {"epsilon": "ε", "ell": "ℓ", "ln": "ln ", "sqrt": "√", ",": " "}
_LOWER = dict(zip("0123456789", "₀₁₂₃₄₅₆₇₈₉", strict=True))
_COMMAND = re.compile(r"\\([A-Za-z]+|,)")
_SCRIPT = re.compile(r"\s?([\^_])(?:\{([^}]*)\}|(\S))")


def plain_label(text: str) -> str:
    """Return a label without its mathtext: ``T = 10⁸`` for ``$T = 10^8$``."""
    return re.sub(r"\$([^$]*)\$", lambda match: _mathematics(match[1]), text)


def _mathematics(text: str) -> str:
    text = _COMMAND.sub(lambda match: _LETTERS.get(match[1], match[1]), text)
    return re.sub(r"\s+", " ", re.sub("[{}]", "", _SCRIPT.sub(_script, text)))


def _script(match: re.Match[str]) -> str:
    sign, inside = match[1], match[2] or match[3]
    signs = _UPPER if sign == "^" else _LOWER
    if all(letter in signs for letter in inside):
        return "".join(signs[letter] for letter in inside)
    return f"{sign}({inside})" if len(inside) > 1 else f"{sign}{inside}"


_FUNCTIONS = ("exp", "ln", "log", "max", "min")
_NAMES = {name: name for name in [*_GREEK.values(), *_FUNCTIONS]} | {"epsilon": "varepsilon"}
_SPELLED = {">=": "≥", "<=": "≤", "−": "-"}

SIGNS = "".join(_GREEK) + "".join(_SIGNS) + _RAISED
"""Characters that are mathematics wherever they are."""

_NUMERIC = rf"[\d.,/+<>={SIGNS}-]"
_FORMULA = re.compile(
    # Between dollar signs; a word with a power; numbers and signs with one that prose has not.
    rf"\$(?P<marked>[^$]+)\$|(?P<power>[^\s^$]+\^[^\s$]*[^\s$.,;:])"
    rf"|(?P<signs>{_NUMERIC}*[<>{SIGNS}](?:{_NUMERIC}*[\d{SIGNS}])?(?:_[A-Za-z0-9]+)?|(?<![\w)\].,])-[\d.,]*\d)"
)
_BRACKETS = r"\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)"


def to_latex(formula: str) -> str:
    """Return a formula in plain characters, ``T^((1-α)/4) ln(T)``, as LaTeX without dollars."""
    latex = re.sub(rf"sqrt{_BRACKETS}", lambda match: rf"\sqrt{{{to_latex(match[1])}}}", formula)
    latex = re.sub(rf"([\^_]){_BRACKETS}", lambda match: f"{match[1]}{{{match[2]}}}", latex)
    latex = re.sub(r"\^(-?\d+\.\d+|-?\w+)", r"^{\1}", latex)
    latex = re.sub(r"_(\w{2,})", r"_{\\mathrm{\1}}", latex)
    latex = re.sub(rf"[{_RAISED}]+", lambda match: f"^{{{match[0].translate(_POWERS)}}}", latex)
    latex = re.sub(r"(?<=\d),(?=\d{3})", "{,}", latex).replace("%", r"\%")
    latex = re.sub(r"(?<![\\{A-Za-z])[A-Za-z]{3,}|\bln\b", _name, latex)
    for sign, name in (_GREEK | _SIGNS).items():
        latex = latex.replace(sign, f"\\{name} ")
    return re.sub(r" +(?=[)\]}^_]|$)", "", latex)


_SPECIAL = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "&%$#{}"},
        "_": r"\_\allowbreak{}",
        **{sign: f"${sign}$" for sign in "<>|"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "–": "--",
        "—": "---",
        "…": r"\dots{}",
        "’": "'",
        "“": "``",
        "”": "''",
    }
)


def _name(match: re.Match[str]) -> str:
    name = match[0]
    return f"\\{_NAMES[name]} " if name in _NAMES else rf"\mathrm{{{name}}}"


def escape(text: str) -> str:
    """Return text as LaTeX, formulas as mathematics; InputError for what pdflatex rejects."""
    for sign in text:
        is_latin = sign.isalpha() and ord(sign) < 0x180
        if not (sign.isascii() or is_latin or ord(sign) in _SPECIAL or sign in f"{SIGNS}−"):
            raise InputError(
                f"text {text!r} has the character {sign!r}; allowed in a table: Latin and Greek "
                f"letters and common mathematical signs"
            )
    text = re.sub(r'"([^"]*)"', r"“\1”", readable(text))
    for spelled, sign in _SPELLED.items():
        text = text.replace(spelled, sign)
    latex, end = "", 0
    for match in _FORMULA.finditer(text):
        formula = match["marked"] or match[0]
        latex += text[end : match.start()].translate(_SPECIAL) + f"${to_latex(formula)}$"
        end = match.end()
    return " ".join((latex + text[end:].translate(_SPECIAL)).split())


def unmarked(text: str) -> str:
    """Return a text without the dollar signs that mark its formulas."""
    return re.sub(r"\$([^$]+)\$", r"\1", text)


def fragment(
    cells: "pd.DataFrame", caption: str, label: str, column_format: str, *, long: bool
) -> str:
    r"""Return a booktabs table with its caption and label, for ``\\input``.

    A ``long`` one may break over pages. It needs the packages array, booktabs and longtable.
    """
    return str(
        _escaped(cells)
        .style.hide(axis="index")
        .to_latex(
            hrules=True,
            caption=escape(caption),
            label=label,
            column_format=column_format,
            environment="longtable" if long else "table",
            position=None if long else "htbp",
            position_float=None if long else "centering",
        )
    )


def _escaped(cells: "pd.DataFrame") -> "pd.DataFrame":
    return cells.map(escape).set_axis([escape(name) for name in cells.columns], axis=1)
