"""CPU time and memory of Figure 1(b) of DP-NCB, beside those of the code released with it.

    python benchmarks/released.py [FOLDER] [--horizon 10000000] [--runs 2]

FOLDER holds a copy of the code that is released with the paper (NP-Hardest/DP-NCB on GitHub), by
default ``benchmarks/authors``; the project does not ship it. Without it nothing is compared. Every
simulation, theirs and ours as coded, goes from the arms to the Nash curve in a process of its own,
one after the other, after a short run that compiles it.
"""

import argparse
import importlib
import multiprocessing
import resource
import sys
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

EPSILON, ALPHA, C = 0.2, 3.1, 3.0
ARMS = np.random.RandomState(42).uniform(0.005, 1, 50)
RELEASED: dict[str, tuple[str, str, dict[str, Any]]] = {
    "ncb": ("NCBNonPrivate", "simulate_ncb", {"c": C, "regret_type": "Nash"}),
    "adap-ucb": (
        *("AdaPUCB", "simulate_adap_ucb"),
        {"epsilon": EPSILON, "alpha": ALPHA, "regret_type": "Nash"},
    ),
    "gdp-ncb": (
        *("GDPNCB", "simulate_GDP_NCB"),
        {"epsilon": EPSILON, "alpha": ALPHA, "c": C, "regret_type": "Nash"},
    ),
    "ldp-ncb": ("LDPNCB", "simulate_LDP_NCB", {"epsilon": EPSILON, "alpha": ALPHA, "c": C}),
    "ldp-ucb-l": ("LDPUCB", "simulate_LDP_UCB_L", {"epsilon": EPSILON}),
}
"""Algorithm -> module in ``algorithms`` of the released code, its function, and its arguments."""


def released_simulation(folder: Path, algorithm: str, horizon: int, runs: int) -> None:
    """Simulate a Nash curve with the released code."""
    # It draws bars of progress with a library that this project does without.
    sys.modules["tqdm"] = types.SimpleNamespace(tqdm=lambda trials, **_: trials)  # type: ignore[assignment]
    sys.path.insert(0, str(folder / "algorithms"))
    module, function, arguments = RELEASED[algorithm]
    simulate = getattr(importlib.import_module(module), function)
    simulate(means=ARMS, T_max=horizon, num_trials=runs, test_type=0, **arguments)


def own_simulation(folder: Path, algorithm: str, horizon: int, runs: int) -> None:
    """Simulate a Nash curve as the engine does, without its cache."""
    from dpbandits.algorithms import REGRET
    from dpbandits.bandits import bernoulli
    from dpbandits.engine.cells import make_cell
    from dpbandits.engine.play import play_curve

    parameters = {"epsilon": EPSILON} if "epsilon" in REGRET[algorithm].example else {}
    cell = make_cell(
        algorithm=algorithm,
        parameters=parameters,
        variant="as-coded",
        bandit=bernoulli(ARMS),
        horizon=horizon,
    )
    grid = np.unique(np.geomspace(1, horizon, 200).astype(np.int64))
    play_curve(
        REGRET[algorithm], cell.settings, cell.bandit, grid, ("nash_regret",), (0, 0, range(runs))
    )


def measure(
    simulation: Callable[[Path, str, int, int], None], *arguments: Any
) -> tuple[float, float]:
    """Return nanoseconds of CPU per run and round, and the peak of memory in megabytes."""
    folder, algorithm, horizon, runs = arguments
    simulation(folder, algorithm, min(horizon, 100_000), runs)
    begun = time.process_time_ns()
    simulation(folder, algorithm, horizon, runs)
    taken = (time.process_time_ns() - begun) / (horizon * runs)
    return taken, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Print one line an algorithm and one of all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    default = Path(__file__).parent / "authors"
    parser.add_argument("folder", nargs="?", type=Path, default=default)
    parser.add_argument("--horizon", type=int, default=10**7)
    parser.add_argument("--runs", type=int, default=2)
    given = parser.parse_args()
    found = {path.stem for path in (given.folder / "algorithms").glob("*.py")}
    algorithms = [name for name, (module, _, _) in RELEASED.items() if module in found]
    if not algorithms:
        print(f"{given.folder}: no copy of the released code of dp-ncb; nothing is compared")
        return
    print(f"K = {ARMS.size} Bernoulli arms, T = {given.horizon}, {given.runs} runs, as coded")
    print(f"{'CPU time a round, peak memory':<30} {'released':>18} {'ours':>18} {'faster':>8}")
    total = np.zeros(2)
    for algorithm in algorithms:
        measured = []
        for simulation in (released_simulation, own_simulation):
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                case = (simulation, given.folder, algorithm, given.horizon, given.runs)
                measured.append(pool.apply(measure, case))
        times = np.array([taken for taken, _ in measured])
        total += times
        columns = " ".join(f"{taken:>8.2f} ns {peak:>4.0f} MB" for taken, peak in measured)
        print(f"{algorithm:<30} {columns} {times[0] / times[1]:>7.0f}x", flush=True)
    print(
        f"{'all':<30} {total[0]:>8.2f} ns {'':>7} {total[1]:>8.2f} ns {'':>7}"
        f" {total[0] / total[1]:>7.0f}x"
    )


if __name__ == "__main__":
    main()
