r"""Formulas in plain text, such as ``T^((1-α)/4)`` or ``ε = 0.2``, as LaTeX mathematics."""

import re

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
