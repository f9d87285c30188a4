"""How far the Gaussian engine goes: the full audit and a quick one."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """Horizons, parameters and runs of an audit of Gaussian Thompson sampling.

    Attributes:
        horizons: T of the two-armed lattice.
        far_horizons: T of the far tail.
        three_armed_horizons: T of the lattice of three arms.
        sampled: arms, T and runs per law of the simulated outputs.
        delta_horizons: T of epsilon at delta.
        modified_horizon: T of the lattice of Modified TS.
        pre_pulls: b of Modified TS on the lattice.
        far_pre_pulls: b of Modified TS in the far tail, at T = 100,000.
        levels: eta of Modified TS.
        budget_horizons: T of DP-TS-UCB.
        alphas: of DP-TS-UCB.
        quoted_horizon: T of the figures of dp-ts-ucb with Modified TS.
    """

    horizons: tuple[int, ...]
    far_horizons: tuple[int, ...]
    three_armed_horizons: tuple[int, ...]
    sampled: tuple[tuple[int, int, int], ...]
    delta_horizons: tuple[int, ...]
    modified_horizon: int
    pre_pulls: tuple[int, ...]
    far_pre_pulls: tuple[int, ...]
    levels: tuple[int, ...]
    budget_horizons: tuple[int, ...]
    alphas: tuple[float, ...]
    quoted_horizon: int


_FAR_PRE_PULLS = (0, 10, 100, 500, 1_000, 2_000, 5_000, 10_000, 20_000)

FULL = Scale(
    horizons=(2, 3, 10, 30, 100, 300, 1_000, 3_000),
    far_horizons=(10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 1_000_000),
    three_armed_horizons=(10, 30),
    sampled=((2, 100, 200_000), (3, 100, 3_000), (5, 50, 2_000)),
    delta_horizons=(10, 30, 100, 300, 1_000),
    modified_horizon=1_000,
    pre_pulls=(0, 1, 5, 20, 50, 100, 200, 300, 400),
    far_pre_pulls=_FAR_PRE_PULLS,
    levels=(1, 2, 5),
    budget_horizons=(1_000, 10_000, 100_000),
    alphas=(0.0, 0.25, 0.5, 0.75, 1.0),
    quoted_horizon=1_000_000,
)

QUICK = Scale(
    horizons=(2, 3, 10, 30, 100),
    far_horizons=(10, 30, 100, 1_000, 100_000),
    three_armed_horizons=(10,),
    sampled=((2, 30, 10_000), (3, 10, 2_000)),
    delta_horizons=(10, 30, 100),
    modified_horizon=100,
    pre_pulls=(0, 1, 5, 20, 40),
    far_pre_pulls=_FAR_PRE_PULLS,
    levels=(1, 2, 5),
    budget_horizons=(100, 1_000),
    alphas=(0.0, 0.5, 1.0),
    quoted_horizon=1_000_000,
)
