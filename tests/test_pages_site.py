"""The site: pages are whole, links resolve, numbers are those of the csv, figures can be read."""

import json
import math
import posixpath
import re
import shutil
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pandas as pd
import pytest

from chromium import SET, chromium_page
from dpbandits.cli import main
from dpbandits.errors import InputError
from dpbandits.pages.site.build import MARK, site_contents, write_site
from dpbandits.pages.site.switches import crossing
from dpbandits.pipeline.project import Project
from dpbandits.reporting.text import plain_label, readable
from site_pages import Reader, long_sentences, prose_of_html, replaced_words
from support import ROOT

PAPER = "dp-ncb"
"""It has every kind of page: variants, digitised values and switches."""
PUBLISHED = ROOT / "docs/figures" / PAPER
CLAIMS = pd.read_csv(PUBLISHED / "claims.csv", keep_default_na=False, dtype=str)


@pytest.fixture(scope="module")
def project() -> Project:
    return Project.load(ROOT).at(papers=[PAPER], comparisons=["equal-privacy", "privacy-audit"])


@pytest.fixture(scope="module")
def contents(project: Project) -> dict[str, bytes]:
    return site_contents(project)


@pytest.fixture(scope="module")
def pages(contents: dict[str, bytes]) -> dict[str, Reader]:
    texts = {name: content for name, content in contents.items() if name.endswith(".html")}
    return {name: Reader(content.decode()) for name, content in texts.items()}


@pytest.fixture(scope="module")
def folder(contents: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("site")
    for name, content in contents.items():
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_bytes(content)
    return made


def unresolved(pages: dict[str, Reader], contents: dict[str, bytes]) -> list[str]:
    """Return the links that lead nowhere, or elsewhere."""
    wrong = []
    for name, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), parts.path))
            target = target if parts.path else name
            is_there = parts.scheme == "data" or (not parts.scheme and target in contents)
            # What a reader may follow, and no page loads.
            is_there |= link.startswith(("https://arxiv.org/abs/", "https://doi.org/"))
            if is_there and parts.fragment:
                is_there = parts.fragment in pages[target].ids
            wrong += [] if is_there else [f"{name}: {link}"]
    return wrong


def test_every_page_is_well_formed(pages: dict[str, Reader]) -> None:
    assert {name: page.faults for name, page in pages.items() if page.faults} == {}
    assert Reader("<p><b>a</p>").faults
    assert Reader('<p id="a"></p><p id="a"></p><img src="b">').faults != []


def unplain(contents: dict[str, bytes]) -> dict[str, list[str]]:
    """Return long sentences and replaced words by page; those of the interface are docstrings."""
    texts = {
        name: prose_of_html(content.decode())
        for name, content in contents.items()
        if name.endswith(".html") and not name.startswith("api/")
    }
    found = {name: long_sentences(text) + replaced_words(text) for name, text in texts.items()}
    return {name: faults for name, faults in found.items() if faults}


def test_sentences_are_short_and_words_plain(contents: dict[str, bytes]) -> None:
    assert unplain(contents) == {}


def test_every_link_and_anchor_resolves(
    pages: dict[str, Reader], contents: dict[str, bytes]
) -> None:
    assert unresolved(pages, contents) == []
    broken = {"x.html": Reader('<a href="y.html">1</a><a href="#z">2</a><img src="https://a/b">')}
    assert len(unresolved(broken, {"x.html": b""})) == 3


def test_every_claim_is_listed_and_has_the_numbers_of_the_csv(contents: dict[str, bytes]) -> None:
    listed = contents["claims.html"].decode()
    for claim, rows in CLAIMS.groupby("claim", sort=False):
        assert f'href="claims/{claim}.html"' in listed
        page = contents[f"claims/{claim}.html"].decode()
        shown = dict(re.findall(r'<tr data-row="([^"]*)">(.*?)</tr>', page, re.DOTALL))
        assert len(shown) == len(rows), claim
        for row in rows.to_dict("records"):
            found = shown[f"{row['variant']}|{row['interpretation']}"]
            numbers = [row["estimate"], row["lo"], row["hi"]] if row["estimate"] else []
            numbers = numbers[:1] if row["lo"] == row["hi"] else numbers
            expected = [(float(value), readable(f"{float(value):.3g}")) for value in numbers]
            read = re.findall('<data value="([^"]*)">([^<]*)', found)
            assert [(float(value), text) for value, text in read] == expected, claim
            assert row["verdict"] in found
            if row["verdict"] not in ("not testable", "not applicable"):
                assert row["verdict_at_paper_runs"] in found


