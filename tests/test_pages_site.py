"""The site: pages are whole, links resolve, numbers are those of the csv, figures can be read."""

import json
import math
import posixpath
import re
import shutil
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
import pytest

from chromium import in_browser
from dpbandits.cli import main
from dpbandits.errors import InputError
from dpbandits.pages.site.build import MARK, site_contents, write_site
from dpbandits.pages.site.switches import crossing
from dpbandits.pipeline.project import Project
from dpbandits.reporting.text import plain_label
from made_tables import made_project
from shared import shared_folder
from site_pages import Reader
from support import ROOT

PAPER = "dp-ncb"
"""It has every kind of page: variants, digitised values and switches."""
PUBLISHED = ROOT / "docs/figures" / PAPER


def whole_project() -> Project:
    """Return a copy of the project with made-up verdicts."""
    return Project.load(shared_folder("made", made_project))


def verdicts(name: str) -> pd.DataFrame:
    """Return a table of made-up verdicts as texts."""
    path = whole_project().folder / "docs/figures" / PAPER / f"{name}.csv"
    return pd.read_csv(path, keep_default_na=False, dtype=str)


@pytest.fixture(scope="module")
def project() -> Project:
    return whole_project().at(papers=[PAPER], comparisons=["equal-privacy", "privacy-audit"])


@pytest.fixture(scope="module")
def contents(project: Project) -> dict[str, bytes]:
    return site_contents(project)


