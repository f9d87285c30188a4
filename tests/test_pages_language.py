"""The pages are plain: short sentences, the field's own words, a README of one screen.

Measured are ``README.md``, ``docs/*.md`` and the pages of the papers, which have the texts of the
config; ``test_pages_site.py`` measures the site.
"""

import tomllib

import pytest

from dpbandits.pipeline.project import Project
from found_papers import PAPERS
from site_pages import LONGEST, REPLACED, long_sentences, prose_of_html, replaced_words, words
from support import DOCUMENTS, ROOT

PAGES = {
    name: text
    for name, text in DOCUMENTS.items()
    if name == "README.md" or name.startswith("docs/")
}
PAGES |= {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(ROOT.glob("docs/papers/*.md"))
}


@pytest.mark.parametrize("name", PAGES)
def test_sentences_are_short_and_words_that_were_replaced_gone(name: str) -> None:
    assert long_sentences(PAGES[name]) + replaced_words(PAGES[name]) == []


def test_what_is_measured() -> None:
    short, long = "word " * (LONGEST - 1) + "end.", "word " * LONGEST + "end."
    page = f"# {long}\n\n{short} {short.capitalize()}\n- {short}\n- {long}\n\n| {long} |\n"
    page += f"```\n{long}\n```\n<!-- begin x -->\n{long}\n<!-- end x -->\n"
    page += f"`{long}` = + [link]({short})\n"
    assert long_sentences(page) == [f"- {long}"]
    html = f"<p>{long}</p><p>{short}<ul><li>{short}</li></ul><pre>{long}</pre><p>as told <b>x</b>"
    assert long_sentences(prose_of_html(html)) == [long]
    [found] = replaced_words(prose_of_html(html))
    assert found.endswith("end. as told x")
    assert REPLACED.search("It stands beside ours.")
    assert not REPLACED.search("The standard refuge is one line, hours long.")


def test_the_readme_is_one_screen_and_says_what_the_package_is() -> None:
    text = DOCUMENTS["README.md"]
    assert len(text.splitlines()) <= 120
    assert len(text.split()) <= 900
    package = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert package["requires-python"] == ">=3.11"
    assert package["license"] == "MIT"
    assert f"Version {package['version']}, Python 3.11 to 3.13, MIT licence." in text


@pytest.mark.parametrize("paper", PAPERS)
def test_a_paper_is_summed_up_in_one_short_sentence(paper: str) -> None:
    assert words(Project.load(ROOT).study(paper).summary().sentence) <= 25
