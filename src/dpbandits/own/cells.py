"""What is simulated of a user's own algorithm, or on their own arms."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dpbandits.algorithms import Definition, find_definition
from dpbandits.bandits import Bandit
from dpbandits.engine.cells import Cell
from dpbandits.engine.identity import PLAY
from dpbandits.own.arms import CustomBandit
from dpbandits.own.guard import guarded
from dpbandits.own.identity import (
    algorithm_fingerprint,
    is_user_defined,
    packed,
    require_own_id,
    unpacked,
)


@dataclass(frozen=True)
class OwnCell(Cell):
    """A cell of users' code: checked while it is played, keyed by it, sent to workers by value."""

    @cached_property
    def definition(self) -> Definition:
        """The algorithm itself; the user's is checked."""
        definition = find_definition(self.algorithm)
        return guarded(definition) if is_user_defined(definition) else definition

    @property
    def player(self) -> Any:
        """The algorithm as it is played on this bandit."""
        player: Any = self.definition
        if isinstance(self.bandit, CustomBandit):
            return self.bandit.on_custom_arms(player, self.horizon)
        return player

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules of this package that the algorithm is played with."""
        return super().modules if isinstance(self.algorithm, str) else (PLAY,)

    @cached_property
    def fingerprint(self) -> str:
        """Fingerprint of the code that the cell's results depend on."""
        return algorithm_fingerprint(self.algorithm)

    def __reduce__(self) -> Any:
        """Return how a worker process makes it, under the keys that it has here.

        The same code may be hashed otherwise in another process.
        """
        parts = self.__getstate__()
        code = packed(self.definition.id, (parts.pop("algorithm"), parts.pop("bandit")))
        keys = {name: getattr(self, name) for name in ("fingerprint", "stream_description")}
        return _arrived, (parts, code, keys)


def _arrived(parts: dict[str, Any], code: bytes, keys: dict[str, Any]) -> OwnCell:
    algorithm, bandit = unpacked(code)
    cell = OwnCell(algorithm=algorithm, bandit=bandit, **parts)
    vars(cell).update(keys)
    return cell


def cell_kind(algorithm: str | Definition, bandit: Bandit) -> type[Cell]:
    """Return the kind of cell that ``make_cell`` is to make: ``OwnCell`` for users' code."""
    definition = find_definition(algorithm)
    require_own_id(definition)
    is_own = is_user_defined(definition) or isinstance(bandit, CustomBandit)
    return OwnCell if is_own else Cell
