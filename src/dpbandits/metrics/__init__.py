"""Accumulators fed with chunks, the metrics read off them, and intervals over runs."""

from dpbandits.metrics.identification import COUNTED, IDENTIFIED
from dpbandits.metrics.intervals import difference_interval, mean_interval, rate_interval
from dpbandits.metrics.ledger import Ledger, close_ledger, open_ledger, record
from dpbandits.metrics.nash import NASH
from dpbandits.metrics.nash_curve import NashCurve
from dpbandits.metrics.regret import CURVES, METRICS, PER_ARM, require_metric

__all__ = [
    "COUNTED",
    "CURVES",
    "IDENTIFIED",
    "METRICS",
    "NASH",
    "PER_ARM",
    "Ledger",
    "NashCurve",
    "close_ledger",
    "difference_interval",
    "mean_interval",
    "open_ledger",
    "rate_interval",
    "record",
    "require_metric",
]
