"""Texts of the config and the results, for readers of a page."""

import re

_LETTERS = {
    "varepsilon": "ε",
    "epsilon": "ε",
    "alpha": "α",
    "delta": "δ",
    "eta": "η",
    "mu": "μ",
    "ell": "ℓ",
    "ln": "ln ",
    "times": "×",
    ",": " ",
}
_RAISED = dict(zip("0123456789-+αn", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ᵅⁿ", strict=True))
_LOWERED = dict(zip("0123456789", "₀₁₂₃₄₅₆₇₈₉", strict=True))
_COMMAND = re.compile(r"\\([A-Za-z]+|,)")
_SCRIPT = re.compile(r"\s?([\^_])(?:\{([^}]*)\}|(\S))")


def plain(text: str) -> str:
    """Return a label without its mathtext: ``T = 10⁸`` for ``$T = 10^8$``."""
    return re.sub(r"\$([^$]*)\$", lambda match: _mathematics(match[1]), text)


def _mathematics(text: str) -> str:
    text = _COMMAND.sub(lambda match: _LETTERS.get(match[1], match[1]), text)
    return re.sub(r"\s+", " ", _SCRIPT.sub(_script, text))


def _script(match: re.Match[str]) -> str:
    sign, inside = match[1], match[2] or match[3]
    signs = _RAISED if sign == "^" else _LOWERED
    if all(each in signs for each in inside):
        return "".join(signs[each] for each in inside)
    return f"{sign}({inside})" if len(inside) > 1 else f"{sign}{inside}"
