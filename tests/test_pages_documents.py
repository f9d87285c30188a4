"""The documents: complete, linked, plain, and no more than the published numbers say.

Measured are ``README.md``, ``docs/*.md`` and the pages of the papers, which have the texts of the
config; ``test_site.py`` builds the site.
"""

import copy
import re
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from dpbandits.claims.tables import count_verdicts
from dpbandits.claims.verdict import VERDICTS
from dpbandits.config.claims import Summary
from dpbandits.config.documents import validated
from dpbandits.errors import InputError
from dpbandits.pages.contents import Contents
from dpbandits.pages.documents import KINDS, documents, front_page, paper_page
from dpbandits.pages.keys import MODELS, keys_of
from dpbandits.pages.markdown import with_region
from dpbandits.pipeline.check import check_pages
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.published import read_table
from found_papers import PAPERS, PROJECT
from invented import PAPER as INVENTED
from invented import copy_paper, copy_parts
from made_tables import made_project
from prose import unplain, words, written
from shared import shared_folder
from support import DOCUMENTS, ROOT, refused, replace_in

PAGES = {paper: f"docs/papers/{paper}.md" for paper in PAPERS}
WRITTEN = [name for name in DOCUMENTS if name == "README.md" or name.startswith("docs/")]


@cache
def contents() -> Contents:
    """What pages show of made-up verdicts."""
    return Contents.of(Project.load(shared_folder("made", made_project)))


@cache
def made() -> dict[str, str]:
    """Return the documents, made from made-up verdicts."""
    return documents(contents())


# Complete


@pytest.mark.parametrize("paper", PAPERS)
def test_pages_and_indices_have_every_id_and_figure_once(paper: str) -> None:
    """What a page linked to once leads somewhere still."""
    study, errata = PROJECT.study(paper), PROJECT.study(paper).errata
    rows = [*(entry.id for entry in study.stated), *study.withdrawn]
    mistakes = [*errata.errata, *errata.withdrawn]
    assert mistakes or not study.config_path("errata").exists()
    stems = [stem for figure in study.figures.values() for stem in figure.stems]
    extra = [stem for stem in stems if stem.startswith("extra-")]
    pages = {
        PAGES[paper]: [*rows, *mistakes, *stems],
        f"docs/papers/{paper}-supplementary.md": extra,
        "docs/claims.md": rows,
    }
    for page, anchors in pages.items():
        for name in anchors:
            assert made()[page].count(f'<a id="{name.lower()}"></a>') == 1, name


@pytest.mark.parametrize("paper", PAPERS)
def test_a_claim_has_its_sentence_its_verdict_and_what_was_measured(paper: str) -> None:
    page, index = made()[PAGES[paper]], made()["docs/claims.md"]
    for claim in [each for each in contents().claims if each.paper == paper]:
        of_claim = page.partition(f'<a id="{claim.id.lower()}"></a>')[2].partition("<a id=")[0]
        assert f"**{claim.word}**{claim.after_word}" in of_claim
        assert claim.texts[0][:40] in of_claim
        assert ("(probability of the event: " in of_claim) == any(
            row["chance"] for row in claim.judged
        )
        [line] = [each for each in index.splitlines() if f'"{claim.id.lower()}"' in each]
        is_counted = getattr(claim.entry, "follows_from", None) is None
        note = "" if is_counted else " (not counted)"
        assert line.endswith(f"|{claim.word}{note}|")


def test_verdicts_are_counted_once_by_one_function() -> None:
    """On the front page, experiments first, and above the table of all claims."""
    entries = [each.entry for each in contents().claims]
    counts = count_verdicts(contents().ledger, entries)
    rows = [line.strip("| ").split(" | ") for line in made()["docs/claims.md"].splitlines()]
    cells = {row[0].strip("*"): row[2:] for row in rows if len(row) == 2 + len(KINDS)}
    for word in VERDICTS:
        assert cells[word] == [str(own.get(word, 0)) for own in counts.values()]
    front = made()["README.md"]
    places = [front.index(f"- {heading}, ") for heading in KINDS.values()]
    assert places == sorted(places)
    for kind, heading in KINDS.items():
        assert f"- {heading}, {sum(counts[kind].values())} sentences: " in front
    for paper in PAPERS:
        own = count_verdicts(contents().ledger[contents().ledger["paper"] == paper], entries)[
            "experiment"
        ]
        [row] = [line for line in front.splitlines() if f"](docs/papers/{paper}.md) |" in line]
        assert f" | {own.get('as stated', 0)} of {sum(own.values())} | " in row


def test_every_interpretation_has_its_words() -> None:
    for paper in PAPERS:
        known = set(PROJECT.papers[paper].interpretations)
        for entry in PROJECT.study(paper).stated:
            for reading in (*entry.readings, *entry.beside):
                named = {f"{key}={value}" for key, value in reading.values.items()}
                assert named <= known, entry.id


