"""The code of each paper by its short name: exact results, quantities, tables, diagrams."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from dpbandits.engine.identity import PACKAGE, canonical_json, path_of
from dpbandits.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from dpbandits.bandits import Bandit
    from dpbandits.engine.cells import Series


SHARED = f"{PACKAGE}.papers.quantities"
"""Quantities of every paper, which simulations do without."""


@dataclass(frozen=True)
class Setting:
    """What a simulation plays, whichever the algorithm; exact results are computed for it.

    Attributes:
        tags: the keys of ``for`` and ``tags`` with their values.
        bandit: its instance, with ``means``.
        horizon: number of rounds T, at the scale that is built.
        times: the rounds that are recorded, T the last.
    """

    tags: Mapping[str, Any]
    bandit: "Bandit"
    horizon: int
    times: "NDArray[np.int64]"


def settings_of(series: "Iterable[Series]") -> list[Setting]:
    """Return the different settings of the series of a simulation, in their order."""
    import numpy as np

    found: dict[str, Setting] = {}
    for each in series:
        key = canonical_json([dict(each.tags), each.cell.bandit.describe(), each.cell.horizon])
        times = np.array(each.cell.grid, np.int64)
        found.setdefault(key, Setting(each.tags, each.cell.bandit, each.cell.horizon, times))
    return list(found.values())


def over_settings(
    function: Callable[[Setting], Any], settings: Iterable[Setting], place: str
) -> "pd.DataFrame":
    """Return an exact result: what a function returns for each setting, unless that is None."""
    import numpy as np
    import pandas as pd

    tables = []
    for setting in settings:
        values = function(setting)
        if values is None:
            continue
        y = np.array(values, float)
        if y.shape != setting.times.shape:
            raise InputError(
                f"{place} has shape {y.shape} for {dict(setting.tags)}; allowed: one number for "
                f"each of its {setting.times.size} times"
            )
        name = ", ".join(f"{key}={value}" for key, value in setting.tags.items())
        tables.append(pd.DataFrame({"series": name, **setting.tags, "x": setting.times, "y": y}))
    if not tables:
        raise InputError(f"{place} is None for every setting; allowed: numbers for one of them")
    return pd.concat(tables, ignore_index=True)


@dataclass(frozen=True)
class PaperCode:
    """A paper's own code, imported when it is asked for.

    Its package has, where the paper needs them, the modules ``formulas`` and ``instances`` (named
    in its experiments file), ``analytic`` (exact results; those that are ``scaled`` take scale,
    seed, workers, those of ``settings_of`` a ``Setting``), ``quantities`` (of series), ``diagrams``
    (figures of that kind), ``derived`` (values that figures show) and ``tables`` (rows that are
    computed). There may be no package at all. A comparison says in ``files`` which module is which.
    """

    name: str
    package: str
    files: Mapping[str, str] | None = None

    def modules(self, *names: str) -> list[str]:
        """Return the full names of those modules that the paper has."""
        files = {name: name for name in names} if self.files is None else self.files
        every = [f"{self.package}.{files[name]}" for name in names if name in files]
        return [module for module in every if path_of(module) is not None]

    def functions(self, kind: str) -> Mapping[str, Any]:
        """Return the functions by name of a module, as its ``TABLES``; none without the module."""
        for module in self.modules(kind):
            functions = vars(import_module(module)).get(kind.upper())
            if isinstance(functions, Mapping):
                return functions
            raise InputError(
                f"{module}: has no {kind.upper()}; allowed: a dictionary of that name, from names "
                f"to functions"
            )
        return {}

    @property
    def quantities(self) -> Mapping[str, Callable[..., Any]]:
        """Quantities that its claims file may name: its own, and those that every paper has."""
        quantities: dict[str, Callable[..., Any]] = {}
        for module in map(import_module, (SHARED, *self.modules("quantities"))):
            for name, function in inspect.getmembers(module, inspect.isfunction):
                if function.__module__ == module.__name__ and not name.startswith("_"):
                    quantities[name] = function
        return quantities


COMPARISON_MODULES: Mapping[str, Mapping[str, str]] = {
    "choosing": {
        "formulas": "field",
        "instances": "instances",
        "tables": "choosing",
        "diagrams": "choosing_figures",
    },
    "equal-privacy": {
        "formulas": "field",
        "instances": "instances",
        "tables": "equal_privacy",
    },
    "privacy-audit": {
        "analytic": "privacy_audit",
        "tables": "privacy_audit",
        "diagrams": "audit_figures",
    },
}
"""Comparison -> what it has, and in which module of `dpbandits.comparisons`."""


def code_of(name: str) -> PaperCode:
    """Return the code of a paper or comparison, whether or not it has any."""
    if name in COMPARISON_MODULES:
        return PaperCode(name, f"{PACKAGE}.comparisons", COMPARISON_MODULES[name])
    return PaperCode(name, f"{PACKAGE}.papers.{name.replace('-', '_')}")
