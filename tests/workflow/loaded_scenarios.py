"""What ``test_loaded_code.py`` runs in processes of its own: ``python loaded_scenarios.py NAME N``.

Each function plays with N workers in the folder where it is started, and prints one JSON value.
"""

import json
import sys
import threading
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np

import dpbandits
from dpbandits.algorithms import Algorithm


@dataclass(frozen=True)
class Parameters:
    pass


class Settings(NamedTuple):
    horizon: int


class State(NamedTuple):
    clock: Any


def settings(parameters: Any, interpretations: Any, horizon: int, arms: int) -> Settings:
    return Settings(horizon)


def state(arms: int) -> State:
    return State(np.zeros(1, np.int64))


def play(share: float, told: Any, state: Any, *rest: Any) -> int:
    """Play arm 0 for a share of the rounds, then arm 1, as two entries."""
    first = int(share * told.horizon)
    arms, lengths, sums = rest[-1]
    arms[:2], lengths[:2], sums[:2] = (0, 1), (first, told.horizon - first), 0.0
    state.clock[0] = told.horizon
    return 2


def of_factory(share: float) -> Any:
    def advance(*arguments: Any) -> int:
        return play(share, *arguments)

    return advance


def compiled_of_factory(share: float) -> Any:
    @numba.njit
    def advance(told, state, bandit, generator, out):  # type: ignore
        arms, lengths, sums = out
        first = int(share * told.horizon)
        arms[0], lengths[0], sums[0] = 0, first, 0.0
        arms[1], lengths[1], sums[1] = 1, told.horizon - first, 0.0
        state.clock[0] = told.horizon
        return 2

    return advance


class Callable:
    def __init__(self, share: float) -> None:
        self.share = share

    def __call__(self, *arguments: Any) -> int:
        return play(self.share, *arguments)


SHARE = [0.75]
LOCK = threading.Lock()


def by_global(*arguments: Any) -> int:
    return play(SHARE[0], *arguments)


def by_lock(*arguments: Any) -> int:
    with LOCK:
        return play(0.5, *arguments)


def algorithm(advance: Any) -> Algorithm:
    return Algorithm(
        id="mine",
        name="Mine",
        paper="none",
        parameters=Parameters,
        settings=settings,
        state=state,
        advance=advance,
        reference=lambda *_: iter(()),
        guarantee=lambda *_: dpbandits.privacy.Guarantee("pure", 0.0),
        example={},
    )


WORKERS = int(sys.argv[2]) if __name__ == "__main__" else 1


def simulation(own: Any, **changes: Any) -> dpbandits.Simulation:
    bandit = dpbandits.bernoulli([0.75, 0.5])
    base: dict[str, Any] = {"bandit": bandit, "horizon": 40, "runs": 20, "workers": WORKERS}
    return dpbandits.simulate(algorithm=own, **(base | changes))


def first_arm(own: Any, **changes: Any) -> int:
    return int(simulation(own, **changes).pulls[:, 0].sum())


def message(call: Any) -> str:
    try:
        return f"no error: {call()}"
    except dpbandits.InputError as error:
        return str(error)


def replace_text(path: str, old: str, new: str) -> None:
    text = Path(path).read_text()
    assert old in text, path
    Path(path).write_text(text.replace(old, new))


def loaded() -> Any:
    return first_arm(dpbandits.load_algorithm("own_file.py"))


def edited() -> Any:
    """Load, edit the file, then the file beside it, and load again each time."""
    before = dpbandits.load_algorithm("own_file.py")
    waiting = simulation(before, horizon=20)
    found = [first_arm(before)]
    replace_text("own_file.py", "0.25", "0.50")
    found.append(first_arm(dpbandits.load_algorithm("own_file.py")))
    replace_text("own_beside.py", "PART = 1", "PART = 2")
    found.append(first_arm(dpbandits.load_algorithm("own_file.py")))
    Path("own_data.txt").write_text("2")
    found.append(first_arm(dpbandits.load_algorithm("own_file.py")))
    same = dpbandits.load_algorithm("own_file.py") is dpbandits.load_algorithm("own_file.py")
    return [*found, first_arm(before), int(waiting.pulls[:, 0].sum()), same]


def imported() -> Any:
    """Edit an imported module of the user's between ``simulate`` and the result."""
    sys.path.insert(0, ".")
    import own_module

    waiting = simulation(own_module.ALGORITHM)
    replace_text("own_module.py", *sys.argv[3:])
    return message(lambda: int(waiting.pulls[:, 0].sum()))


def fresh_import() -> Any:
    sys.path.insert(0, ".")
    import own_module

    return first_arm(own_module.ALGORITHM)


def installed() -> Any:
    """Return how long the key of an algorithm in an installed package takes, and whether it moves.

    The package stands in ``site``, beside a module that calls itself numba's and numpy's equal.
    """
    from dpbandits.engine import installed

    installed._installed_folders = lambda: (Path("site").resolve(), Path(np.__path__[0]).parent)
    sys.path.insert(0, "site")
    import own_plugin

    begun = time.perf_counter()
    keys = [simulation(own_plugin.ALGORITHM).cell.fingerprint]
    keys.append(simulation(dpbandits.load_algorithm("site/own_plugin.py")).cell.fingerprint)
    return [time.perf_counter() - begun, *keys]


def frozen() -> Any:
    """Change a global that a compiled kernel has taken in; then what numba has kept on disk."""
    own = dpbandits.load_algorithm("own_file.py")
    found = [first_arm(own)]
    vars(sys.modules[own.settings.__module__])["DATA"] = 3
    told = message(lambda: first_arm(own))
    return [*found, told]


def callables() -> Any:
    """Play what differs in nothing but a number that stands in no source of the kernel."""
    found = [first_arm(algorithm(of_factory(share))) for share in (0.25, 0.5)]
    found += [first_arm(algorithm(compiled_of_factory(share))) for share in (0.25, 0.5)]
    found += [first_arm(algorithm(partial(play, share))) for share in (0.25, 0.5)]
    found += [first_arm(algorithm(Callable(share))) for share in (0.25, 0.5)]
    found.append(first_arm(algorithm(by_global)))
    SHARE[0] = 0.5
    found.append(first_arm(algorithm(by_global)))
    told = [message(lambda: first_arm(algorithm(by_lock)))]
    SHARE[0] = 0.25
    uncached = first_arm(algorithm(by_global), cache=False)
    return [found, told, uncached, replace(algorithm(by_global), id="other").id]


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]]()))
