"""What names a random stream, and the generators that it then gives."""

import hashlib
from typing import Any

import pytest

import dpbandits
from dpbandits.engine.cells import Cell, make_cell
from dpbandits.engine.seeds import DEFAULT_ROOT_SEED, run_generator, stream_key
from support import FIVE_ARMS

MODIFIED = {"b": 3, "c": 2.0}
BASE: dict[str, Any] = {
    "algorithm": "m-ts-gaussian",
    "parameters": MODIFIED,
    "bandit": FIVE_ARMS,
    "horizon": 100,
    "runs": 1,
}


def key_of(cell: Cell) -> str:
    return f"{stream_key(cell.stream_description):032x}"


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
