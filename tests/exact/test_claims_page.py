"""`docs/claims.md` from published files: counts, both verdicts, links, and the error rate."""

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from dpbandits.claims import LEDGER_COLUMNS
from dpbandits.claims.simultaneous import SIMULTANEOUS_COLUMNS
from dpbandits.claims_page import claims_page
from dpbandits.project import Project

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/claims.md").read_text(encoding="utf-8")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with a published ledger of one paper: two exact verdicts, two that are not."""
    for part in ("config", "workflow"):
        shutil.copytree(ROOT / part, tmp_path / part)
    folder = tmp_path / "docs/figures/ts-is-dp"
    folder.mkdir(parents=True)
    (folder / "claims.csv").write_text(
        ",".join(LEDGER_COLUMNS) + "\n"
        "TSDP-C1,as-written,,holds,96.7,96.7,96.7,0,0,holds,paper,\n"
        "TSDP-C3,as-written,accounting=lemma5,fails,1,1,1,0,0,fails,paper,\n"
        "TSDP-C8,as-written,b_grid=main,holds,0.25,0.125,0.5,50,10,undecided,paper,\n"
        "TSDP-C8,repaired,b_grid=main,undecided,0.1,-1,1,400,10,undecided,paper,not contradicted\n"
    )
    (folder / "simultaneous.csv").write_text(
        ",".join(SIMULTANEOUS_COLUMNS) + "\n"
        "TSDP-C1,as-written,,holds,holds,exact,,,96.7,96.7,96.7,0,epsilon,<1\n"
        "TSDP-C3,as-written,accounting=lemma5,fails,fails,exact,,,1,1,1,0,eta,<1\n"
        "TSDP-C8,as-written,b_grid=main,holds,undecided,only by itself,0.05,0.0002,0,0,1,400,a|b,\n"
        "TSDP-C8,repaired,b_grid=main,undecided,undecided,-,0.05,0.0002,0.1,-1,1,400,loss,<0\n"
    )
    return Project.load(tmp_path)


def test_it_counts_verdicts_and_what_stands(project: Project) -> None:
    page = claims_page(project, PAGE)
    assert "| [`ts-is-dp`](#ts-is-dp) | 3 | 4 | 2 | 1 | 0 | 1 | 0 | 2 | 0 | 1 |" in page
    size = project.ledger_size
    assert f"The ledger has {size} claims and 4 verdicts, of which 2 depend on chance." in page
    assert "0.1 of those at most are to be expected wrong." in page
    assert f"5% / {size} = {0.05 / size:.2g}" in page
    assert "together these levels are 0.0004," in page


def test_each_row_has_what_was_measured_and_links_its_figures(project: Project) -> None:
    page = claims_page(project, PAGE)
    [row] = [line for line in page.splitlines() if '<a id="tsdp-c8"></a>TSDP-C8' in line]
    assert "| **holds** | only by itself | 0.25 [0.125, 0.5] | a\\|b; asked:  | 50 |" in row
    assert "[fig3](figures/ts-is-dp/fig3.png) [fig2](figures/ts-is-dp/fig2.png) |" in row
    assert "| undecided (10) |" in row
    own = page.partition("<!-- begin ledger ts-is-dp -->")[2].partition("<!-- end")[0]
    assert own.count("**not contradicted** | -") == 1
    assert "| [TSDP-C8](#tsdp-c8) | as-written, b_grid=main | holds | undecided | a\\|b |" in page


def test_it_is_written_again_to_the_same_text(project: Project) -> None:
    page = claims_page(project, PAGE)
    assert claims_page(project, page) == page
    path = project.folder / "docs/figures/ts-is-dp/claims.csv"
    path.write_text(path.read_text().replace("TSDP-C1,as-written,,holds", "TSDP-C1,as-written,,x"))
    both = project.folder / "docs/figures/ts-is-dp/simultaneous.csv"
    both.write_text(both.read_text().replace("TSDP-C1,as-written,,holds", "TSDP-C1,as-written,,x"))
    assert claims_page(project, page) != page


def test_no_claim_stands_only_by_itself(project: Project) -> None:
    both = project.folder / "docs/figures/ts-is-dp/simultaneous.csv"
    frame = pd.read_csv(both, keep_default_na=False, dtype=str)
    frame["stands"] = frame["stands"].replace("only by itself", "yes")
    both.write_text(frame.to_csv(index=False))
    page = claims_page(project, PAGE)
    assert re.search(r"begin only by themselves -->\nThere is none\.\n<!-- end", page)
