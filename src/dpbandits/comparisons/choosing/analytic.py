"""Exactly computed results of this comparison: none."""

from collections.abc import Callable

import pandas as pd

ANALYTIC: dict[str, Callable[[], pd.DataFrame]] = {}