def views_of(contents: dict[str, bytes], figure: str) -> list[dict[str, Any]]:
    """Return what the script of a figure gives to the pages that draw it."""
    script = contents[f"charts/{PAPER}/{figure}.js"].decode()
    name, _, views = script.rstrip(";\n").partition(" = ")
    assert name == f'figures["{PAPER}/{figure}"]'
    return list(json.loads(views))


def test_a_figure_has_the_points_of_its_csv(contents: dict[str, bytes]) -> None:
    views = views_of(contents, "fig1")
    assert [view["label"] for view in views[:3]] == ["as coded", "as written", "repaired"]
    for view in views[:3]:
        for panel in view["panels"]:
            table = pd.read_csv(PUBLISHED / f"{panel['stem']}.csv", keep_default_na=False)
            for line in panel["series"]:
                own = table[table["series"] == line["name"]]
                assert line["x"] == own["x"].tolist()
                assert line["y"] == own["y"].tolist()
                assert line.get("lo", line["y"]) == own["lo"].tolist()
                assert line.get("hi", line["y"]) == own["hi"].tolist()
    [residuals] = views[3:]
    agreements = [
        word
        for panel in residuals["panels"]
        for line in panel["series"]
        for word, share in zip(line.get("agreement", []), line["y"], strict=False)
        if (word != "differs") == (abs(share) <= 1.0 + 1e-9)
    ]
    digitised = pd.read_csv(ROOT / "docs/tables" / PAPER / "digitised.csv")
    assert len(agreements) == len(digitised)


