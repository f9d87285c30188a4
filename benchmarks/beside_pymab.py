"""UCB1 and beta Thompson sampling beside PyMAB, a package with a Rust core.

    pip install pymab; python benchmarks/beside_pymab.py

CPU time a round in this one process, the smallest of several, so that the ratio holds on a busy
machine. PyMAB keeps every reward and action of a run; dpbandits keeps what it is asked for, here
the pulls at the horizon. It is no dependency of the project: without it nothing is compared.
"""

import time
from collections.abc import Callable, Iterator

import numpy as np

import dpbandits

MEANS = [0.75, 0.625, 0.5, 0.375, 0.25]
HORIZON, RUNS, REPEATS = 20_000, 5, 3


def nanoseconds(work: Callable[[], object]) -> float:
    """Return the smallest CPU time of several repeats, a round, after a cold one."""
    work()
    times = []
    for _ in range(REPEATS):
        begun = time.process_time_ns()
        work()
        times.append(time.process_time_ns() - begun)
    return min(times) / (HORIZON * RUNS)


def main() -> None:
    """Print one line an algorithm."""
    try:
        import pymab
        from pymab.policies import BernoulliThompsonSamplingPolicy, UCBPolicy
    except ImportError:
        print("pymab is not installed: nothing is compared (pip install pymab)")
        return
    environment = pymab.BanditEnvironment(
        means=np.array(MEANS), reward_model=pymab.BernoulliReward()
    )
    config = pymab.ExperimentConfig(horizon=HORIZON, n_replicates=RUNS, seed=1, backend="rust")
    arms = dpbandits.bernoulli(MEANS)
    print("ns a round            pymab  dpbandits   ratio")
    for name, policy in {"ucb1": UCBPolicy, "ts-beta": BernoulliThompsonSamplingPolicy}.items():
        theirs = pymab.Experiment(
            environment=environment, policies={name: policy(n_arms=len(MEANS))}, config=config
        )
        seeds = iter(range(REPEATS + 1))

        def ours(name: str = name, seeds: Iterator[int] = seeds) -> object:
            # Another seed each time: results are kept.
            played = dpbandits.simulate(
                algorithm=name, bandit=arms, horizon=HORIZON, runs=RUNS, seed=next(seeds)
            )
            return played.pulls

        slow, fast = nanoseconds(theirs.run), nanoseconds(ours)
        print(f"{name:<20} {slow:>7.0f} {fast:>10.0f} {slow / fast:>6.0f}x")


if __name__ == "__main__":
    main()