@pytest.mark.slow
def test_a_missing_number_of_a_finding_gives_no_page(tmp_path: Path) -> None:
    made_project(tmp_path)
    folder = tmp_path / "docs/figures/ts-is-dp"
    path = folder / "findings-evidence.csv"
    path.write_text(path.read_text().replace("TSDP-F2", "TSDP-F6"))
    with pytest.raises(InputError, match=r"TSDP-.* are meant; allowed: one"):
        paper_page(Contents.of(Project.load(tmp_path)), "ts-is-dp")


@pytest.mark.slow
def test_a_reduced_paper_is_named_and_each_of_its_experiments_says_so(tmp_path: Path) -> None:
    about = made_project(tmp_path).folder / "config/papers/dp-ncb/paper.yaml"
    about.write_text(about.read_text() + "reduced: Horizons are a tenth of the paper's.\n")
    reduced = Contents.of(Project.load(tmp_path))
    assert front_page(reduced, made()["README.md"]).count(" (at a smaller scale) |") == 1
    experiments = [each for each in reduced.claims if each.kind == "experiment"]
    claims = sum(each.paper == "dp-ncb" for each in experiments)
    page = paper_page(reduced, "dp-ncb")
    assert page.count("At a smaller scale than the paper's") == claims + 1
    assert "At a smaller scale" not in made()[PAGES["dp-ncb"]]


def test_a_region_without_its_marks_is_refused() -> None:
    marks = "<!-- begin one -->\nold\n<!-- end one -->"
    whole = f"head\n{marks}\nrest"
    assert with_region(whole, "one", "new") == whole.replace("old", "new")
    for text in ("# Errata\n", marks + marks):
        with pytest.raises(InputError, match=r"marks <!-- begin one --> .* are missing or double"):
            with_region(text, "one", "new")


def test_an_empty_column_of_a_table_has_texts(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("a,b\n1,\n2,\n")
    assert read_table(tmp_path / "one.csv")["b"].tolist() == ["", ""]


# Numbers in texts, by the errata


EVIDENCE = """claim,variant,interpretation,comparison,estimate,lo,hi,kind,ours,decided
CE-C1,as-written,count=one,step in epsilon,223.6068,223.6068,223.6068,less,False,for
CE-C1,as-written,count=two,step in epsilon,316.22777,310,320,less,False,against
CE-C1,as-written,count=two,step in arms [K=5],1,1,1,less,False,for
CE-C1,as-written,count=two,step in arms [K=9],1,1,1,less,True,for
"""
TABLE = """horizon,eta,coded,coded_lo,coded_hi
10000,12.5,0.25,0.125,0.5
20000,13.5,,,
"""
COMPARED = {"claim": "CE-C1", "comparison": "step in epsilon"}
ENTRY: dict[str, Any] = {
    "place": "Lemma 4",
    "kind": "statement",
    "printed": "Two | bounds.",
    "found": "They are {one}, {two}, {three} and {four}.",
    "taken": "One of them.",
    "numbers": {
        # Without a reading that of the first one.
        "one": {**COMPARED, "format": ".1f"},
        "two": {**COMPARED, "interpretation": "count=two"},
        "three": {"file": "table.csv", "where": {"horizon": 1.0e4}, "column": "eta"},
        "four": {"file": "table.csv", "where": {"horizon": 10000}, "column": "coded"},
    },
}


def computed(project: Project) -> str:
    """Return what is found of the one entry."""
    [entry] = Contents(project, (INVENTED,)).errata(INVENTED)
    return str(entry["found"])


def project_with(folder: Path, change: Callable[[dict[str, Any]], object]) -> Project:
    """A project with one entry, changed, and published numbers for it."""
    entry = copy.deepcopy(ENTRY)
    change(entry)
    paper = copy_paper(copy_parts(folder, "config", "workflow"))
    errata = {"paper": INVENTED, "errata": {"CE-E1": entry}}
    (paper / "errata.yaml").write_text(yaml.safe_dump(errata, sort_keys=False))
    claims = yaml.safe_load((paper / "claims.yaml").read_text())
    claims["claims"]["CE-C1"]["readings"] = [{"count": "one"}, {"count": "two"}]
    (paper / "claims.yaml").write_text(yaml.safe_dump(claims, sort_keys=False))
    (folder / "docs/figures" / INVENTED).mkdir(parents=True)
    (folder / "docs/figures" / INVENTED / "evidence.csv").write_text(EVIDENCE)
    (folder / "docs/table.csv").write_text(TABLE)
    return Project.load(folder)


def test_published_numbers_are_filled_in_with_their_intervals(tmp_path: Path) -> None:
    project = project_with(tmp_path, lambda entry: None)
    assert computed(project) == "They are 223.6, 316 [310, 320], 12.5 and 0.25 [0.125, 0.5]."
    (tmp_path / "docs/table.csv").write_text(TABLE.replace("12.5", "12.6"))
    assert ", 12.6 and" in computed(project)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ({"count": "points"}, "2"),
        ({"count": "for"}, "1"),
        ({"count": "for", "comparison": "step in epsilon"}, "0"),
        ({"count": "points", "comparison": "step in arms"}, "1"),
    ],
)
def test_points_are_counted_by_how_they_came_out(
    tmp_path: Path, source: dict[str, str], text: str
) -> None:
    """Of all comparisons or of those whose names begin so; values of our own are not counted."""
    number = {"claim": "CE-C1", "interpretation": "count=two", **source}
    project = project_with(tmp_path, lambda entry: entry["numbers"].update(two=number))
    assert computed(project).startswith(f"They are 223.6, {text}, ")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda e: e["numbers"]["two"].update(count="for", comparison="x"), ["begins with 'x'"]),
        (lambda e: e["numbers"]["two"].update(where={"eta": 1}), ["comparison or count, or else"]),
        (lambda e: e.update(kind="typo"), ["kind is 'typo'", "'statement', 'proof'"]),
        (lambda e: e["numbers"]["one"].pop("claim"), ["one: key claim is missing"]),
        (lambda e: e.update(found="They are {five}."), ["the text asks for 'five'", "one, two"]),
        (lambda e: e.update(found="They are {one}."), ["the text leaves out two, three, four"]),
        (lambda e: e["numbers"]["one"].update(interpretation="x"), ["0 readings of CE-C1"]),
        (lambda e: e["numbers"]["one"].update(claim="CE-C9"), ["claim is 'CE-C9'; allowed: CE-C1"]),
        (lambda e: e["numbers"]["one"].update(comparison="x"), ["0 rows", "allowed: one"]),
        (lambda e: e["numbers"]["three"].update(where={"eta": 1}), ["0 rows", "allowed: one"]),
        (lambda e: e["numbers"]["three"].update(column="b"), ["has no b", "horizon, eta"]),
        (lambda e: e["numbers"]["three"].update(file="none.csv"), ["none.csv is not there"]),
    ],
)
def test_a_wrong_number_is_one_line(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], words: list[str]
) -> None:
    project = project_with(tmp_path, change)
    refused(lambda: computed(project), f"papers/{INVENTED}/errata.yaml", *words)