def test_a_figure_of_older_copies_is_shown_as_its_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the json of what was drawn."""
    # Other pages and pictures take most of the time.
    monkeypatch.setattr("dpbandits.pages.site.build.interface_pages", lambda menu: {})
    monkeypatch.setattr("dpbandits.pages.site.build._picture", lambda path: b"")
    for name in ("config", "workflow", "CITATION.cff"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    copies = tmp_path / "docs/figures" / PAPER
    (copies / "extra-bias.json").unlink()
    made = site_contents(Project.load(tmp_path).at(papers=[PAPER], comparisons=[]))
    assert f"charts/{PAPER}/extra-bias.js" not in made
    assert b"pictures/dp-ncb/extra-bias.png" in made[f"figures/{PAPER}/extra-bias.html"]


def test_labels_are_read_without_mathtext() -> None:
    assert plain_label("$T = 10^8$, $\\varepsilon$ = 0.2") == "T = 10⁸, ε = 0.2"
    assert plain_label("$t^{-1/2}$ and $\\ell_1$") == "t^(-1/2) and ℓ₁"
    assert plain_label("$b = 0$, $c = 5\\,\\ln^\\alpha T$") == "b = 0, c = 5 lnᵅ T"


def test_crossings_are_the_first_time_from_which_one_curve_stays_below() -> None:
    other = pd.DataFrame({"x": [1, 2, 3, 4], "y": 1.0})
    answers = {(0.5, 2.0, 0.5, 0.5): ("from", 3.0), (0.5,) * 4: ("always", None)}
    answers[0.5, 0.5, 0.5, 1.0] = ("never", None)
    for values, answer in answers.items():
        assert crossing(other.assign(y=values), other) == answer


def test_switches_have_the_numbers_of_their_table(pages: dict[str, Reader]) -> None:
    data = json.loads(pages[f"switches/{PAPER}.html"].scripts["switch-data"])
    drawn = {own["id"]: own for own in data["algorithms"]}
    table = pd.read_csv(ROOT / "docs/tables" / PAPER / "extra-deviations.csv")
    for algorithm in ("gdp-ncb", "adap-ucb"):
        own = table[table["algorithm"] == algorithm].set_index("id")
        values = {switch["id"]: switch["value"][0] for switch in drawn[algorithm]["switches"]}
        assert values == own["changed"].to_dict()
        assert drawn[algorithm]["coded"][0] == own["coded"].iloc[0]
    adap = drawn["adap-ucb"]
    scored = table[table["algorithm"] == "adap-ucb, scoring"].iloc[0]
    assert adap["coded"][0] + adap["shift"]["amount"] == pytest.approx(scored["coded"], rel=1e-12)


HOVER = """(() => {
  const plot = document.querySelectorAll(".plot")[1], frame = plot.getBoundingClientRect();
  const event = {bubbles: true, clientX: frame.left + frame.width / 2, clientY: frame.bottom - 60};
  plot.dispatchEvent(new PointerEvent("pointermove", event));
  const shown = plot.parentElement.querySelectorAll(".tip:not([hidden]) > *");
  return [...shown].map((e) => e.textContent);
})()"""
LINES = '[...document.querySelectorAll(".plot g[data-series]")].map((e) => e.dataset.series)'
CLICK = "document.querySelector(`{place}`).click()"
LEGEND = """{{
  const buttons = [...document.querySelectorAll(".legend button")];
  buttons.find((button) => button.textContent === "{name}").click();
}}"""
PRESS = """{{
  const event = new KeyboardEvent("keydown", {{key: "{key}"}});
  document.querySelector(".plot").dispatchEvent(event);
}}"""
FAULTS = """axe.run(document, {resultTypes: ["violations"]}).then((found) => JSON.stringify(
  found.violations.map((each) => [each.id, each.nodes[0].html])))"""
FOUND = """[...document.querySelectorAll("[data-item]:not([hidden]) a")]
  .map((link) => link.getAttribute("href"))"""
HEADS = '[...document.querySelector("table").querySelectorAll("thead th")]'
SORT = HEADS + """.find((head) => head.textContent === "{head}").querySelector("button").click()"""
COLUMN = """(() => {{
  const table = document.querySelector("table");
  const heads = [...table.querySelectorAll("thead th")];
  const at = heads.findIndex((head) => head.textContent === "{head}");
  const cells = [...table.querySelectorAll("tbody tr")].map((row) => row.cells[at].textContent);
  return cells.filter((text) => /^[0-9.,]+$/.test(text));
}})()"""
SHOWN = 'document.querySelectorAll("[data-rows]:not([hidden])").length'


def test_figures_are_drawn_hovered_and_switched_in_a_browser(folder: Path) -> None:
    with chromium_page() as page:
        page.open((folder / f"figures/{PAPER}/fig1.html").as_uri())
        assert page.run('document.querySelectorAll(".chart svg").length') >= 6
        # What is read under the pointer is a point of the csv.
        label, _, value, *_ = page.run(HOVER)
        table = pd.read_csv(PUBLISHED / "fig1b.csv", keep_default_na=False)
        shown = float(value.split(": ")[1].split(" ")[0])
        own = table[table["series"].str.contains(label.split(",")[0], regex=False)]
        assert any(math.isclose(shown, y, rel_tol=5e-3) for y in own["y"])
        # A series is switched off, then a variant chosen, then an axis.
        before = page.run(LINES)
        page.run(LEGEND.format(name="NCB"))
        assert page.run(LINES) == [name for name in before if name != "NCB"]
        page.run(CLICK.format(place='input[name="view"][value="2"]'))
        expected = pd.read_csv(PUBLISHED / "fig1b-repaired.csv")["series"].unique()
        assert set(expected) - {"NCB"} <= set(page.run(LINES))
        ticks = 'document.querySelector(".chart svg").textContent'
        linear = page.run(ticks)
        page.run(CLICK.format(place='input[name="x"]'))
        assert page.run(ticks) != linear
        # The address of a panel opens its variant; arrow keys read points.
        page.open((folder / f"figures/{PAPER}/fig1.html").as_uri() + "?#fig1c-as-written")
        checked = 'document.querySelector("[name=view]:checked").parentElement.textContent'
        assert page.run(checked) == "as written"
        page.run(PRESS.format(key="ArrowRight"))
        assert "AdaP-UCB" in page.run('document.querySelector(".tip:not([hidden])").textContent')
        # What is shown is in the address, which opens the same again.
        page.open((folder / f"figures/{PAPER}/fig1.html").as_uri())
        page.run(CLICK.format(place='input[name="view"][value="1"]'))
        page.run(LEGEND.format(name="NCB"))
        page.run(CLICK.format(place='input[name="y"]'))
        drawn, address = page.run(LINES), page.run("location.href")
        page.open("about:blank")
        page.open(address)
        assert page.run(checked) == "as written"
        assert page.run(LINES) == drawn
        assert page.run('document.querySelector("[name=y]").checked')
        # A claim shows the panel that it is about, on the axes that show it more clearly.
        page.open((folder / "claims/NCB-C3.html").as_uri())
        assert page.run('document.querySelector(".chart").dataset.stem') == "fig1b"
        assert (
            page.run('document.querySelectorAll("[name=x]:checked, [name=y]:checked").length') == 2
        )
        assert page.run('document.querySelectorAll(".chart svg").length') == 1
        assert page.errors == []


def test_claims_are_searched_and_switches_ticked_in_a_browser(folder: Path) -> None:
    with chromium_page() as page:
        page.open((folder / "claims.html").as_uri() + "?words=reduces+Nash+regret")
        assert page.run(SHOWN) == 1
        page.run(SET.format(place="main [name=words]", value=""))
        assert page.run(SHOWN) == CLAIMS["claim"].nunique()
        for field, value in (("variant", "repaired"), ("verdict", "fails")):
            page.run(SET.format(place=f"main [name={field}]", value=value))
        chosen = CLAIMS[(CLAIMS["variant"] == "repaired") & (CLAIMS["verdict"] == "fails")]
        assert page.run(SHOWN) == chosen["claim"].nunique()
        page.open((folder / "search.html").as_uri() + "?words=ldp-ncb&kind=algorithm")
        assert page.run(FOUND) == ["algorithms.html#ldp-ncb", "algorithms.html#anytime-ldp-ncb"]
        page.run(SET.format(place="main [name=kind]", value="figure"))
        assert f"figures/{PAPER}/fig1.html" in page.run(FOUND)
        page.open((folder / "audit.html").as_uri())
        page.run(SORT.format(head="Ratio"))
        ratios = [float(text.replace(",", "")) for text in page.run(COLUMN.format(head="Ratio"))]
        assert ratios == sorted(ratios)
        page.open((folder / f"switches/{PAPER}.html").as_uri())
        said = 'document.querySelector(".said").textContent'
        page.run(CLICK.format(place='[value="gdp-ncb|D4"]'))
        assert page.run(said).startswith("GDP-NCB with D4: 0.131 [")
        page.run(CLICK.format(place='[value="gdp-ncb|A10"]'))
        assert "not computed" not in page.run(said)
        page.run(CLICK.format(place='[value="gdp-ncb|A20"]'))
        assert "not computed" in page.run(said)
        for address in sorted(folder.rglob("*.html"))[::9]:
            page.open(address.as_uri())
        assert page.errors == []


def test_a_folder_of_something_else_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "thesis.tex"
    kept.write_text("mine")
    assert main(["site", "--project", str(ROOT), "--out", str(tmp_path)]) == 2
    line = f"dpbandits: out is {tmp_path}; allowed: a new or empty folder, or one with a site\n"
    assert capsys.readouterr().err == line
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_site_is_replaced_as_a_whole(
    tmp_path: Path, project: Project, contents: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpbandits.pages.site.build.site_contents", lambda project: contents)
    out = tmp_path / "site"
    out.mkdir()
    (out / MARK).touch()
    (out / "old.html").touch()
    written = write_site(project, out)
    assert {path.relative_to(out).as_posix() for path in written} == set(contents)
    assert {path for path in out.rglob("*") if path.is_file()} == set(written)
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_nothing_published_is_said_in_one_line(tmp_path: Path) -> None:
    for name in ("config", "workflow"):
        (tmp_path / name).symlink_to(ROOT / name)
    with pytest.raises(InputError, match=r"has no verdicts; allowed: published ones"):
        site_contents(Project.load(tmp_path).at(papers=[PAPER]))


@pytest.fixture(scope="module")
def everything() -> dict[str, bytes]:
    """The site of the whole project: path in it -> content."""
    return site_contents(Project.load(ROOT))


@pytest.mark.slow
def test_the_whole_site_is_whole_and_the_same_again(everything: dict[str, bytes]) -> None:
    texts = {name: content for name, content in everything.items() if name.endswith(".html")}
    pages = {name: Reader(content.decode()) for name, content in texts.items()}
    assert {name: page.faults for name, page in pages.items() if page.faults} == {}
    assert unresolved(pages, everything) == []
    assert unplain(everything) == {}
    assert sum(map(len, everything.values())) < 15e6
    assert site_contents(Project.load(ROOT)) == everything


@pytest.mark.slow
def test_every_page_opens_without_an_error_or_a_fault_of_accessibility_and_fits_a_telephone(
    everything: dict[str, bytes], tmp_path: Path
) -> None:
    for name, content in everything.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    axe = files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    faults = {}
    with chromium_page() as page:
        for name in sorted(each for each in everything if each.endswith(".html")):
            page.open((tmp_path / name).as_uri())
            page.run(f"{axe};1")
            if found := json.loads(page.run(FAULTS)):
                faults[name] = found
        page.resize(400, 800)
        for name in sorted(each for each in everything if each.endswith(".html")):
            page.open((tmp_path / name).as_uri())
            if (width := page.run("document.documentElement.scrollWidth")) > 400:
                faults[name] = [f"is {width} pixels wide"]
        assert page.errors == []
    assert faults == {}