@pytest.fixture(scope="module")
def folder(contents: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("site")
    for name, content in contents.items():
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_bytes(content)
    return made


def faults_of(contents: dict[str, bytes]) -> list[str]:
    """Return what is not well formed, and links that lead nowhere or elsewhere.

    Sentences are measured in the documents, which have the same texts.
    """
    texts = {name: content for name, content in contents.items() if name.endswith(".html")}
    pages = {name: Reader(content.decode()) for name, content in texts.items()}
    wrong = [f"{name}: {fault}" for name, page in pages.items() for fault in page.faults]
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


def test_pages_are_well_formed_and_links_resolve(contents: dict[str, bytes]) -> None:
    assert faults_of(contents) == []
    links = b'<a href="y.html">1</a><a href="#z">2</a><img src="https://a/b" alt="3">'
    for text, count in {links: 3, b"<p><b>a</p>": 2, b'<p id="a"></p><img id="a">': 2}.items():
        assert len(faults_of({"x.html": text})) == count


def test_every_claim_is_listed_and_has_the_numbers_of_the_csv(contents: dict[str, bytes]) -> None:
    listed, evidence = contents["claims.html"].decode(), verdicts("evidence")
    for claim, rows in verdicts("claims").groupby("claim", sort=False):
        assert f'href="claims/{claim}.html"' in listed
        page = contents[f"claims/{claim}.html"].decode()
        found = re.findall(r'<details data-row="([^"]*)".*?>(.*?)</details>', page, re.DOTALL)
        shown = dict(found)
        assert len(shown) == len(rows), claim
        for row in rows.to_dict("records"):
            text = shown[f"{row['variant']}|{row['interpretation']}"]
            keys = ["claim", "variant", "interpretation"]
            compared = evidence[(evidence[keys] == [row[key] for key in keys]).all(axis="columns")]
            expected: list[str] = []
            for one in compared.to_dict("records"):
                ends = [one["lo"], one["hi"]] if one["lo"] != one["hi"] else []
                expected += filter(None, [one["estimate"], *ends, one["level"]])
            read = re.findall('<data value="([^"]*)">', text)
            assert [*map(float, read)] == [*map(float, expected)], claim
            assert row["of_reading"] in text
            assert row["verdict"] in page


def test_a_figure_has_the_points_of_its_csv(contents: dict[str, bytes]) -> None:
    script = contents[f"charts/{PAPER}/fig1.js"].decode()
    name, _, text = script.rstrip(";\n").partition(" = ")
    assert name == f'figures["{PAPER}/fig1"]'
    views = json.loads(text)
    assert [view["label"] for view in views[:3]] == ["as coded", "as written", "repaired"]
    for view in views[:3]:
        for panel in view["panels"]:
            table = pd.read_csv(PUBLISHED / f"{panel['stem']}.csv", keep_default_na=False)
            for line in panel["series"]:
                own = table[table["series"] == line["name"]]
                assert line["x"] == own["x"].tolist()
                assert line["y"] == own["y"].tolist()
                # What has no interval is drawn as its value.
                for end in ("lo", "hi"):
                    drawn = own[end].where(np.isfinite(own[end]), own["y"])
                    assert line.get(end, line["y"]) == drawn.tolist()
    [residuals] = views[3:]
    agreements = [
        word
        for panel in residuals["panels"]
        for line in panel["series"]
        for word, share in zip(line.get("agreement", []), line["y"], strict=False)
        if (word != "differs") == (abs(share) <= 1.0 + 1e-9)
    ]
    digitised = pd.read_csv(ROOT / "docs/figures" / PAPER / "digitised.csv")
    assert len(agreements) == len(digitised)


def test_a_figure_of_older_copies_is_shown_as_its_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the json of what was drawn."""
    # Other pages and pictures take most of the time.
    monkeypatch.setattr("dpbandits.pages.site.build.interface_pages", lambda menu: {})
    monkeypatch.setattr("dpbandits.pages.site.build._picture", lambda path: b"")
    folder = whole_project().folder
    for name in ("config", "workflow", "CITATION.cff"):
        (tmp_path / name).symlink_to(folder / name)
    shutil.copytree(folder / "docs", tmp_path / "docs")
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


def test_switches_have_the_numbers_of_their_table(contents: dict[str, bytes]) -> None:
    page = contents[f"switches/{PAPER}.html"].decode()
    [text] = re.findall(r'<script[^>]*id="switch-data"[^>]*>(.*?)</script>', page, re.DOTALL)
    data = json.loads(text)
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


SWITCHED = f"""
const figure = "figures/{PAPER}/fig1.html", claim = "claims/NCB-C3.html";
const lines = () => all(".plot g[data-series]").map((element) => element.dataset.series);
const legend = (name) => all(".legend button").find((each) => each.textContent === name).click();
const view = (number) => one(`input[name="view"][value="${{number}}"]`).click();
const checked = () => one("[name=view]:checked").parentElement.textContent;
await visit(figure);
const charts = all(".chart svg").length;
const plot = all(".plot")[1], place = plot.getBoundingClientRect();
const at = {{bubbles: true, clientX: place.left + place.width / 2, clientY: place.bottom - 60}};
plot.dispatchEvent(new PointerEvent("pointermove", at));
const hovered = texts(".tip:not([hidden]) > *");
const [whole, without, repaired] = [lines(), legend("NCB") ?? lines(), view(2) ?? lines()];
const [linear] = texts(".chart svg");
one('input[name="x"]').click();
const isOtherAxis = texts(".chart svg")[0] !== linear;
await visit(figure + "?#fig1c-as-written");
const ofAddress = checked();
one(".plot").dispatchEvent(new KeyboardEvent("keydown", {{key: "ArrowRight"}}));
const [tip] = texts(".tip:not([hidden])");
await visit(figure);
view(1);
legend("NCB");
one('input[name="y"]').click();
const drawn = lines();
await visit(frame.contentWindow.location.href);
const again = [checked(), lines(), one("[name=y]").checked];
await visit(claim);
const axes = all("[name=x]:checked, [name=y]:checked").length;
const ofClaim = [one(".chart").dataset.stem, all(".chart svg").length, axes];
return {{
  charts, hovered, whole, without, repaired, isOtherAxis, ofAddress, tip, drawn, again, ofClaim
}};
"""


def test_figures_are_drawn_hovered_and_switched_in_a_browser(folder: Path) -> None:
    found = in_browser(folder, SWITCHED)
    assert found["charts"] >= 6
    # What is read under the pointer is a point of the csv.
    label, _, value, *_ = found["hovered"]
    table = pd.read_csv(PUBLISHED / "fig1b.csv", keep_default_na=False)
    own = table[table["series"].str.contains(label.split(",")[0], regex=False)]
    shown = float(value.split(": ")[1].split(" ")[0])
    assert any(math.isclose(shown, y, rel_tol=5e-3) for y in own["y"])
    # An algorithm is switched off, then a variant chosen, then an axis.
    assert found["without"] == [name for name in found["whole"] if name.split(",")[0] != "NCB"]
    expected = pd.read_csv(PUBLISHED / "fig1b-repaired.csv")["series"].unique()
    assert set(expected) - {"NCB"} <= set(found["repaired"])
    assert found["isOtherAxis"]
    # The address of a panel opens its variant; arrow keys read points.
    assert found["ofAddress"] == "as written"
    assert "AdaP-UCB" in found["tip"]
    # What is shown is in the address, which opens the same again.
    assert found["again"] == ["as written", found["drawn"], True]
    # A claim shows the panel that it is about, on the axes that show it more clearly.
    assert found["ofClaim"] == ["fig1b", 1, 2]


SEARCHED = f"""
const shown = () => all("[data-item]:not([hidden])").length;
const links = () =>
  all("[data-item]:not([hidden]) a").map((link) => link.getAttribute("href"));
await visit("claims.html?words=reduces+Nash+regret");
const claims = [shown()];
put("main [name=words]", "");
claims.push(shown());
put("main [name=verdict]", "as stated");
claims.push(shown());
await visit("search.html?words=ldp-ncb&kind=algorithm");
const algorithms = links();
put("main [name=kind]", "figure");
const figures = links();
await visit("audit.html");
const heads = [...one("table").querySelectorAll("thead th")];
const column = heads.findIndex((head) => head.textContent === "Ratio");
heads[column].querySelector("button").click();
const rows = [...one("table").querySelectorAll("tbody tr")];
const ratios = rows.map((row) => row.cells[column].textContent);
await visit("switches/{PAPER}.html");
const said = ["D4", "A10", "A20"].map((id) => {{
  one(`[value="gdp-ncb|${{id}}"]`).click();
  return texts(".said")[0];
}});
return {{claims, algorithms, figures, ratios, said}};
"""


def test_claims_are_searched_and_switches_ticked_in_a_browser(folder: Path) -> None:
    others = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.html"))[::9]]
    found = in_browser(folder, f"for (const name of {others}) await visit(name);{SEARCHED}")
    claims = verdicts("claims")
    chosen = claims[claims["verdict"] == "as stated"]
    assert found["claims"] == [1, claims["claim"].nunique(), chosen["claim"].nunique()]
    assert found["algorithms"] == ["algorithms.html#ldp-ncb", "algorithms.html#anytime-ldp-ncb"]
    assert f"figures/{PAPER}/fig1.html" in found["figures"]
    ratios = [text.replace(",", "") for text in found["ratios"] if re.match(r"[0-9.,]+$", text)]
    assert len(ratios) > 10
    assert sorted(ratios, key=float) == ratios
    single, also_computed, not_computed = found["said"]
    assert single.startswith("GDP-NCB with D4: 0.131 [")
    assert "not computed" not in also_computed
    assert "not computed" in not_computed


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
    return site_contents(whole_project())


@pytest.mark.slow
def test_the_whole_site_is_whole_and_the_same_again(everything: dict[str, bytes]) -> None:
    assert faults_of(everything) == []
    # In a folder that was built there are pdf and LaTeX to download beside the published copies.
    copies = [path for path in everything if not path.endswith((".pdf", ".tabular"))]
    assert sum(len(everything[path]) for path in copies) < 15e6
    assert site_contents(whole_project()) == everything


VISITED = """
const faults = [];
for (const name of names) {
  await visit(name);
  const {axe, document} = frame.contentWindow;
  const {violations} = await axe.run(document, {resultTypes: ["violations"]});
  faults.push(...violations.map((each) => [name, each.id, each.nodes[0].html]));
  await visit(name, 400);
  const width = frame.contentDocument.documentElement.scrollWidth;
  if (width > 400) faults.push([name, `is ${width} pixels wide`]);
}
return faults;
"""


@pytest.mark.slow
def test_every_page_opens_without_an_error_or_a_fault_of_accessibility_and_fits_a_telephone(
    everything: dict[str, bytes], tmp_path: Path
) -> None:
    axe = files("axe_core_python").joinpath("axe.min.js").read_bytes()
    (tmp_path / "axe.js").write_bytes(axe)
    loaded = f'<script src="{(tmp_path / "axe.js").as_uri()}"></script>'.encode()
    for name, content in everything.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content + loaded * name.endswith(".html"))
    names = [name for name in everything if name.endswith(".html")]
    assert in_browser(tmp_path, f"const names = {names};{VISITED}") == []
