"""Golden streams: what names a random stream, and the numbers it then gives.

The table was written from the first release; a change of one of its numbers moves the seeds of
every published result, and belongs in the release notes.
"""

import hashlib
from dataclasses import dataclass
from typing import Any

import pytest

import dpbandits
from dpbandits.engine.cells import Cell, make_cell
from dpbandits.engine.seeds import DEFAULT_ROOT_SEED, run_generator, stream_key

FIVE_ARMS = dpbandits.bernoulli([0.75, 0.625, 0.5, 0.375, 0.25])
TWO_ARMS = dpbandits.bernoulli([0.9, 0.1])
EXPONENTIAL_ARMS = dpbandits.truncated_exponential([0.1, 1, 2, 5, 10])
MODIFIED = {"b": 3, "c": 2.0}


@dataclass(frozen=True)
class Golden:
    """A cell, the key of its stream, four uniforms of runs 0 and 1, final regret of run 0."""

    cell: dict[str, Any]
    key: str
    first_run: tuple[float, float, float, float]
    second_run: tuple[float, float, float, float]
    regret: float


GOLDEN = [
    Golden(
        {"algorithm": "ts-gaussian", "bandit": FIVE_ARMS, "horizon": 500},
        "f6beac6eee1364d47e4b2ffc013874f6",
        (0.3777785479557917, 0.47951450728626965, 0.11632491445459259, 0.3455946335004699),
        (0.1397734953665999, 0.2912892576583592, 0.6592272340899687, 0.47175200286748875),
        50.0,
    ),
    Golden(
        {
            "algorithm": "m-ts-gaussian",
            "parameters": MODIFIED,
            "bandit": EXPONENTIAL_ARMS,
            "horizon": 500,
        },
        "ccbdd46e482b540557a117f32399fec8",
        (0.7751551293069658, 0.7435673087867396, 0.647124096162195, 0.6467068049368686),
        (0.8647654297366381, 0.8674293314981786, 0.737792394324503, 0.5879830384334024),
        51.364386639129805,
    ),
    Golden(
        {
            "algorithm": "m-ts-gaussian",
            "parameters": MODIFIED,
            "readings": {"count": "n"},
            "bandit": EXPONENTIAL_ARMS,
            "horizon": 500,
        },
        "15fe1ba434e4115a673e47858440a20a",
        (0.07892845047545494, 0.4274000012261612, 0.675214118580049, 0.4960273931365722),
        (0.44063725969577294, 0.4814297813737074, 0.28147335690437325, 0.28124719954798116),
        42.0442649301159,
    ),
    Golden(
        {
            "algorithm": "dp-se",
            "parameters": {"epsilon": 1.0},
            "bandit": TWO_ARMS,
            "horizon": 4000,
        },
        "fdc1db22d81eda1193cc84a6df9a1825",
        (0.748589601555844, 0.2608601599830943, 0.8921472017981762, 0.8203209390716568),
        (0.44479747635343836, 0.6422279699514348, 0.21422456679780555, 0.4762000332167632),
        # R = floor(128 ln(16 T)) + 1 = 1417 pulls of the worse arm, at a gap of 0.8.
        1417 * 0.8,
    ),
    Golden(
        {
            "algorithm": "anytime-lazy-ucb",
            "parameters": {"epsilon": 1.0},
            "bandit": FIVE_ARMS,
            "horizon": 500,
        },
        "e2b6ad2e480ca1b124d49694c8c71472",
        (0.7044753863958765, 0.5856839352205764, 0.12380510909050257, 0.3925320932736268),
        (0.35386186214073234, 0.20719792751212462, 0.478128328675242, 0.9462077358878385),
        101.875,
    ),
    Golden(
        {"algorithm": "ucb1", "bandit": EXPONENTIAL_ARMS, "horizon": 500},
        "d3d35ad2f4e1c680038f8530dd38a0c7",
        (0.45807258197079637, 0.24885628493281164, 0.38003228660911925, 0.026210443914456705),
        (0.25061407917005996, 0.03482290864104176, 0.8626082487356919, 0.9361511622263445),
        52.191331075101004,
    ),
    Golden(
        {
            "algorithm": "dp-ts-ucb",
            "parameters": {"alpha": 1.0},
            "bandit": FIVE_ARMS,
            "horizon": 4000,
        },
        "82cfecf98cab956e55f4ca31af290f01",
        (0.964375597576913, 0.4902539368500237, 0.40823230004017697, 0.8829400374742283),
        (0.6121496773155787, 0.9022630398237568, 0.1473224303333288, 0.8627030471931038),
        399.5,
    ),
    Golden(
        {
            "algorithm": "dp-ts-ucb",
            "parameters": {"alpha": 0.5},
            "readings": {"renewal": "pull"},
            "bandit": EXPONENTIAL_ARMS,
            "horizon": 500,
        },
        "8d172c067399c4a9a13ea5d419869dd1",
        (0.07575911059446949, 0.16753801608683483, 0.5971356046505214, 0.6421925318072448),
        (0.9743101996213452, 0.5267836046100952, 0.875001988863539, 0.5508701705202744),
        66.49195470902454,
    ),
    Golden(
        {
            "algorithm": "lazy-dp-ts",
            "parameters": {"epsilon": 1.0},
            "bandit": FIVE_ARMS,
            "horizon": 500,
        },
        "61b169f5df2aeff040a6c43d2fde3416",
        (0.12316847300169198, 0.5478097794593026, 0.21569160097570517, 0.7612104785038297),
        (0.5799588832799172, 0.29814783786162746, 0.32704635920024494, 0.5319752884126251),
        112.875,
    ),
    Golden(
        {
            "algorithm": "dp-ts",
            "parameters": {"epsilon": 20.0},
            "bandit": EXPONENTIAL_ARMS,
            "horizon": 500,
        },
        "56c416c6e0e3182c2489bbde60f9a495",
        (0.8316657556519973, 0.4481768866174173, 0.806380285682938, 0.4048888998878182),
        (0.1637689409759966, 0.8551674636909038, 0.7615645410175224, 0.22186822770515846),
        68.81218663889723,
    ),
    Golden(
        {
            "algorithm": "gdp-ncb",
            "parameters": {"epsilon": 1.0},
            "variant": "as-coded",
            "bandit": FIVE_ARMS,
            "horizon": 4000,
        },
        "8852424fe3dd14c59930cb94f452c9d5",
        (0.8896597845110412, 0.38660183238933354, 0.4656379633528359, 0.349375033961036),
        (0.5665337977643934, 0.20572683666732372, 0.39290052075732096, 0.016269418332918617),
        781.875,
    ),
    Golden(
        {
            "algorithm": "gdp-ncb",
            "parameters": {"epsilon": 20.0},
            "variant": "repaired",
            "bandit": EXPONENTIAL_ARMS,
            "horizon": 4000,
        },
        "c3339db257297c58086f2e979755281e",
        (0.09896276096850176, 0.6922012054057185, 0.9782003728333388, 0.955860521533251),
        (0.25434265583195026, 0.4863481187428349, 0.5010803568471063, 0.6598200496612838),
        487.67463682464825,
    ),
    Golden(
        {
            "algorithm": "adap-ucb",
            "parameters": {"epsilon": 1.0},
            "bandit": FIVE_ARMS,
            "horizon": 4000,
        },
        "ab4222565e81d47ab06f6e535d0ca5e6",
        (0.6033196040737531, 0.10986229859919827, 0.636995989092916, 0.6098382662461068),
        (0.11696162847016622, 0.6015652715676415, 0.8556685384332964, 0.39804841798625956),
        468.0,
    ),
    Golden(
        {
            "algorithm": "adap-ucb",
            "parameters": {"epsilon": 1.0},
            "variant": "as-coded",
            "bandit": EXPONENTIAL_ARMS,
            "horizon": 4000,
        },
        "17ea44611a63a49263321dcd5bc10c60",
        (0.24330212403200568, 0.6265832130418185, 0.8640471476517814, 0.3104624274474419),
        (0.34084349797383806, 0.14346045109763572, 0.8845936863690038, 0.963555355228335),
        566.1220626492147,
    ),
    Golden(
        {
            "algorithm": "ncb",
            "variant": "as-coded",
            "bandit": EXPONENTIAL_ARMS,
            "horizon": 4000,
        },
        "e195cfaf97eecca2d6b699b5c8a8ca7d",
        (0.856905753357643, 0.8068277087587006, 0.4447962819303126, 0.11998310924660938),
        (0.017771448418078206, 0.8285035641353354, 0.12265495750765287, 0.6710907304980012),
        305.5966053968664,
    ),
    Golden(
        {
            "algorithm": "ldp-ncb",
            "parameters": {"epsilon": 1.0},
            "variant": "as-coded",
            "bandit": FIVE_ARMS,
            "horizon": 4000,
        },
        "d240678532ddfae0334bf3cf2973874e",
        (0.9000410890121077, 0.10174539229382207, 0.22868304811209206, 0.8943108423903819),
        (0.9770305976291477, 0.6196445919629376, 0.08034622500071786, 0.21977270959749085),
        818.25,
    ),
    Golden(
        {
            "algorithm": "ldp-ncb",
            "parameters": {"epsilon": 20.0},
            "variant": "repaired",
            "bandit": EXPONENTIAL_ARMS,
            "horizon": 4000,
        },
        "ea1bedbdc7a15a3a41888d5be8e65dd4",
        (0.36874721768166596, 0.15984955538072587, 0.7553926832283878, 0.675209148607023),
        (0.9313979114834577, 0.678960239572439, 0.7941491711939784, 0.8892012793584123),
        397.8102184104598,
    ),
    Golden(
        {
            "algorithm": "ldp-ucb-l",
            "parameters": {"epsilon": 5.0},
            "bandit": EXPONENTIAL_ARMS,
            "horizon": 4000,
        },
        "7811370b3f1abefd416b49626a302a9f",
        (0.7381798956520101, 0.8709856887786943, 0.4287364877554286, 0.9375754276841178),
        (0.7525505271688261, 0.7002396758563949, 0.451464860375388, 0.9960237713095705),
        298.9550435523525,
    ),
    Golden(
        {
            "algorithm": "ldp-ucb-l",
            "parameters": {"epsilon": 1.0},
            "variant": "as-coded",
            "bandit": FIVE_ARMS,
            "horizon": 4000,
        },
        "4da21f1f866f0cd83e5500db01d85a9d",
        (0.8026333442264549, 0.3693598963497158, 0.1302347163166312, 0.4452663935370764),
        (0.9284225380998288, 0.6300644450087173, 0.8865022812321471, 0.8838581853517847),
        870.875,
    ),
    Golden(
        {
            "algorithm": "anytime-gdp-ncb",
            "parameters": {"epsilon": 5.0},
            "variant": "as-coded",
            "bandit": FIVE_ARMS,
            "horizon": 4000,
        },
        "94ee61fddaa0b35f26c7a475e1ddaebe",
        (0.011966584079347475, 0.7715044707669834, 0.9702794621329343, 0.7776259807290051),
        (0.4190161511237148, 0.27075021689342826, 0.12150151699580725, 0.7512923683705086),
        779.875,
    ),
    Golden(
        {
            "algorithm": "anytime-gdp-ncb",
            "parameters": {"epsilon": 20.0},
            "variant": "repaired",
            "bandit": EXPONENTIAL_ARMS,
            "horizon": 4000,
        },
        "4a960ea8ff88b099c70eaa2e9c2bac64",
        (0.8362776268128447, 0.7181893226276309, 0.8779557107301453, 0.7117997229677596),
        (0.48872467519079743, 0.7637333018195771, 0.5892947688003711, 0.5262888992685952),
        533.3120894090171,
    ),
    Golden(
        {
            "algorithm": "anytime-ldp-ncb",
            "parameters": {"epsilon": 20.0},
            "variant": "repaired",
            "bandit": EXPONENTIAL_ARMS,
            "horizon": 4000,
        },
        "d617fdc05ff4dc5ede06002ee8353d3c",
        (0.1689688679448007, 0.8179081125264356, 0.5792396535895681, 0.8160924740026403),
        (0.6636075231747395, 0.16794622508774193, 0.44482339528872783, 0.10205536619609223),
        468.12405260563463,
    ),
]
ALGORITHMS = [each.cell["algorithm"] for each in GOLDEN]
BASE: dict[str, Any] = {
    "algorithm": "m-ts-gaussian",
    "parameters": MODIFIED,
    "bandit": FIVE_ARMS,
    "horizon": 100,
    "runs": 1,
}


def key_of(cell: Cell) -> str:
    return f"{stream_key(cell.stream_description):032x}"


@pytest.mark.parametrize("golden", GOLDEN, ids=ALGORITHMS)
def test_streams_are_the_golden_ones(golden: Golden) -> None:
    cell = make_cell(runs=1, **golden.cell)
    assert key_of(cell) == golden.key
    key = int(golden.key, 16)
    # Bits of PCG64 behind numpy's SeedSequence: the same on every machine.
    assert tuple(run_generator(DEFAULT_ROOT_SEED, key, 0).random(4)) == golden.first_run
    assert tuple(run_generator(DEFAULT_ROOT_SEED, key, 1).random(4)) == golden.second_run
    # Counts times gaps; the last bit of an exponential mean may differ between maths libraries.
    regret = cell.play(DEFAULT_ROOT_SEED)["pseudo_regret"].item()
    assert regret == pytest.approx(golden.regret, rel=1e-12)


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
