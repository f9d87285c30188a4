"""Figures of the audit, by name."""

from dpbandits.comparisons.privacy_audit.curve_figures import CURVES
from dpbandits.comparisons.privacy_audit.summary_figure import summary
from dpbandits.reporting.draw import Diagram

DIAGRAMS: dict[str, Diagram] = {"extra-audit": summary, **CURVES}
"""Diagrams by figure, as the experiments file lists them."""
