"""Who is compared: name of each algorithm, and the strictest model of privacy that it keeps."""

from pathlib import Path

COMPARISON = "choosing"
"""Name of the comparison."""

TABLES = Path("docs/tables") / COMPARISON
"""Folder of its published numbers, in a folder with config."""

APPROXIMATE, PURE, LOCAL, NONE = "approximate", "pure", "local", "none"

DELTA = 1e-6
"""Delta of the class ``approximate``."""

CLASSES = {
    PURE: (PURE, LOCAL),
    APPROXIMATE: (APPROXIMATE, PURE, LOCAL),
    LOCAL: (LOCAL,),
}
"""What is asked for -> the models of privacy that give it.

An epsilon-DP algorithm is (epsilon, delta)-DP for every delta. A local one is epsilon-DP in the
central model too, as every reward enters one report.
"""

DESCRIPTIONS = {
    PURE: "epsilon-DP, central",
    APPROXIMATE: "(epsilon, 1e-6)-DP, central",
    LOCAL: "epsilon-DP, local",
}
"""Class -> what is asked for, in words."""

SHOWN = (PURE, LOCAL)
"""Classes that the maps and the page show.

Of (epsilon, delta)-DP the page says where it is of use: an algorithm that is epsilon-DP has it too.
"""

LOGARITHMS = ("base2", "natural")
"""Bases of a logarithm that a paper leaves open: values of the interpretation ``log``."""

OTHERS = tuple(f"log={base}" for base in LOGARITHMS)
"""Interpretations, as results have them, of what is played with the base that is no default."""

REGRET = {
    "m-ts-gaussian": ("Modified TS", APPROXIMATE),
    "dp-ts-ucb": ("DP-TS-UCB", APPROXIMATE),
    "dp-se": ("DP-SE", PURE),
    "anytime-lazy-ucb": ("Anytime-Lazy-UCB", PURE),
    "lazy-dp-ts": ("Lazy-DP-TS", PURE),
    "dp-ts": ("DP-TS", PURE),
    "adap-ucb": ("AdaP-UCB", PURE),
    "gdp-ncb": ("GDP-NCB", PURE),
    "anytime-gdp-ncb": ("Anytime GDP-NCB", PURE),
    "ldp-ucb-l": ("LDP-UCB-L", LOCAL),
    "ldp-ncb": ("LDP-NCB", LOCAL),
    "anytime-ldp-ncb": ("Anytime LDP-NCB", LOCAL),
    "ts-gaussian": ("TS-Gaussian", NONE),
    "ucb1": ("UCB1", NONE),
    "ncb": ("NCB", NONE),
}
"""Algorithms that are judged by regret: name, and what a budget epsilon means.

``none`` keeps no budget of the grid: UCB1 and NCB claim nothing, and TS-Gaussian is worth
sqrt(T/2)-Gaussian DP alone.
"""

BEST_ARM = {
    "dp-bai": ("DP-BAI", PURE),
    "baseline": ("Baseline", PURE),
    "dp-od": ("DP-OD", PURE),
    "dp-bai-gauss": ("DP-BAI-Gauss", APPROXIMATE),
    "od-linbai": ("OD-LinBAI", NONE),
    "sequential-halving": ("Sequential Halving", NONE),
}
"""Algorithms that name a best arm, likewise."""

PLAYERS = {**REGRET, **BEST_ARM}
