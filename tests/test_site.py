"""The site: it is built without a warning, links lead somewhere, nothing comes from a network."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import dpbandits
from chromium import in_browser
from dpbandits.algorithms import REGISTRY
from shared import shared_folder
from support import ROOT, mostly_slow


class Page(HTMLParser):
    """The addresses of a page: ``ids`` in it, ``links`` to follow, and what it ``loads``."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for key, value in attrs:
            if key == "id":
                self.ids.add(str(value))
            elif key in ("href", "src", "srcset", "action", "data", "poster"):
                (self.links if tag == "a" else self.loads).append(str(value))


def build(folder: Path) -> None:
    words = ["sphinx", "-q", "-W", "-d", f"{folder}.doctrees", "-c", "docs", ".", str(folder)]
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=ROOT, capture_output=True, encoding="utf-8"
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture(scope="module")
def site() -> Path:
    return shared_folder("site", build)


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in site.rglob("*.html")}


def test_every_link_within_the_site_leads_somewhere(pages: dict[Path, Page]) -> None:
    dead = []
    for path, page in pages.items():
        for link in [*page.links, *page.loads]:
            parts = urlsplit(link)
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            is_live = bool(parts.scheme) or (
                target.is_file()
                and (
                    target not in pages or not parts.fragment or parts.fragment in pages[target].ids
                )
            )
            dead += [] if is_live else [(path.name, link)]
    assert dead == []


def test_nothing_is_loaded_from_a_network(site: Path, pages: dict[Path, Page]) -> None:
    loads = {urlsplit(address)[:2] for page in pages.values() for address in page.loads}
    assert loads == {("", "")}
    for style in site.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        assert not re.search(r"(?:url\(|@import)[\s\"']*(?:https?:)?//", text), style.name


def test_links_of_before_and_the_whole_interface_are_there(
    site: Path, pages: dict[Path, Page]
) -> None:
    assert {"tsdp-c8", "fig2", "fig2a"} <= pages[site / "docs/papers/ts-is-dp.html"].ids
    interface = {each.rpartition(".")[2] for each in pages[site / "docs/python.html"].ids}
    assert {*dpbandits.__all__, *dpbandits.privacy.__all__} - {"privacy"} <= interface
    assert "dpbandits-simulate" in pages[site / "docs/commands.html"].ids
    moved = {
        "index.html": "README.html",
        "claims/TSDP-C8.html": "../docs/papers/ts-is-dp.html#tsdp-c8",
        "figures/dp-ncb/fig1.html": "../../docs/papers/dp-ncb.html#fig1",
    }
    for address, target in moved.items():
        assert f'url={target}"' in (site / address).read_text(encoding="utf-8")


VISITED = """
const faults = [];
for (const width of [1400, 400]) {
  await visit(name, width);
  const {document, performance} = frame.contentWindow;
  const script = document.createElement("script");
  script.src = source;
  await new Promise((loaded) => { script.onload = loaded; document.head.append(script); });
  for (const [theme, rules] of [["light", {}], ["dark", {runOnly: ["color-contrast"]}]]) {
    document.body.dataset.theme = theme;
    const options = {resultTypes: ["violations"], ...rules};
    const {violations} = await frame.contentWindow.axe.run(options);
    faults.push(...violations.map((each) => [width, theme, each.id, each.nodes[0].html]));
  }
  const loaded = performance.getEntriesByType("resource").map((each) => each.name);
  faults.push(...loaded.filter((each) => !each.startsWith("file:")));
  const across = document.scrollingElement.scrollWidth;
  if (across > width) faults.push(`is ${across} pixels wide where ${width} are shown`);
}
return faults;
"""
SHOWN = ("README.html", "docs/papers/dp-ts-ucb.html", "docs/tables.html")
DOCUMENTS = [
    path.relative_to(ROOT).with_suffix(".html").as_posix()
    for folder in (".", "config", "docs", "docs/papers")
    for path in sorted((ROOT / folder).glob("*.md"))
]


@pytest.mark.parametrize("name", mostly_slow([*DOCUMENTS, "search.html"], *SHOWN))
def test_a_page_is_accessible_loads_nothing_and_fits_a_telephone(site: Path, name: str) -> None:
    source = Path(str(files("axe_core_python").joinpath("axe.min.js"))).as_uri()
    assert in_browser(site, f"const source = {source!r}, name = {name!r};{VISITED}") == []


SEARCHED = """
const found = {};
await visit("search.html");
for (const words of queries) {
  one("#search-results").replaceChildren();
  frame.contentWindow.eval(`Search.performSearch(${JSON.stringify(words)})`);
  await new Promise((done) => setTimeout(done, 500));
  found[words] = all("ul.search a").map((link) => link.getAttribute("href"));
}
return found;
"""


def test_the_search_finds_figures_words_and_algorithms(site: Path) -> None:
    queries = [
        "figure 5(b)",
        "fig5b",
        "TSDP-C8",
        "Nash regret",
        "how to cite",
        "not tested",
        "overlay",
    ]
    queries += [algorithm.name for algorithm in REGISTRY.values()]
    found = in_browser(site, f"const queries = {queries};{SEARCHED}")
    assert [query for query, links in found.items() if not links] == []
    assert "docs/papers/dp-ts-ucb.html#fig5b" in found["figure 5(b)"]
    assert found["TSDP-C8"][0] == "docs/papers/ts-is-dp.html#tsdp-c8"
