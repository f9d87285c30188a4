"""Plots of simulations, in the style and the looks of the project's figures."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from dpbandits.config.looks import ALGORITHMS
from dpbandits.metrics.intervals import Curve
from dpbandits.reporting import palette, style
from dpbandits.reporting.palette import own_look

Values = NDArray[np.float64]

_SIZE = (4.6, 2.9)
"""Width and height of a plot in inches."""

_DPI = 120
"""Pixels per inch on a screen."""

_LABELS = {
    "pseudo_regret": "pseudo-regret",
    "realised_regret": "realised regret",
    "nash_regret": "Nash regret",
}
"""Metric -> its name on the y axis."""


def plot_curves(curves: Sequence[Curve], axes: Axes | None = None) -> Axes:
    """Draw means along time over their intervals; the curves are of one metric."""
    with _styled():
        axes = axes or _new_axes()
        looks = looks_of([curve.algorithm for curve in curves])
        for curve, look in zip(curves, looks, strict=True):
            is_known = np.isfinite(curve.low)
            if is_known.any():
                low, high = (np.where(is_known, e, curve.mean) for e in (curve.low, curve.high))
                axes.fill_between(curve.times, low, high, color=look.colour, alpha=0.2, linewidth=0)
            every = max(1, len(curve.times) // 8)
            drawn = style.line_look(look)
            axes.plot(curve.times, curve.mean, label=curve.label, markevery=every, **drawn)
        for which in ("x", "y"):
            style.style_axis(axes, which, "linear")
        axes.set_xlabel("round t")
        axes.set_ylabel(_LABELS[curves[0].metric])
        if any(curve.label for curve in curves):
            columns = 1 if len(curves) == 1 else 2
            axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=columns)
    return axes


def plot_shares(
    labels: Sequence[str],
    algorithms: Sequence[str],
    shares: tuple[Values, Values, Values],
    title: str,
    axes: Axes | None = None,
) -> Axes:
    """Draw a row for each share over its interval (share, low, high), in its algorithm's look."""
    share, low, high = shares
    rows = np.arange(len(labels))
    with _styled():
        axes = axes or _new_axes()
        for row, algorithm in zip(rows, algorithms, strict=True):
            [look] = looks_of([algorithm])
            ends = [[share[row] - low[row]], [high[row] - share[row]]]
            drawn = style.line_look(look) | {"linestyle": "none"}
            axes.errorbar([share[row]], [row], xerr=ends, capsize=2, elinewidth=0.8, **drawn)
        axes.set_yticks(rows, labels)
        axes.set_ylim(len(labels) - 0.5, -0.5)
        axes.set_xlim(-0.02, 1.02)
        axes.set_xlabel(title)
    return axes


def looks_of(algorithms: Sequence[str]) -> list[palette.Look]:
    """Return the looks of lines, of which several may be of one algorithm, or user-defined."""
    others = [name for name in dict.fromkeys(algorithms) if name not in ALGORITHMS]
    looks = [
        palette.look_of(name) if name in ALGORITHMS else own_look(others.index(name))
        for name in algorithms
    ]
    return palette.tell_apart(looks)


@contextmanager
def _styled() -> Iterator[None]:
    """Draw in the style of the figures, whatever the user's is."""
    with style.context():
        yield
        # A notebook's backend, loaded by the first picture, turns interactive mode on, and the end
        # of the context would turn it off.
        is_interactive = mpl.is_interactive()
    mpl.interactive(is_interactive)


def _new_axes() -> Axes:
    return plt.subplots(figsize=_SIZE, dpi=_DPI, layout="constrained")[1]
