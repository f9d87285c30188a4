"""Numbers as a reader has them: powers of ten, infinity, and 0 without a sign."""

import re

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
