"""Golden streams: what names a random stream, and the numbers it then gives.

The table was written from the first release; a change of one of its numbers moves the seeds of
every published result, and belongs in the release notes.
"""

import hashlib
from ast import literal_eval
from typing import Any

import pytest

import dpbandits
from dpbandits.algorithms import REGRET
from dpbandits.engine.cells import Cell, make_cell
from dpbandits.engine.seeds import DEFAULT_ROOT_SEED, run_generator, stream_key
from found_papers import PLAYED
from support import FIVE_ARMS

TWO_ARMS = dpbandits.bernoulli([0.9, 0.1])
EXPONENTIAL_ARMS = dpbandits.truncated_exponential([0.1, 1, 2, 5, 10])
MODIFIED = {"b": 3, "c": 2.0}


BANDITS = {"five": FIVE_ARMS, "two": TWO_ARMS, "exponential": EXPONENTIAL_ARMS}

# Algorithm, parameters, variant or interpretations, instance, horizon, the first 16 digits of the
# key of its stream, and the final regret of run 0. Of dp-se: R = floor(128 ln(16 T)) + 1 = 1417
# pulls of the worse arm, at a gap of 0.8.
GOLDEN = """
ts-gaussian      -            -                five         500 f6beac6eee1364d4 50.0
m-ts-gaussian    b=3,c=2.0    -                exponential  500 ccbdd46e482b5405 51.364386639129805
m-ts-gaussian    b=3,c=2.0    count=n          exponential  500 15fe1ba434e4115a 42.0442649301159
dp-se            epsilon=1.0  -                two         4000 fdc1db22d81eda11 1133.6000000000001
anytime-lazy-ucb epsilon=1.0  -                five         500 e2b6ad2e480ca1b1 101.875
ucb1             -            -                exponential  500 d3d35ad2f4e1c680 52.191331075101004
dp-ts-ucb        alpha=1.0    -                five        4000 82cfecf98cab956e 399.5
dp-ts-ucb        alpha=0.5    renewal=pull     exponential  500 8d172c067399c4a9 66.49195470902454
lazy-dp-ts       epsilon=1.0  -                five         500 61b169f5df2aeff0 112.875
dp-ts            epsilon=20.0 -                exponential  500 56c416c6e0e3182c 68.81218663889723
gdp-ncb          epsilon=1.0  variant=as-coded five        4000 8852424fe3dd14c5 781.875
gdp-ncb          epsilon=20.0 variant=repaired exponential 4000 5ad0c02d42f2e439 287.5597742562333
gdp-ncb          epsilon=20.0 cap=root,stop_test=off,release_log=base2 \
                 exponential 4000 c3339db257297c58 487.67463682464825
adap-ucb         epsilon=1.0  -                five        4000 ab4222565e81d47a 468.0
adap-ucb         epsilon=1.0  variant=as-coded exponential 4000 17ea44611a63a492 566.1220626492147
ncb              -            variant=as-coded exponential 4000 e195cfaf97eecca2 305.5966053968664
ldp-ncb          epsilon=1.0  variant=as-coded five        4000 d240678532ddfae0 818.25
ldp-ncb          epsilon=20.0 variant=repaired exponential 4000 21d87862fc0fb4ef 357.5578091991223
ldp-ncb          epsilon=20.0 cap=root,stop_test=off \
                 exponential 4000 ea1bedbdc7a15a3a 397.8102184104598
ldp-ucb-l        epsilon=5.0  -                exponential 4000 7811370b3f1abefd 298.9550435523525
ldp-ucb-l        epsilon=1.0  variant=as-coded five        4000 4da21f1f866f0cd8 881.125
anytime-gdp-ncb  epsilon=5.0  variant=as-coded five        4000 94ee61fddaa0b35f 779.875
anytime-gdp-ncb  epsilon=20.0 variant=repaired exponential 4000 23abb34880bf1063 426.4701443554304
anytime-gdp-ncb  epsilon=20.0 cap=root,stop_test=off,release_log=base2 \
                 exponential 4000 4a960ea8ff88b099 533.3120894090171
anytime-ldp-ncb  epsilon=20.0 variant=repaired exponential 4000 5209245c4e47a9d8 433.65350341612145
anytime-ldp-ncb  epsilon=20.0 cap=root,stop_test=off \
                 exponential 4000 d617fdc05ff4dc5e 468.12405260563463
"""
LINES = [line.split() for line in GOLDEN.strip().splitlines()]
BASE: dict[str, Any] = {
    "algorithm": "m-ts-gaussian",
    "parameters": MODIFIED,
    "bandit": FIVE_ARMS,
    "horizon": 100,
    "runs": 1,
}


def key_of(cell: Cell) -> str:
    return f"{stream_key(cell.stream_description):032x}"


def pairs(text: str) -> dict[str, str]:
    """Return the pairs of a text ``key=value,key=value``."""
    return dict(pair.split("=") for pair in text.split(",") if pair != "-")


