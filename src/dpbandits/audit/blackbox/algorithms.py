"""Algorithms as mechanisms: what an audit plays, and the events that it tries for each."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dpbandits.algorithms.base import Algorithm, Definition, IdentificationAlgorithm
from dpbandits.audit.blackbox.candidates import Candidates, Runs, of_pulls, of_statistic
from dpbandits.audit.blackbox.certificate import Mechanism, Propose
from dpbandits.audit.blackbox.classifier import classifier_score
from dpbandits.audit.blackbox.play import Plays
from dpbandits.audit.blackbox.sequences import of_prefixes, of_sequences, trial_words
from dpbandits.audit.blackbox.statistics import Statistic
from dpbandits.audit.blackbox.trials import Trials
from dpbandits.audit.tables import Pair
from dpbandits.engine.cells import parameter_values
from dpbandits.engine.checks import require_task, settings_of


@dataclass(frozen=True)
class Setting:
    """What is audited: an algorithm with all that its runs depend on but the rewards.

    Attributes:
        definition: the algorithm, of the registry or of the user's own.
        parameters: its validated parameters.
        variant: ``as-written``, ``as-coded`` or ``repaired``.
        interpretations: every interpretation with its value.
        arms: number of arms K.
        horizon: number of rounds T, or the budget.
        features: of a best-arm algorithm one row an arm; None for the unit vectors.
    """

    definition: Definition
    parameters: Any
    variant: str
    interpretations: dict[str, str]
    arms: int
    horizon: int
    features: tuple[tuple[float, ...], ...] | None = None

    @property
    def departures(self) -> dict[str, str]:
        """The interpretations that are not the default ones."""
        defaults = self.definition.interpretations
        return {
            key: value for key, value in self.interpretations.items() if value != defaults[key][0]
        }

    def describe(self) -> dict[str, Any]:
        """Return what names the setting in seeds and caches."""
        return {
            "algorithm": self.definition.id,
            "parameters": parameter_values(self.parameters),
            "interpretations": self.departures,
            "variant": "as-written" if self.definition.presets else self.variant,
            "arms": self.arms,
            "horizon": self.horizon,
            "features": self.features,
        }

    def mechanism(self, pair: Pair, statistics: tuple[Statistic, ...] = ()) -> Mechanism:
        """Return the algorithm on a pair of tables.

        Args:
            pair: the tables.
            statistics: written for the algorithm; tried beside those for every algorithm.

        Raises:
            InputError: parameters, horizon and features do not fit together.
        """
        key = {**self.describe(), "pair": pair.describe()}
        if isinstance(self.definition, IdentificationAlgorithm):
            trials = Trials(
                self.definition,
                self.parameters,
                self.interpretations,
                self.features,
                self.horizon,
                pair,
            )
            require_task(self.definition, trials.task())
            return Mechanism(trials, _recommendations, key)
        assert isinstance(self.definition, Algorithm)
        settings = settings_of(
            self.definition, self.parameters, self.interpretations, self.horizon, self.arms
        )
        plays = Plays(self.definition, settings, self.horizon, pair)
        return Mechanism(plays, sequence_events(self.arms, pair.arm, statistics), key)


def sequence_events(arms: int, arm: int, statistics: tuple[Statistic, ...] = ()) -> Propose:
    """Return the events that are tried on sequences of arms, in a fixed order.

    Args:
        arms: number of arms K.
        arm: the arm whose reward differs, from 0.
        statistics: written for the algorithm.
    """

    def propose(fitting: Runs, ranking: Runs) -> Iterator[Candidates]:
        for statistic in statistics:
            yield of_statistic(statistic, ranking)
        yield from of_pulls(arm, ranking)
        yield from of_prefixes(fitting, ranking)
        score = classifier_score(arms, fitting)
        if score is not None:
            yield of_statistic(score, ranking)

    return propose


def _recommendations(fitting: Runs, ranking: Runs) -> Iterator[Candidates]:
    """Yield sets of recommended arms, and of recommended arms with the pulls of all arms."""
    place = "arm recommended"
    yield from of_sequences(1, place, lambda output: f"arm {output[0] + 1}", fitting, ranking)
    width = ranking.x.shape[1]
    place = "arm recommended and pulls of arms 1, 2, ..."
    yield from of_sequences(width, place, trial_words, fitting, ranking)