def test_a_figure_names_the_verdict_on_a_claim_that_is_not_as_stated(tmp_path: Path) -> None:
    """No typed sentence stands alone beside "undecided"; what it names is filled in."""
    project = project_with(tmp_path, lambda entry: entry.update(found="{CE-C1}", numbers={}))
    verdicts = tmp_path / "docs/figures" / INVENTED / "claims.csv"
    verdicts.write_text("claim,role,verdict\nCE-C1,judged,as stated\n")
    chosen = project.only([INVENTED])
    check_pages(chosen)
    verdicts.write_text("claim,role,verdict\nCE-C1,judged,undecided\n")
    refused(lambda: check_pages(chosen), "fig1.message does not name CE-C1", "'undecided'")
    path = project.study(INVENTED).path
    replace_in(path, "more than UCB1.", "more than UCB1 (by epsilon, {CE-C1}).")
    chosen = Project.load(tmp_path).only([INVENTED])
    check_pages(chosen)
    figure = Contents(chosen, (INVENTED,)).figures(INVENTED)[0]
    assert figure.message.endswith("and more than UCB1 (by epsilon, undecided).")
    assert computed(chosen) == "undecided"


def test_a_headline_names_an_outcome() -> None:
    typed = {"statement": "Both figures are rebuilt."}
    refused(lambda: validated(Summary, typed), "statement names no outcome; allowed: {a_name}")
    typed |= {"sentence": "It is {CE-C1}."}
    assert validated(Summary, typed).sentence == "It is {CE-C1}."


def test_the_keys_of_figures_and_tables_are_described() -> None:
    """Each key that a file may have; digitised points and looks come from other files."""
    for model in MODELS.values():
        assert model.model_fields.keys() - keys_of(model).keys() <= {"points", "looks"}
    assert sum(len(keys_of(model)) for model in MODELS.values()) <= 80


TYPED = "4.1 4.4 4.6 5.1 0.01 0.1 0.2 0.38 0.4 0.42 0.5 0.8 0.9 0.970 1.1 1.15 1.18 60.46"
"""Decimals of theorems and settings."""


@pytest.mark.parametrize("paper", PAPERS)
def test_no_computed_number_is_typed(paper: str) -> None:
    """A decimal in the words around the numbers is that of a theorem, a setting or a quotation."""
    for name, entry in PROJECT.study(paper).errata.errata.items():
        quoted = re.findall(r"\d+\.\d+", f"{entry.printed} {entry.place}")
        typed = set(re.findall(r"\d+\.\d+", entry.found))
        assert typed <= {*quoted, *TYPED.split()}, name


