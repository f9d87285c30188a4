"""The audited statements: their numbers in results and configs, and where they are stated."""

from collections.abc import Mapping

from dpbandits.algorithms import REGISTRY

STATEMENTS: Mapping[str, str] = {
    "AUD-1": "ts-is-dp, Lemma 3: one decision",
    "AUD-2": "ts-is-dp, Theorem 3",
    "AUD-3": "ts-is-dp, Theorem 4",
    "AUD-4": "ts-is-dp, Theorem 3, epsilon at delta",
    "AUD-5": "ts-is-dp, Theorem 7: one decision",
    "AUD-6": "dp-ts-ucb, Section 3, on Thompson sampling",
    "AUD-7": "dp-ts-ucb, Theorem 4.4",
    "AUD-8": "dp-ts-ucb, Theorem 4.4 without its factor",
    "AUD-9": "dp-bai, Proposition 4.1 and Section 5",
    "AUD-10": "dp-bai, Proposition 4.1, larger rewards",
    "AUD-11": "dp-bai, Appendix E.1",
    "AUD-12": "dp-bai, Proposition D.2",
    "AUD-13": "dp-ncb, Theorems 2 and 4",
    "AUD-14": "dp-ncb, Theorems 2 and 4",
    "AUD-15": "dp-ncb, Theorems 2 and 4",
    "AUD-16": "dp-ncb, arXiv Section 5",
    "AUD-19": "none: a control",
}
"""Number -> place; AUD-13 to AUD-15 are on three variants. AUD-17 and AUD-18 are on algorithms of
other papers, each stated in its own."""


def stated_in(statement: str, algorithm: str) -> str:
    """Return where a statement is made.

    Args:
        statement: its number, ``AUD-n``.
        algorithm: that it is on.
    """
    return STATEMENTS.get(statement, REGISTRY[algorithm].stated)
