"""The index of figures: each panel once, with its sentence, claims, verdicts and findings."""

import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml

from dpbandits.claims.ledger import LEDGER_COLUMNS, SIMULTANEOUS_COLUMNS
from dpbandits.errors import InputError
from dpbandits.pages.papers import gallery_page, head_of
from dpbandits.pipeline.project import Project
from found_papers import COMPARISONS, PAPERS

ROOT = Path(__file__).resolve().parents[2]
PAPER = "dp-bai"
TEXT = (ROOT / "docs/gallery.md").read_text(encoding="utf-8")

ROWS = [
    # About the whole of Figure 1, and two interpretations that come apart.
    ("BAI-C1", "schedule=consistent", "holds", 0.0766, "DP-BAI minus Baseline", "greater than 0"),
    ("BAI-C1", "schedule=printed", "fails", -0.25, "DP-BAI minus Baseline", "greater than 0"),
    # About Figure 1(a) alone.
    ("BAI-C17", "", "fails", -0.2947, "change of the slope", "within [-0.2, 0.2]"),
    # About nothing that is drawn.
    ("BAI-C10", "", "holds", 1.0, "largest coefficient", "at most 1"),
]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project with one published paper, whose verdicts are those above."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("config", "workflow"):
        shutil.copytree(ROOT / name, folder / name)
    change_config(folder / "config")
    published = folder / "docs/figures" / PAPER
    published.mkdir(parents=True)
    rows = []
    for claim, interpretation, verdict, estimate, measured, asked in ROWS:
        row = {
            "claim": claim,
            "kind": "experiment",
            "variant": "as-written",
            "interpretation": interpretation,
            "verdict": verdict,
        }
        row |= {"estimate": estimate, "lo": estimate - 0.01, "hi": estimate + 0.01}
        row |= {"runs": 100, "runs_paper": 10, "scale": "paper", "detail": "", "family_wise": "yes"}
        rows.append(row | {"measured": measured, "asked": asked})
    for name, columns in (("claims", LEDGER_COLUMNS), ("simultaneous", SIMULTANEOUS_COLUMNS)):
        frame = pd.DataFrame(rows).reindex(columns=list(columns))
        frame.to_csv(published / f"{name}.csv", index=False)
    found = pd.DataFrame([{"claim": "BAI-F1", "verdict": "shown"}])
    found.reindex(columns=list(LEDGER_COLUMNS)).to_csv(published / "findings.csv", index=False)
    return Project.load(folder)


def change_config(folder: Path) -> None:
    """Say which figures the claims above are about, and state one finding."""
    path = folder / "papers" / PAPER / "claims.yaml"
    document = yaml.safe_load(path.read_text())
    claims = document["claims"]
    claims["BAI-C1"]["figure"] = "fig1"
    claims["BAI-C17"]["figure"] = "fig1a"
    claims["BAI-C10"].pop("figure", None)
    path.write_text(yaml.safe_dump(document))
    finding = {"title": "The lead", "statement": "It is large.", "place": "Section 5"}
    finding["figure"] = "fig1a"
    document = {"paper": PAPER, "findings": {"BAI-F1": finding}}
    (folder / "papers" / PAPER / "findings.yaml").write_text(yaml.safe_dump(document))


@pytest.fixture(scope="module")
def text(project: Project) -> str:
    """Its gallery."""
    return gallery_page(project)


def row(text: str, head: str) -> list[str]:
    """Return the cells of the row of a figure or panel."""
    [line] = [each for each in text.splitlines() if each.startswith(f"| {head} |")]
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_every_panel_is_shown_once_with_its_numbers(project: Project, text: str) -> None:
    for figure in project.study(PAPER).figures.values():
        stems = figure.stems
        for stem in stems if figure.name.startswith("fig") else [figure.name]:
            assert text.count(f"](figures/{PAPER}/{stem}.png)") == 1, stem
            assert text.count(f"](figures/{PAPER}/{stem}.csv)") == 1, stem
    assert gallery_page(project) == text


def test_a_claim_stands_in_the_row_of_its_figure_or_panel(text: str) -> None:
    claims = "[BAI-C1](claims.md#bai-c1) **holds** / **fails**; [BAI-F1](claims.md#bai-f1)"
    nothing = "the paper prints no numbers to compare with"
    assert row(text, "Figure 1")[2:4] == [nothing, claims]
    assert row(text, "Figure 1(a)")[2:4] == [nothing, "[BAI-C17](claims.md#bai-c17) **fails**"]
    assert row(text, "Figure 1(b)")[2:4] == [nothing, ""]
    assert "no figure shows: [BAI-C10](claims.md#bai-c10) **holds**." in text


def test_another_verdict_gives_another_gallery(project: Project, text: str) -> None:
    folder = project.folder / "docs/figures" / PAPER
    kept = {path: path.read_text() for path in folder.glob("*.csv")}
    for path, rows in kept.items():
        path.write_text(rows.replace("as-written,,holds", "as-written,,fails"))
    try:
        assert gallery_page(project) != text
    finally:
        for path, rows in kept.items():
            path.write_text(rows)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  fig2d: ", "  fig3: "),
        ("  fig2d: The same with the second arm twenty times as long.\n", ""),
    ],
)
def test_a_panel_without_a_sentence_is_refused(project: Project, old: str, new: str) -> None:
    path = project.folder / "config/papers/dp-bai/paper.yaml"
    kept = path.read_text()
    path.write_text(kept.replace(old, new))
    try:
        with pytest.raises(InputError, match=r"dp-bai/paper.yaml: panels lacks.*fig2d"):
            gallery_page(Project.load(project.folder, project.config))
    finally:
        path.write_text(kept)


def test_every_paper_has_its_part_and_its_sentences() -> None:
    project = Project.load(ROOT)
    for name in [*PAPERS, *COMPARISONS]:
        assert TEXT.count(f"\n## {name}\n") == 1
        assert project.study(name).title


@pytest.mark.parametrize(
    ("stem", "head"),
    [
        ("fig1", "Figure 1"),
        ("fig12b", "Figure 12(b)"),
        ("fig1b-repaired", "Figure 1(b)"),
        ("fig1-as-written", "Figure 1"),
        ("extra-fig6-composition", "extra-fig6-composition (supplementary)"),
    ],
)
def test_heads(stem: str, head: str) -> None:
    assert head_of(stem) == head