# Plain


@pytest.mark.parametrize("name", [*WRITTEN, *PAGES.values()])
def test_sentences_are_short_and_words_that_were_replaced_gone(name: str) -> None:
    assert unplain(DOCUMENTS.get(name) or made()[name]) == []


def test_the_readme_says_what_the_package_is_and_shows_one_picture() -> None:
    text = made()["README.md"]
    assert len(text.splitlines()) <= 90
    assert len(text.split()) <= 1000
    assert re.findall(r'<img src="docs/figures/[^"]+" width="(\d+)"', text) == ["640"]
    package = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert package["requires-python"] == ">=3.11"
    assert package["license"] == "MIT"
    assert "Python 3.11 to 3.13" in text
    assert f"Version {package['version']}, MIT licence." in text
    assert f"version = {{{package['version']}}}" in text


def test_the_counts_of_the_front_page_are_the_sums_of_its_papers() -> None:
    text = made()["README.md"]
    [experiments] = re.findall(r"- Experiments, (\d+) sentences: (\d+) as stated", text)
    rows = re.findall(r"^\| \[.*\| (\d+) of (\d+)[^|]*\|[^|]*\|$", text, re.MULTILINE)
    sums = [sum(map(int, column)) for column in zip(*rows, strict=True)]
    assert len(rows) == len(PAPERS)
    assert sums == [int(each) for each in experiments[::-1]]


LIMITS = {"CONTRIBUTING.md": 700, "docs/claims.md": 1500, "docs/audit.md": 1300}
LIMITS |= {"docs/hooks.md": 500, "docs/performance.md": 900}
"""Document -> its largest number of words, without code and computed regions."""


def test_documents_are_no_longer_than_a_reader_bears() -> None:
    texts = {**DOCUMENTS, "CHANGELOG.md": (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")}
    texts |= {name: text for name, text in made().items() if name in DOCUMENTS}
    lengths = {name: words(written(text)) for name, text in texts.items()}
    assert sum(lengths.values()) <= 17_600
    assert {name for name, most in LIMITS.items() if lengths[name] > most} == set()


def test_a_glossary_of_twenty_words_is_linked() -> None:
    known = re.findall(r'<a id="([^"]+)">', DOCUMENTS["docs/glossary.md"])
    linked = {
        word for text in made().values() for word in re.findall(r"glossary\.md#([a-z-]+)", text)
    } | {
        word for text in DOCUMENTS.values() for word in re.findall(r"glossary\.md#([a-z-]+)", text)
    }
    assert len(known) == 21
    assert linked <= set(known)
    assert len(linked) >= 10


@pytest.mark.parametrize("paper", PAPERS)
def test_the_page_of_a_paper_is_short(paper: str) -> None:
    """Tables, pictures and what is written below these are looked up, not read."""
    text = re.sub(r"^!\[.*\n\n.*$|^\|.*$|<[^>\n]+>", "", made()[PAGES[paper]], flags=re.MULTILINE)
    assert len(text.split()) <= 3500


@pytest.mark.parametrize("paper", PAPERS)
def test_texts_are_no_longer_than_their_kind_allows(paper: str) -> None:
    """A number with its interval is one word."""
    study = PROJECT.study(paper)
    assert words(study.summary().sentence) <= 35
    assert words(study.summary().statement) <= 100
    for claim in study.claims:
        assert words(f"{claim.result} {claim.how}") <= 60, claim.id
    told = [each for each in study.findings if each.statement]
    assert len(told) <= 6
    for finding in study.findings:
        assert words(finding.title) <= 25, finding.id
        assert words(finding.statement) <= 100, finding.id
    for name, entry in PROJECT.study(paper).errata.errata.items():
        assert max(map(words, (entry.printed, entry.found, entry.taken))) <= 40, name


def test_whether_values_were_digitised_is_read_off_them(tmp_path: Path) -> None:
    """A table of them is not asked for, and who has none was not compared, by eye or otherwise."""
    copy_parts(tmp_path, "config", "workflow", "docs/figures/dp-ncb/digitised.csv")
    few = Contents(Project.load(tmp_path), ("ts-is-dp", "dp-ncb"))
    assert few.reproduced("dp-ncb", "fig1b").endswith(" of 40 digitised values agree")
    assert few.reproduced("ts-is-dp") == ""
    for paper, has_values in (("dp-ncb", True), ("ts-is-dp", False)):
        page = " ".join(made()[PAGES[paper]].split())
        assert ("As drawn: " in page) == has_values
        assert ("We have not compared the figures with the published ones" in page) != has_values
        assert "by eye" not in page
