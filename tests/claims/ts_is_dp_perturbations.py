"""Edits of made-up results, by which a claim of ts-is-dp comes out otherwise."""

import numpy as np
import pandas as pd

from claims.ts_is_dp_results import CONTENDERS, SLOPES, World
from claims.worlds import rows


def swap_curves_of_b(frame: pd.DataFrame) -> None:
    """Give each b of Figure 1 the curve of the b that mirrors it in the list."""
    values = sorted(frame.loc[rows(frame, family="b"), "b"].unique())
    curves = {b: frame.loc[rows(frame, family="b", b=b), "y"].to_numpy() for b in values}
    for b, mirrored in zip(values, reversed(values), strict=True):
        frame.loc[rows(frame, family="b", b=b), "y"] = curves[mirrored]


def swap_gdp_and_rdp(frame: pd.DataFrame) -> None:
    """Give GDP the curve of RDP and the other way round."""
    frame["analysis"] = frame["analysis"].replace({"gdp": "rdp", "rdp": "gdp"})


def rdp_worse_at_large_delta(frame: pd.DataFrame) -> None:
    """Let RDP of one order over GDP rise with delta, from 1.01 at 1e-10 to 1.1 at 0.1."""
    gdp = frame.loc[rows(frame, analysis="gdp"), ["x", "y"]].to_numpy()
    share = 1.11 + 0.01 * np.log10(gdp[:, 0])
    frame.loc[rows(frame, analysis="rdp-fixed-order"), "y"] = gdp[:, 1] * share


def rdp_on_both_sides(frame: pd.DataFrame) -> None:
    """Put RDP far below GDP at the smallest delta and far above it at the largest."""
    for delta, factor in ((1e-10, 0.5), (0.1, 2.0)):
        frame.loc[rows(frame, analysis="rdp") & np.isclose(frame["x"], delta), "y"] *= factor


def pre_pulls_out_of_turn(frame: pd.DataFrame) -> None:
    """Add to the regret within the pre-pulls of b = 500."""
    frame.loc[rows(frame, b=500, metric="pseudo_regret", t=1000), "value"] += 5.0


def same_for_all_arms(frame: pd.DataFrame) -> None:
    """Give standard DP at N = 10 the curve of N = 2."""
    few = rows(frame, analysis="standard-dp", split="best", arms=2)
    many = rows(frame, analysis="standard-dp", split="best", arms=10)
    frame.loc[many, "y"] = frame.loc[few, "y"].to_numpy()


def half_the_claimed_delta(frame: pd.DataFrame) -> None:
    """Let one action be twice as private as claimed."""
    mask = rows(frame, quantity="true-delta")
    frame.loc[mask, "y"] = frame.loc[mask, "x"] / 2.0


def one_run_differs(frame: pd.DataFrame) -> None:
    """Change one number of one run of one of the two algorithms."""
    frame.loc[frame.index[7], "value"] += 1.0


def one_number_lost(frame: pd.DataFrame) -> None:
    """Lose one number."""
    frame.loc[frame.index[7], "value"] = np.nan


def world(slopes: dict[int, tuple[float, float, float]]) -> World:
    """A world with other slopes at some b."""
    return World(slopes={**SLOPES, **slopes})


def contenders(**regrets: tuple[float, float, float]) -> World:
    """A world with other final regrets in Figure 8."""
    changed = {name.replace("_", "-"): values for name, values in regrets.items()}
    return World(contenders={**CONTENDERS, **changed})
