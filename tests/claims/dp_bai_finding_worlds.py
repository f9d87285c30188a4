"""Worlds in which the findings on dp-bai are shown, are not shown, and stay undecided."""

from dataclasses import replace

from claims.dp_bai_perturbations import Made, Worlds, only, within
from claims.dp_bai_results import base_rate
from claims.worlds import Change, Where, at, missing, scaled


def plain(where: Where) -> float:
    """The rate of DP-BAI where DP-BAI-Gauss is."""
    tags = {key: value for key, value in where.tags.items() if key != "delta"}
    return base_rate(replace(where, algorithm="dp-bai", tags=tags))


def gauss(large: float, small: float) -> Change:
    """Multiply the error of DP-BAI to that of DP-BAI-Gauss, by large and small delta."""

    def rate(where: Where) -> float:
        factor = large if where.tags["delta"] >= 0.5 else small
        return max(0.0, 1.0 - factor * (1.0 - plain(where)))

    return at(rate, algorithm="dp-bai-gauss")


def corner(shift: float) -> Change:
    """Give DP-OD a lead over DP-BAI in the corner, where T epsilon is 2 or less."""

    def rate(where: Where) -> float:
        base = base_rate(replace(where, algorithm="dp-bai"))
        return base + shift * (1.0 if where.epsilon <= 0.02 else -1.0)

    return within("corner", at(rate, algorithm="dp-od"))


FINDINGS: dict[str, Worlds] = {
    "BAI-F2": {
        "shown": Made(corner(0.05)),
        "not shown": Made(corner(-0.05)),
        "undecided": Made(corner(0.0)),
    },
    "BAI-F3": {
        "shown": Made(),
        "not shown": Made(within("verdicts-sphere", at(0.01, algorithm="dp-od", norm="l1"))),
        "undecided": Made(trials=5000),
    },
    "BAI-F5": {
        "shown": Made(gauss(large=0.6, small=1.3)),
        "not shown": Made(gauss(large=1.3, small=0.6)),
        "undecided": Made(gauss(large=1.0, small=1.0)),
    },
    "BAI-F9": {
        "shown": Made(),
        "not shown": only(scaled("gauss-privacy", 1.1, calibration="analytic")),
        "undecided": only(missing("gauss-privacy")),
    },
    "BAI-F10": {
        "shown": Made(),
        "not shown": Made(at(0.01, algorithm="dp-bai", horizon=800, epsilon=1)),
        "undecided": Made(trials=5000),
    },
    "BAI-F11": {
        "shown": Made(),
        "not shown": Made(at(1.0, algorithm="dp-od", horizon=100)),
        "undecided": Made(trials=5000),
    },
}
"""Findings that comparisons decide, with their worlds."""
