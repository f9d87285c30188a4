"""The black-box run of every algorithm and variant, at a setting where a loss can be seen."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from dpbandits.algorithms import REGISTRY
from dpbandits.audit.pairs import constant

ROUNDS = 12
"""Short enough that most transcripts are seen often."""


@dataclass(frozen=True)
class Case:
    """A setting and a pair of tables by pulls.

    Attributes:
        algorithm: id in the registry.
        level: reward of arm 1 but that of one pull, which is 0 or 1.
        others: reward of the other arm.
        statement: number of the audited statement, or those of the variants.
        claim: id in the claims ledger, or "".
        pull: which pull of arm 1 differs, from 1.
        horizon: number of rounds, or the budget.
        params: parameters, those of the algorithm's example by default.
    """

    algorithm: str
    level: float
    others: float
    statement: str | Mapping[str, str]
    claim: str = ""
    pull: int = 1
    horizon: int = ROUNDS
    params: Mapping[str, float] = field(default_factory=dict)

    def options(self, variant: str) -> dict[str, object]:
        """Return the arguments of ``dpbandits.audit`` but runs and seed.

        Args:
            variant: one of ``variants``.
        """
        statement = self.statement
        return {
            "algorithm": self.algorithm,
            "variant": variant,
            "horizon": self.horizon,
            "params": dict(self.params or REGISTRY[self.algorithm].example),
            "pair": constant(self.level, self.others, pull=self.pull),
            "statement": statement if isinstance(statement, str) else statement[variant],
            "claim": self.claim,
        }

    @property
    def variants(self) -> tuple[str, ...]:
        """Variants that the algorithm has."""
        return REGISTRY[self.algorithm].variants


GDP_NCB = {"as-coded": "AUD-13", "as-written": "AUD-14", "repaired": "AUD-15"}
"""Variant of GDP-NCB -> the audited statement."""

CASES = (
    Case("ts-gaussian", 0.0, 0.0, "AUD-2"),
    Case("m-ts-gaussian", 0.0, 0.0, "AUD-3", params={"b": 1, "c": 1.0}),
    Case("dp-ts-ucb", 0.0, 0.0, "AUD-7"),
    Case("dp-bai", 0.0, 0.5, "AUD-9", "BAI-C14a"),
    Case("baseline", 0.0, 0.5, "AUD-9", "BAI-C14b"),
    Case("dp-od", 0.0, 0.5, "AUD-11", "BAI-C14c"),
    Case("dp-bai-gauss", 0.0, 0.0, "AUD-12", "BAI-C24"),
    Case("gdp-ncb", 0.0, 0.0, GDP_NCB, "NCB-C15", params={"epsilon": 1.0}, horizon=24),
    Case("anytime-gdp-ncb", 0.0, 0.0, GDP_NCB, "NCB-C15", params={"epsilon": 1.0}, horizon=24),
    Case("ldp-ncb", 0.0, 0.0, "AUD-16", "NCB-C16", params={"epsilon": 1.0}),
    Case("anytime-ldp-ncb", 0.0, 0.0, "AUD-16", "NCB-C16", params={"epsilon": 1.0}),
    Case("adap-ucb", 0.0, 0.5, "AUD-17", params={"epsilon": 1.0}),
    Case("anytime-lazy-ucb", 0.0, 0.0, "AUD-18", params={"epsilon": 1.0}),
    Case("lazy-dp-ts", 0.0, 0.0, "AUD-18", params={"epsilon": 1.0}, horizon=8),
    Case("dp-ts", 0.0, 0.0, "AUD-18", params={"epsilon": 1.0}, horizon=8),
    Case("dp-se", 0.0, 0.0, "AUD-18", params={"epsilon": 1.0}),
    Case("ldp-ucb-l", 0.0, 0.0, "AUD-18", params={"epsilon": 1.0}),
    Case("ucb1", 0.0, 0.0, "AUD-19"),
    Case("ncb", 0.0, 0.0, "AUD-19"),
    Case("od-linbai", 0.0, 0.1, "AUD-19"),
    Case("sequential-halving", 0.0, 0.1, "AUD-19"),
)
"""One for each algorithm of the registry; each is played in every variant that it has."""
