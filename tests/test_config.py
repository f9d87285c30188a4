"""A wrong config ends in one line that names the file, the key and what is allowed.

Each mistake is made in a copy of the project's config, to which the invented paper is added, and
found by what `dpbandits check` asks, before anything is simulated.
"""

import copy
import datetime
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dpbandits.cli import main
from dpbandits.config.documents import load_document, load_yaml
from dpbandits.config.experiments import ExperimentsFile
from dpbandits.config.figures import parse_figure, parse_table
from dpbandits.config.project import PaperFile
from dpbandits.errors import InputError
from dpbandits.pipeline.check import check_files
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.publish import publish_chosen
from dpbandits.pipeline.study import Study
from invented import EXPERIMENTS, FOLDER, PAPER, add_paper, copy_parts, edited
from support import message_of, mostly_slow, refused
from synthetic_results import FIRST

CONFIG = "config/config.yaml"
CLAIMS, ABOUT = (f"config/papers/{PAPER}/{kind}.yaml" for kind in ("claims", "paper"))
ERRATA = "config/papers/ts-is-dp/errata.yaml"
NAMES = ("ts-is-dp", "dp-bai", "dp-ts-ucb")
TS, BAI, DTU = (f"config/papers/{name}/experiments.yaml" for name in NAMES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project folder; tests undo what they change."""
    return add_paper(copy_parts(tmp_path_factory.mktemp("project"), "config", "workflow"))


# (file, a text in it, what replaces it, what the line says of key, value and what is allowed)
MISTAKES = [
    (CONFIG, "scale: paper", "scale: paper\nscale: quick", "key 'scale' is given twice, in lines"),
    (CONFIG, "seed: 20260719", "seeds: 1", "key is 'seeds'; allowed: papers, comparisons, scale"),
    (CONFIG, "comparisons: []", "comparisons: [ts-is-dp]", "has ts-is-dp; allowed: choosing"),
    (CONFIG, f"[{PAPER}]", "[no-paper]", "papers has no-paper; allowed: "),
    (CONFIG, f"[{PAPER}]", f"[{PAPER}, {PAPER}]", "; Entries should be different"),
    (ABOUT, "summary:", "summery:", "key is 'summery'; allowed: title"),
    (ABOUT, "  fig2: Pseudo", "  fig3: Pseudo", "panels lacks, or has without a panel, fig2"),
    (ABOUT, "  fig1b: The", "  fig1b: the", "allowed: a sentence of one line"),
    (EXPERIMENTS, "paper: committing-early", "- x", "is not valid YAML"),
    (EXPERIMENTS, "law: bernoulli", "law: cauchy", "law is 'cauchy'; allowed: bernoulli"),
    (BAI, "{make: standard-basis}", "{make: [standard-basis]}", "make is ['standard-basis']"),
    (EXPERIMENTS, "law: bernoulli", "low: bernoulli", "allowed: either key law or key make"),
    (EXPERIMENTS, "[0.7, 0.5]", "[1.7, 0.5]", "mean is 1.7; allowed: 0 to 1"),
    (EXPERIMENTS, "algorithm: ucb1}\n  b", "algorithm: ucb-1}\n  b", "algorithm is 'ucb-1'; allo"),
    (EXPERIMENTS, "{epsilon: epsilon, pulls: 60}", "{epsilon: epsilon}", "pulls"),
    (EXPERIMENTS, "[1, 80, 1200]}", "[1]}, also: [{epsilon: [1]}]", "has epsilon; allowed: pulls"),
    (EXPERIMENTS, "[1, 80, 1200]}", "[1, 80]}, also: [{pulls: [80]}]", "two series are 'my-kern"),
    (EXPERIMENTS, "[1, 80, 1200]}", "[1, 80]}, runs: 0", "cells.0.runs is 0; Input should be"),
    (EXPERIMENTS, "[0.05, 1]", "[-1, 1]", "epsilon is -1; allowed: a finite number ab"),
    (EXPERIMENTS, "    horizon: 3000\n", "", "simulations.curves.horizon: Field required"),
    (EXPERIMENTS, "instance: two-arms", "instance: few", "instance is 'few'; allowed: two-arms"),
    (EXPERIMENTS, "grid: {points: 30}", "gird: {points: 30}", "key is 'gird'; allowed: like, inst"),
    (EXPERIMENTS, "grid: {points: 30}", "grid: {}", "curves.grid: no key; allowed: points, at"),
    (EXPERIMENTS, "like: curves", "like: [curves]", "verdicts.like is ['curves']; allowed: curves"),
    (EXPERIMENTS, "like: curves", "like: verdicts", "like is 'verdicts'; allowed: curves, by-p"),
    (EXPERIMENTS, "reads: curves", "reads: curve", "curve"),
    (EXPERIMENTS, "[pseudo_regret]", "[regret]", "is 'regret'; Input should be 'pseudo_regret'"),
    (EXPERIMENTS, "  curves:\n", "  curves:\n    like: curves\n", "like is 'curves'; allowed: v"),
    (EXPERIMENTS, "  by-pulls:\n", "  verdicts:\n", "key 'verdicts' is given twice"),
    (EXPERIMENTS, "figures:\n", "analytic: [levels]\nfigures:\n", "analytic has no levels"),
    (EXPERIMENTS, "reads: curves", "reads: 2026-01-01", "reads is 2026-01-01 (date); all"),
    (EXPERIMENTS, "{horizon}", "{T}", "fig2.caption has {T}; allowed: {horizon}, {runs}"),
    (EXPERIMENTS, "figures:\n", "tables: {claims: {caption: 'Of {runs}.'}}\nfigures:\n",
     "tables.claims.caption has {runs}; allowed: none"),
    (EXPERIMENTS, "{algorithm: ucb1}, n", "{algorithm: ncb}, n", "no row has algorithm 'ncb'"),
    (EXPERIMENTS, "{algorithm: ucb1}, n", "{epsilon: .nan}, n", "epsilon is nan; allowed: finite"),
    # A column that says another thing than what was played, or that another one replaces.
    (EXPERIMENTS, "for: {pulls: [1, 80, 1200]}", "for: {pulls: [1, 80], epsilon: [0.05]}",
     "by-pulls: epsilon is 0.05 under for or tags, and 1.0 is played; allowed: the same"),
    (EXPERIMENTS, "{epsilon: 1, pulls: pulls}", "{epsilon: 1, pulls: pulls}, tags: {epsilon: 9}",
     "by-pulls: epsilon is 9 under for or tags, and 1.0 is played"),
    (EXPERIMENTS, "for: {pulls: [1, 80, 1200]}", "tags: {pulls: 7}, for: {pulls: [1, 80]}",
     "by-pulls.cells.0: tags has pulls, and so has for; allowed: one of them"),
    (EXPERIMENTS, "for: {pulls: [1, 80, 1200]}", "for: {pulls: [1, 80], arms: [3]}",
     "arms is 3 under for or tags, and 2 is played"),
    (EXPERIMENTS, "for: {pulls: [1, 80, 1200]}", "tags: {algorithm: ucb1}, for: {pulls: [1]}",
     "by-pulls.cells.0: tags has algorithm; allowed: a name that no column of results has"),
    (EXPERIMENTS, "for: {pulls: [1, 80, 1200]}", "tags: {t: 5}, for: {pulls: [1]}",
     "tags has t; allowed: a name"),
    (EXPERIMENTS, "for: {pulls: [1, 80, 1200]}", "for: {pulls: [1], x: [5]}", "for has x; allo"),
    (EXPERIMENTS, "{algorithm: ucb1}\n  b", "{algorithm: ucb1, variant: as-written, "
     "tags: {variant: as-written}}\n  b", "key variant is here and under for or tags"),
    (TS, "parameters: {epsilon: printed_epsilon}\n        interpretations: {log: log}",
     "parameters: {epsilon: printed_epsilon}\n        interpretations: {log: natural}",
     "comparison-curves: log is 'base2' under for or tags, and 'natural' is played"),
    (BAI, "ratio: ratio, gap: 0.05", "ratio: 3, gap: 0.05", "ratio is 2 under for or tags, and 3"),
    # What YAML takes for another thing than what is written.
    (CONFIG, "seed: 20260719", "seed: 020260717", "020260717 in line 5 is read as 4284879; allowe"),
    (EXPERIMENTS, "[1, 80, 1200]", "[1:20]", "1:20 in line 31 is read as 80; allowed: true, false"),
    (EXPERIMENTS, "{algorithm: ucb1}, n", "{epsilon: no}, n", "no in line 45 is read as False"),
    (EXPERIMENTS, "means: [0.7, 0.5]}", "<<: &m {means: [0.7, 0.5]}, <<: *m}",
     "key '<<' is given twice, in lines 4 and 4; allowed: one with a list"),
    (EXPERIMENTS, "means: [0.7, 0.5]}", "<<: *nothing}", "undefined alias"),
    (CLAIMS, "{difference: [", "{quantity: guess, of: [", "quantity is 'guess'; allowed"),
    (CLAIMS, "reads: [verdicts]", "reads: [verdict]", "CE-C2.reads has verdict; allowed: "),
    (CLAIMS, "place: Figure 2", "place: Text\n    figure: fig9", "CE-C3.figure has fig9; allowed"),
    (CLAIMS, "points: [0.05, 1]", "points: [0.05, 2]", "CE-C1: step in epsilon: results"),
    (CLAIMS, "reads: [verdicts]", "reads: [verdicts]\n    runs: [40, 500]",
     "CE-C2: runs is [40, 500]; allowed: 400 at most, as verdicts has"),
    # Ids and files of another paper.
    (EXPERIMENTS, "paper: committing-early", "paper: dp-bai", "is 'dp-bai'; allowed: committing-"),
    (CLAIMS, "paper: committing-early", "paper: dp-bai", "paper is 'dp-bai'; allowed: committing-"),
    (CLAIMS, "  CE-C1:", "  NCB-C1:", "ids of claims begin with NCB, as those of dp-ncb; allowed"),
    (CLAIMS, "  CE-C2:", "  NCB-C2:", "NCB-C2 beside CE-..., the first claim; allowed: ids that"),
    (CLAIMS, "defaults:", "withdrawn: {CE-C3: It is none.}\ndefaults:", "withdrawn has CE-C3; al"),
    (ERRATA, "  TSDP-E8:", "  NCB-D1:", "NCB-D1 beside TSDP-..., the first claim"),
    (ERRATA, "  TSDP-E8:", "  TSDP-C1:", "errata has TSDP-C1, a claim or finding"),
    (TS, "tuned_by: tuning", "tuned_by: turning", "tuned_by is 'turning'; allowed"),
    (TS, "c: lemma5_c", "c: lemma6_c", "parameter c is 'lemma6_c'; allowed: "),
    (TS, "c: [1, 2]", "c: [0, 2]", "c is 0; allowed: a finite number above 0"),
    (BAI, "budgets [100, ", f"budgets [-{10**153}, ", "; allowed: at least 1"),
    (DTU, "[{by: alpha,", "[{by: alphas,", "fig3a.series.0.by: no column 'alphas'; allowed: "),
]  # fmt: skip


def check(folder: Path, path: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Check the paper of a file; return the line that it ends in, or nothing."""
    paper = Path(path).parent.name if "/papers/" in path else PAPER
    status = main(["check", "--project", str(folder), "--papers", paper])
    # While it works it says so, where that takes long.
    said = capsys.readouterr().err.splitlines()
    lines = [each for each in said if each and "checking" not in each]
    assert (status, len(lines)) in {(0, 0), (2, 1)}, lines
    return "".join(lines)


@pytest.mark.parametrize("first", mostly_slow(range(16), 0))
def test_one_line_names_file_key_and_what_is_allowed(
    folder: Path, capsys: pytest.CaptureFixture[str], first: int
) -> None:
    for path, old, new, line in MISTAKES[first::16]:
        with edited(folder / path, old, new):
            found = check(folder, path, capsys)
        assert f"{folder / path}: " in found
        assert line in found
        assert len(found) < 700
    assert check(folder, EXPERIMENTS, capsys) == "", "as it is"


def test_ids_of_another_paper_are_not_published(folder: Path) -> None:
    with edited(folder / CLAIMS, "  CE-C1:", "  NCB-C1:"):
        refused(lambda: publish_chosen(Project.load(folder)), f"{folder / CLAIMS}: ids of claims")


# (entry, key in it, its value (none: left out), what the line says)
ENTRIES: list[tuple[str, str, Any, str]] = [
    ("figures.fig2", "colour", 1, "key is 'colour'; allowed: title, message"),
    ("figures.fig2", "message", "a " * 26, "Text should have at most 25 words"),
    ("figures.fig2", "panels.a", None, "panels is b, c; allowed: a, b, ... in order"),
    ("figures.fig2", "panels.a.titel", "", "panels.a: key is 'titel'"),
    ("figures.fig2", "series.0.level", True, "series.0.level is true; allowed: false, kind is cu"),
    ("figures.fig2", "series.0.best", 1, "series.0: keys best and estimate; allowed: none, kind"),
    ("figures.fig2", "x.tag", "b", "x.tag is 'b'; allowed: none, kind is curve"),
    ("figures.fig2", "x.shaded", [1, 2], "x: key shaded_label is missing"),
    ("figures.fig2", "x.shaded", [2, 1], "x.shaded is [2, 1]; Numbers should ascend"),
    ("figures.fig3", "kind", "diagram", "key is 'metric'; allowed: title, message"),
    ("figures.fig3", "metric", None, "metric is None; allowed: pseudo_regret, realised_regret"),
    ("figures.fig3", "x.tag", None, "x.tag is None; allowed: a column"),
    ("figures.fig3", "y.limits", [0], "y.limits.1: Field required"),
    ("figures.fig7", "metric", "pulls", "metric is 'pulls'; allowed: none, kind is analytic"),
    ("figures.fig7", "compute", "x", "compute is 'x'; allowed: none, kind is analytic"),
    ("figures.fig7", "kind", "derived", "compute is None; allowed: a function of the paper"),
    ("figures.fig8", "series.1.published", {"panel": "a"}, "published.series: Field required"),
    ("tables.claims", "columns.0.column", "x", "columns.0: keys where, column and given; allowed:"),
    ("tables.claims", "columns.1.name", "claim", "two columns are named 'claim'; allowed: one"),
    ("tables.claims", "difference_from", {"where": {}, "same": "x"}, "metric is None; allowed: su"),
    ("tables.privacy", "rows.unit", "nat", "rows.0: key is 'unit'; allowed: name"),
    ("tables.privacy", "columns.0.column", None, "columns.0: key column is missing; allowed: col"),
    ("tables.privacy", "columns.0.given", [1, 2], "given has 2 values; allowed: one for each of"),
]  # fmt: skip


def test_one_line_names_the_key_of_a_figure_or_table() -> None:
    for entry, key, value, line in ENTRIES:
        section, name = entry.split(".")
        document = copy.deepcopy(FIRST.entries[section][name])
        *path, last = (int(each) if each.isdigit() else each for each in key.split("."))
        place: Any = document
        for each in path:
            place = place[each]
        if value is None:
            del place[last]
        else:
            place[last] = value
        parse = parse_figure if section == "figures" else parse_table
        refused(lambda: parse(name, document), entry, line)


def test_a_config_that_is_no_mapping_or_has_a_key_twice(folder: Path) -> None:
    path = folder / CONFIG
    for text in ["- ts-is-dp\n", "", "just words\n", "a: [\n", "\x00\x01"]:
        with edited(path, path.read_text(), text):
            assert message_of(lambda: Project.load(folder)).startswith(f"{path}: is ")
    # Whoever has read it: Snakemake keeps the last of two equal keys.
    read = yaml.safe_load(path.read_text())
    with edited(path, "scale: paper", "scale: paper\nscale: quick"):
        assert "given twice" in message_of(lambda: Project.load(folder, config=read))


def test_a_number_may_have_an_exponent_without_a_point(tmp_path: Path) -> None:
    path = tmp_path / "numbers.yaml"
    path.write_text("a: [1e-6, 2E3, -1.5e2, .5e+1, '1e-6', 1_000]")
    assert load_yaml(path) == {"a": [1e-6, 2000.0, -150.0, 5.0, "1e-6", 1000]}


JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 2**70),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["", "..", "../..", "-1", "nan", "\n", "a" * 300, "{0}", "%s", "Δ"]),
    st.just(datetime.date(2026, 1, 1)),
    st.lists(st.integers(-1, 3), max_size=3),
    st.dictionaries(st.sampled_from(["law", "first", "x"]), st.integers(0, 3), max_size=2),
)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield (mapping or list, key) of every value in a document."""
    for key in range(len(value)) if isinstance(value, list) else value:
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places(value[key])


def changed(document: Any, draw: Callable[..., Any]) -> Any:
    """Return a document with junk, nothing, another value or another key in one place."""
    document = copy.deepcopy(document)
    every = list(places(document))
    parent, key = every[draw(st.integers(0, len(every) - 1))]
    change = draw(st.sampled_from(["junk", "drop", "rename", "other"]))
    value = parent.pop(key) if change in ("drop", "rename") else draw(JUNK)
    if change == "rename":
        parent.update({f"{key}x": value}) if isinstance(parent, dict) else parent.append(value)
    elif change == "other":
        other, place = every[draw(st.integers(0, len(every) - 1))]
        parent[key] = copy.deepcopy(other[place])
    elif change == "junk":
        parent[key] = value
    return document


@pytest.mark.parametrize(
    ("path", "examples"),
    [
        pytest.param(CONFIG, 8, marks=pytest.mark.slow),
        pytest.param(ABOUT, 20, marks=pytest.mark.slow),
        pytest.param(EXPERIMENTS, 20, marks=pytest.mark.slow),
        pytest.param(CLAIMS, 10, marks=pytest.mark.slow),
    ],
)
def test_generated_configs_are_accepted_or_end_in_one_line(
    folder: Path, path: str, examples: int
) -> None:
    """Never in anything but an InputError that names a file; without papers all are checked."""
    document = yaml.safe_load((folder / path).read_text())
    lines: list[str] = []

    @settings(
        max_examples=examples, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
    )
    @given(st.data())
    def one_line(data: st.DataObject) -> None:
        text = yaml.safe_dump(changed(document, data.draw), sort_keys=False, allow_unicode=True)
        with edited(folder / path, (folder / path).read_text(), text):
            try:
                check_files(Project.load(folder))
                lines.append("")
            except InputError as error:
                lines.append(str(error))
        assert not lines[-1] or re.search(r"config/\S+\.yaml: \S", lines[-1]), text

    one_line()
    assert sum(map(bool, lines)) > 0.3 * len(lines), "most changes break something"


def test_the_nearest_name_is_suggested() -> None:
    for name, nearest in (("UCB-1", "; did you mean 'ucb1'?"), ("zzzzzz", "")):
        error = InputError.unknown("algorithm", name, ["ucb1", "dp-se"])
        assert str(error) == f"algorithm is {name!r}; allowed: ucb1, dp-se{nearest}"


FILE: dict[str, Any] = yaml.safe_load((FOLDER / "experiments.yaml").read_text())
"""The invented paper, but for its own algorithm, and with what is asked here."""
FILE["instances"]["three-arms"] = {"law": "bernoulli", "means": [0.9, 0.5, 0.1]}
PLAYED = {"instance": "two-arms", "cells": [{"algorithm": "ucb1"}]}
CURVES: dict[str, Any] = FILE["simulations"]["curves"] | PLAYED
VERDICTS = FILE["simulations"]["verdicts"] | PLAYED
FILE["simulations"] = {"curves": CURVES, "verdicts": VERDICTS}
FILE["simulations"] |= {"longer": {"like": "verdicts", "horizon": 5000}}
CAPTION = {"caption": "T = {horizon}, means over\n {runs} runs.", "series": [{"name": "UCB1"}]}
FILE["figures"] = {"fig1": FILE["figures"]["fig1"] | CAPTION}
ABOUT = PaperFile(title="Made up", authors=[{"family": "Nobody"}], year=2026)
Change = Callable[[dict[str, Any]], object]


def made(folder: Path, change: Change = lambda file: None, scale: str = "paper") -> Study:
    """Return the experiments above, changed."""
    file = copy.deepcopy(FILE)
    change(file)
    path = folder / "experiments.yaml"
    path.write_text(yaml.safe_dump(file, sort_keys=False))
    return Study("made-up", path, load_document(path, ExperimentsFile), scale, ABOUT)


def test_like_another_simulation_is_as_if_spelled_out(tmp_path: Path) -> None:
    verdicts = CURVES | {key: value for key, value in VERDICTS.items() if key != "like"}
    spelled = {"curves": CURVES, "verdicts": verdicts, "longer": verdicts | {"horizon": 5000}}
    short, long = made(tmp_path), made(tmp_path, lambda file: file.update(simulations=spelled))
    for name in spelled:
        assert short.simulation(name).series() == long.simulation(name).series()
        assert short.results_fingerprint(name, 1) == long.results_fingerprint(name, 1)


def test_plans_say_how_many_runs_make_a_curve(tmp_path: Path) -> None:
    for told, scale, expected in (
        ({"count": 40, "runs_per_curve": 20}, "paper", [range(20), range(20, 40)]),
        ({"count": 40, "runs_per_curve": 20}, "quick", [range(5)]),
        ({"count": 40}, "paper", [range(40)]),
    ):
        runs = {"runs": {"first": 0, **told}, "metrics": ["nash_regret"]}
        study = made(tmp_path, lambda file: file["simulations"]["curves"].update(runs), scale)
        [series] = study.simulation("curves").series()
        assert [work.runs for work in series.works] == expected


def instances(*names: str, **changes: Any) -> Change:
    """Let the cells of the curves name instances."""

    def change(file: dict[str, Any]) -> None:
        cells = [{"algorithm": "ucb1", "for": {"instance": [*names]}}]
        file["simulations"]["curves"] |= {"cells": cells}
        del file["simulations"]["curves"]["instance"]
        file["instances"] |= changes

    return change


def test_instances_under_for_make_a_series_each_that_results_depend_on(tmp_path: Path) -> None:
    both = partial(instances, "two-arms", "three-arms")
    series = made(tmp_path, both()).simulation("curves").series()
    arms = [(each.tags["instance"], len(each.cell.bandit.arms)) for each in series]
    assert arms == [("two-arms", 2), ("three-arms", 3)]
    (alone,) = made(tmp_path).simulation("curves").series()
    assert series[0].cell == alone.cell
    another = {"law": "bernoulli", "means": [0.9, 0.5, 0.2]}
    before, unused, moved = (
        made(tmp_path, both(**changes)).results_fingerprint("curves", 1)
        for changes in ({}, {"another": another}, {"three-arms": another})
    )
    assert before == unused != moved
    unknown = made(tmp_path, instances("two-arms", "four-arms"))
    line = "simulations.curves.cells.0: instance is 'four-arms'; allowed: two-arms, close"
    refused(lambda: unknown.simulations, line)

    def missing(file: dict[str, Any]) -> None:
        instances("two-arms")(file)
        file["simulations"]["curves"]["cells"] += CURVES["cells"]

    refused(lambda: made(tmp_path, missing), "simulations.curves: key instance is missing")


def test_captions_have_the_numbers_of_what_is_read(tmp_path: Path) -> None:
    def caption(text: str, *reads: str, horizons: list[int] | None = None) -> Change:
        def change(file: dict[str, Any]) -> None:
            file["figures"]["fig1"].update(caption=text, reads=[*reads] or ["curves"])
            if horizons:
                cells = [{"algorithm": "ucb1", "for": {"horizon": horizons}}]
                file["simulations"]["curves"]["cells"] = cells

        return change

    several = caption("T = {horizon}", horizons=[100, 200, 400, 3000])
    for change, scale, shown in (
        (lambda file: None, "paper", "T = 3,000, means over 20 runs."),
        (lambda file: None, "quick", "T = 1,000, means over 5 runs."),
        (caption("{runs} runs", "curves", "verdicts"), "paper", "20 and 400 runs"),
        (caption("T = {horizon}", "curves", "verdicts", "longer"), "paper", "T = 3,000 and 5,000"),
        (several, "paper", "T = 100 to 3,000"),
        (several, "quick", "T = 100, 200 and 400"),
    ):
        assert made(tmp_path, change, scale).caption("fig1") == shown