@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_streams_are_the_golden_ones(line: list[str]) -> None:
    algorithm, parameters, options, bandit, horizon, key, regret = line
    chosen = pairs(options)
    cell = make_cell(
        algorithm=algorithm,
        parameters={name: literal_eval(value) for name, value in pairs(parameters).items()},
        variant=chosen.pop("variant", "as-written"),
        interpretations=chosen,
        bandit=BANDITS[bandit],
        horizon=int(horizon),
        runs=1,
    )
    assert key_of(cell)[:16] == key
    # Counts times gaps; the last bit of an exponential mean may differ between maths libraries.
    found = cell.play(DEFAULT_ROOT_SEED)["pseudo_regret"].item()
    assert found == pytest.approx(float(regret), rel=1e-12)


def test_every_algorithm_of_a_published_paper_has_a_golden_stream() -> None:
    """Of others no published result has a seed that could move."""
    assert {*REGRET} & PLAYED <= {line[0] for line in LINES} <= {*REGRET}


def test_runs_draw_from_the_golden_generators() -> None:
    """Root seed, key and run give bits of PCG64, the same on every machine."""
    key = 0xF6BEAC6EEE1364D47E4B2FFC013874F6
    assert run_generator(DEFAULT_ROOT_SEED, key, 0).random() == 0.3777785479557917
    assert run_generator(DEFAULT_ROOT_SEED, key, 1).random() == 0.1397734953665999


def test_key_is_the_hash_of_the_canonical_text() -> None:
    text = (
        '{"algorithm":"m-ts-gaussian","bandit":[{"law":"bernoulli","parameter":0.5},'
        '{"law":"truncated-exponential","parameter":2.0}],"horizon":9,'
        '"parameters":{"b":3,"c":2.0},"readings":{"count":"n"},"variant":"as-written"}'
    )
    arms = (dpbandits.bandits.Bernoulli(0.5), dpbandits.bandits.TruncatedExponential(2))
    changes = {"bandit": dpbandits.Bandit(arms), "interpretations": {"count": "n"}, "horizon": 9}
    expected = hashlib.sha256(text.encode()).hexdigest()[:32]
    assert key_of(make_cell(**{**BASE, **changes})) == expected


def test_default_root_seed() -> None:
    assert DEFAULT_ROOT_SEED == 20260719


def test_named_stream() -> None:
    cell = make_cell(**BASE, stream="shared")
    assert cell.stream_description == {"stream": "shared"}
    assert key_of(cell) == "c222935f1a6a53196f723df8a5c3959b"
    other = make_cell(**{**BASE, "horizon": 7}, stream="shared")
    assert key_of(other) == key_of(cell)


@pytest.mark.parametrize(
    "same",
    [
        {"interpretations": {"count": "n+1"}},
        {"interpretations": {"count": "n+1", "long_pre_pull": "truncate"}},
        {"variant": "as-written"},
        {"parameters": {"c": 2, "b": 3}},
        {"bandit": dpbandits.bernoulli((3 / 4, 5 / 8, 0.5, 0.375, 0.25))},
        {"grid": [1, 2, 50]},
        {"metrics": ["pulls", "realised_regret"]},
        {"first_run": 30},
        {"runs": 25},
    ],
    ids=str,
)
def test_what_leaves_the_key_alone(same: dict[str, Any]) -> None:
    assert key_of(make_cell(**{**BASE, **same})) == key_of(make_cell(**BASE))


@pytest.mark.parametrize(
    "other",
    [
        {"algorithm": "ts-gaussian", "parameters": {}},
        {"parameters": {"b": 4, "c": 2.0}},
        {"parameters": {"b": 3, "c": 2.0000000000000004}},
        {"interpretations": {"count": "n"}},
        {"interpretations": {"long_pre_pull": "error"}},
        {"bandit": dpbandits.bernoulli([0.625, 0.75, 0.5, 0.375, 0.25])},
        {"bandit": dpbandits.truncated_exponential([0.75, 0.625, 0.5, 0.375, 0.25])},
        {"horizon": 101},
        {"stream": "shared"},
    ],
    ids=str,
)
def test_what_moves_the_key(other: dict[str, Any]) -> None:
    assert key_of(make_cell(**{**BASE, **other})) != key_of(make_cell(**BASE))


def test_whole_bernoulli_means_name_the_stream_of_their_floats() -> None:
    whole = make_cell(**{**BASE, "bandit": dpbandits.bernoulli([1, 0])})
    floats = make_cell(**{**BASE, "bandit": dpbandits.bernoulli([1.0, 0.0])})
    assert key_of(whole) == key_of(floats)


def test_runs_root_seeds_and_keys_have_streams_of_their_own() -> None:
    streams = [(1, 5, 0), (1, 5, 1), (1, 6, 0), (2, 5, 0), (1, 2**128 - 1, 0)]
    firsts = {run_generator(*stream).random() for stream in streams}
    assert len(firsts) == len(streams)
