"""The papers: what is particular to each, found by its short name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from dpbandits.engine.formulas import Formula
from dpbandits.errors import InputError

PAPERS = {
    "ts-is-dp": "dpbandits.papers.ts_is_dp",
    "dp-ts-ucb": "dpbandits.papers.dp_ts_ucb",
    "dp-bai": "dpbandits.papers.dp_bai",
    "dp-ncb": "dpbandits.papers.dp_ncb",
}
"""Short name of a paper -> its package, with modules ``formulas``, ``analytic``, ``statistics``
and, where it needs them, ``diagrams`` (figures of that kind), ``derived`` (values that figures
show), ``instances`` and ``tables`` (rows that are computed)."""

COMPARISONS = {"equal-privacy": "dpbandits.comparisons.equal_privacy"}
"""The same for comparisons across papers: supplementary figures and tables, and no claims."""


@dataclass(frozen=True)
class Paper:
    """A paper's own code, imported when it is asked for."""

    name: str
    package: str

    def module(self, name: str) -> ModuleType:
        """Return one of the paper's modules."""
        return import_module(f"{self.package}.{name}")

    @property
    def formulas(self) -> Mapping[str, Formula]:
        """Formulas that its experiments file may name."""
        formulas: Mapping[str, Formula] = self.module("formulas").FORMULAS
        return formulas

    @property
    def analytic(self) -> Mapping[str, Callable[[], Any]]:
        """Exactly computed results by name."""
        analytic: Mapping[str, Callable[[], Any]] = self.module("analytic").ANALYTIC
        return analytic

    @property
    def instances(self) -> Mapping[str, Callable[..., Any]]:
        """Instances that its experiments file may name under ``make``; empty without a module."""
        if find_spec(f"{self.package}.instances") is None:
            return {}
        instances: Mapping[str, Callable[..., Any]] = self.module("instances").INSTANCES
        return instances

    @property
    def tables(self) -> Mapping[str, Callable[..., Any]]:
        """Functions that make the rows of its tables, by name; empty without a module."""
        if find_spec(f"{self.package}.tables") is None:
            return {}
        tables: Mapping[str, Callable[..., Any]] = self.module("tables").TABLES
        return tables

    @property
    def derived(self) -> Mapping[str, Callable[..., Any]]:
        """Functions that derive what its figures show, by name; empty without a module."""
        if find_spec(f"{self.package}.derived") is None:
            return {}
        derived: Mapping[str, Callable[..., Any]] = self.module("derived").DERIVED
        return derived

    @property
    def diagrams(self) -> Mapping[str, Callable[..., Any]]:
        """Functions that draw its figures of kind ``diagram``, by figure."""
        diagrams: Mapping[str, Callable[..., Any]] = self.module("diagrams").DIAGRAMS
        return diagrams

    @property
    def statistics(self) -> Mapping[str, Callable[..., Any]]:
        """Statistics that its claims file may name."""
        statistics: Mapping[str, Callable[..., Any]] = self.module("statistics").STATISTICS
        return statistics


def find_paper(name: str) -> Paper:
    """Return the paper of a short name, or comparison; InputError if there is none."""
    known = PAPERS | COMPARISONS
    if name not in known:
        raise InputError(f"paper is {name!r}; allowed: {', '.join(known)}")
    return Paper(name, known[name])
