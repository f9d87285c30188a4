"""Figures of the comparison, by name."""

from functools import partial

from dpbandits.comparisons.choosing.curves import draw_price, draw_success, draw_tuning
from dpbandits.comparisons.choosing.maps import draw_map
from dpbandits.comparisons.choosing.worst import draw_worst
from dpbandits.reporting.draw import Diagram

DIAGRAMS: dict[str, Diagram] = {
    "extra-map": partial(draw_map, length="horizon $T$"),
    "extra-price": draw_price,
    "extra-worst": draw_worst,
    "extra-tuning": draw_tuning,
    "extra-best-arm": draw_success,
    "extra-best-arm-map": partial(draw_map, length="pulls"),
}
"""Diagrams by figure, as the experiments file lists them."""
