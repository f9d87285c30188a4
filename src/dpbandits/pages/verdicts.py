"""The words of verdicts, and sentences that say how claims came out."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from operator import itemgetter
from typing import Any

import pandas as pd

from dpbandits.claims.verdict import VERDICTS
from dpbandits.pipeline.study import PaperFile
from dpbandits.reporting.tables import interval
from dpbandits.reporting.text import readable

Values = dict[str, Any]

REPAIRED = "repaired"
"""The variant that is no statement on a paper, and so counted and shown apart."""

VARIANTS = {"as-written": "as written", "as-coded": "as coded", "repaired": "repaired"}

DIFFERS = "differs by interpretation"
"""What counts a claim whose verdict depends on the interpretation of the text."""

MEANINGS = {
    "holds": "every number that its rule asks for is, with its interval, where the claim says",
    "fails": "a number is, with its whole interval, where the claim says it is not",
    "mixed": "parts that the paper states separately come out differently",
    "undecided": "an interval contains the threshold",
    "not contradicted": "results could have refuted the claim and did not; they cannot prove it",
    "not testable": "runs cannot decide it: the printed algorithm plays uniformly at its horizons, "
    "or longer runs are needed",
    "not applicable": "the variant has no such statement",
    DIFFERS: "the verdict depends on how the text is read",
}
"""Word of a verdict -> what it says."""

OUTCOMES = {
    "shown": "the numbers show it",
    "not shown": "the numbers do not show it",
    "reported": "numbers without a threshold",
}
"""Outcome of a finding -> what it says."""

ANSWERS = {
    "holds": "Yes",
    "fails": "No",
    "mixed": "In part",
    "undecided": "Undecided",
    "not contradicted": "Not contradicted",
    "not testable": "Cannot be tested",
}
"""Word of a verdict -> how it answers whether a claim is so."""


def in_words(papers: Iterable[PaperFile], label: str) -> str:
    """Return variant and interpretations in words: ``l1 norm`` for ``norm=l1``."""
    words = {key: said for about in papers for key, said in about.interpretations.items()}
    keys = re.split(r", ?(?=[a-z_]+=|as-)", label) if label else []
    return ", ".join((words | VARIANTS).get(key, key.replace("=", " = ")) for key in keys)


def with_powers(text: str) -> str:
    """Return a readable text in which horizons from a million on are powers of ten."""
    return readable(re.sub(r"(?<==)1(0{6,})\b", lambda match: f"1e{len(match[1])}", text))


def begun(text: str) -> str:
    """Return a text with a capital, but for names and symbols: ``DP-SE``, ``b=1``, ``m-ts``."""
    first = text.split(" ", 1)[0]
    return text[:1].upper() + text[1:] if first.isalpha() and len(first) > 1 else text


def number_text(row: Mapping[Any, Any]) -> str:
    """Return an estimate with three digits, and its interval; "" where there is none."""
    return interval(row, _three)


def _three(value: float) -> str:
    """Return a number to three digits, up to a million without an exponent."""
    text = f"{value:.3g}"
    return f"{float(text):,.0f}" if 1e3 <= abs(value) < 1e6 else text


def answers(rows: list[Values]) -> Values:
    """Return the answers to a claim, by the verdicts on what the paper states.

    ``short`` is ``yes``, or ``cannot be tested as written, no as coded``; ``answer`` has a sentence
    for each verdict: yes or no, where, and by which number.
    """
    verdicts: dict[str, dict[str, list[Values]]] = {}
    for row in rows:
        if row["variant"] != REPAIRED:
            verdicts.setdefault(row["variant"], {}).setdefault(row["verdict"], []).append(row)
    parts, sentences = [], []
    for variant, of_variant in verdicts.items():
        name = f" {VARIANTS[variant]}" if len(verdicts) > 1 else ""
        words = []
        for verdict, chosen in of_variant.items():
            answer, first, where = ANSWERS[verdict], chosen[0], ""
            words.append(answer.lower())
            if len(of_variant) > 1:
                named = [row["words"] for row in chosen]
                words[-1] += f" ({'; '.join(named)})"
                where = f" ({'; '.join(filter(None, named))})" if any(named) else ""
            if len(chosen) > 1 and not where:
                where = f", in each of {len(chosen)} interpretations"
            mixed = f" ({first['sub_claims']})" if first["sub_claims"] else ""
            sentences.append(f"{answer}{name}{where}{mixed}: {first['value']}.")
        parts.append(f"{', '.join(words)}{name}")
    return {"short": "; ".join(parts) or "not applicable", "answer": sentences}


def counted(ledger: pd.DataFrame, variant: str) -> dict[str, int]:
    """Return how many claims in some rows of the ledger a variant has by verdict; several last."""
    verdicts: dict[str, set[str]] = {}
    judged = ledger[ledger["variant"] == variant]
    for claim, verdict in zip(judged["claim"], judged["verdict"], strict=True):
        if verdict != "not applicable":
            verdicts.setdefault(claim, set()).add(verdict)
    counts = Counter(DIFFERS if len(each) > 1 else min(each) for each in verdicts.values())
    return {word: counts[word] for word in (*VERDICTS[:-1], DIFFERS)}


def by_verdict(ledger: pd.DataFrame) -> list[tuple[str, list[tuple[str, int]]]]:
    """Return how many claims have which verdict, by variant of a paper: those that occur."""
    variants = (name for name in VARIANTS if name != REPAIRED)
    counts = {name: [*filter(itemgetter(1), counted(ledger, name).items())] for name in variants}
    return [(name, words) for name, words in counts.items() if words]


_COUNTED = {
    "holds": ("holds", "hold"),
    "fails": ("fails", "fail"),
    "not testable": ("cannot be tested", "cannot be tested"),
    DIFFERS: ("depends on how the text is read", "depend on how the text is read"),
}


def in_counts(counts: Mapping[str, int]) -> str:
    """Return ``12 hold, 3 fail and 1 is mixed``."""
    parts = [
        f"{n} {_COUNTED.get(word, (f'is {word}', f'are {word}'))[n > 1]}"
        for word, n in counts.items()
        if n
    ]
    return ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + parts[-1]


def claims_text(counts: Mapping[str, int]) -> str:
    """Return how many claims are counted: ``1 claim``."""
    size = sum(counts.values())
    return f"{size} claim{'s' * (size != 1)}"


def counted_sentence(ledger: pd.DataFrame, variant: str, variants: int) -> str:
    """Return how the claims about a figure came out, with the variant where there are several."""
    counts = counted(ledger, variant)
    size = sum(counts.values())
    name = f" {VARIANTS[variant]}" if variants > 1 else ""
    if counts["holds"] == size > 1:
        return f"Yes{name}: {'both' if size == 2 else f'all {size}'} claims about it hold."
    if size == 1:
        said = f"claim about it{name} {in_counts(counts).partition(' ')[2]}."
        return f"Yes: the {said}" if counts["holds"] else f"The {said}"
    return f"Of {size} claims about it{name} {in_counts(counts)}."
