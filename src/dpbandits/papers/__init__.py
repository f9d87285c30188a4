"""The papers: what is particular to each, found by its short name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from dpbandits.errors import InputError

if TYPE_CHECKING:
    from dpbandits.engine.formulas import Formula

PAPERS = {
    "ts-is-dp": "dpbandits.papers.ts_is_dp",
    "dp-ts-ucb": "dpbandits.papers.dp_ts_ucb",
    "dp-bai": "dpbandits.papers.dp_bai",
    "dp-ncb": "dpbandits.papers.dp_ncb",
}
"""Short name of a paper -> its package, with modules ``formulas``, ``analytic``, ``statistics``
and, where it needs them, ``diagrams`` (figures of that kind), ``derived`` (values that figures
show), ``instances`` and ``tables`` (rows that are computed)."""

COMPARISONS = {
    "equal-privacy": "dpbandits.comparisons.equal_privacy",
    "privacy-audit": "dpbandits.comparisons.privacy_audit",
}
"""The same for comparisons across papers: supplementary figures and tables, and no claims."""


@dataclass(frozen=True)
class Paper:
    """A paper's own code, imported when it is asked for."""

    name: str
    package: str

    def _registry(self, module: str, *, is_optional: bool = False) -> Mapping[str, Any]:
        """Return the dictionary that a module of the paper has under its name in capitals.

        Raises:
            InputError: there is no such module, and the paper needs one.
        """
        if find_spec(f"{self.package}.{module}") is None:
            if is_optional:
                return {}
            raise InputError(f"{self.name}: has no module {self.package}.{module}; allowed: one")
        registry: Mapping[str, Any] = getattr(
            import_module(f"{self.package}.{module}"), module.upper()
        )
        return registry

    @property
    def formulas(self) -> Mapping[str, "Formula"]:
        """Formulas that its experiments file may name."""
        return self._registry("formulas")

    @property
    def analytic(self) -> Mapping[str, Callable[..., Any]]:
        """Exactly computed results by name; those that are ``scaled`` take scale, seed, workers."""
        return self._registry("analytic")

    @property
    def instances(self) -> Mapping[str, Callable[..., Any]]:
        """Instances that its experiments file may name under ``make``; empty without a module."""
        return self._registry("instances", is_optional=True)

    @property
    def tables(self) -> Mapping[str, Callable[..., Any]]:
        """Functions that make the rows of its tables, by name; empty without a module."""
        return self._registry("tables", is_optional=True)

    @property
    def derived(self) -> Mapping[str, Callable[..., Any]]:
        """Functions that derive what its figures show, by name; empty without a module."""
        return self._registry("derived", is_optional=True)

    @property
    def diagrams(self) -> Mapping[str, Callable[..., Any]]:
        """Functions that draw its figures of kind ``diagram``, by figure."""
        return self._registry("diagrams")

    @property
    def statistics(self) -> Mapping[str, Callable[..., Any]]:
        """Statistics that its claims file may name."""
        return self._registry("statistics")


def find_paper(name: str) -> Paper:
    """Return the paper of a short name, or comparison; InputError if there is none."""
    known = PAPERS | COMPARISONS
    if name not in known:
        raise InputError(f"paper is {name!r}; allowed: {', '.join(known)}")
    return Paper(name, known[name])
