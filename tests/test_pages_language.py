"""The pages are plain: short sentences, the field's own words, a README of one screen.

Measured are ``README.md``, ``docs/*.md`` and the pages of the papers, which have the texts of the
config, and the templates of the site, but not ``api.md``, which is written from docstrings.
"""

import re
import tomllib

import pytest

from dpbandits.pipeline.project import Project
from found_papers import PAPERS
from support import DOCUMENTS, ROOT

PAGES = {
    name: text
    for name, text in DOCUMENTS.items()
    if (name == "README.md" or name.startswith("docs/")) and name != "docs/api.md"
}
PAGES |= {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(ROOT.glob("docs/papers/*.md"))
}
TEMPLATES = {
    path.name: path.read_text(encoding="utf-8")
    for path in sorted(ROOT.glob("src/dpbandits/pages/site/templates/*.html"))
}
"""Of the site: what its pages say beside the texts of the config, which the pages above have."""
LONGEST = 30
REPLACED = re.compile(
    r"\bours\b|\bstands?\b|\bheld against\b|\bpresumed\b|\bsidecars?\b|\breading errors?\b"
    r"|\bpublished readings?\b|\bhinges?\b|\bhangs on\b|\bchunks?\b|\brefus(?:es?|ed|al)\b"
    r"|\bin one line\b|\bdecisive\b|\bmended\b|\bslips?\b|\btold\b|\bwhole ledger\b|\bmade from\b",
    re.IGNORECASE,
)
"""Words that have a plainer name, where the word alone shows that it is meant."""


def prose(text: str) -> str:
    """Return a page without code, computed regions, HTML and the addresses of links.

    A span of code is one word, and so is a number with its interval. Tables, headings and pictures
    are empty lines.
    """
    text = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"<!-- begin ([^>]+) -->.*?<!-- end \1 -->", "", text, flags=re.DOTALL)
    text = re.sub(r"<[^>\n]+>", "", text)
    text = re.sub(r"`[^`]+`", "CODE", text)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r" \[[^\[\]]*\d[^\[\]]*\](?!\()", "", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"^ *[|#].*$", "", text, flags=re.MULTILINE)


BLOCKS = "p|li|ul|h[1-6]|t[dhr]|d[dlt]|table|summary|label|option|div|section|button|main|nav"


def prose_of_template(text: str) -> str:
    """Return the text of a template: a value is one word; a block or a branch ends a sentence."""
    text = re.sub(r"\{\{.*?\}\}", "CODE", text, flags=re.DOTALL)
    text = re.sub(r"\{[#%].*?[#%]\}|<(script|style).*?</\1>", "\n\n", text, flags=re.DOTALL)
    text = re.sub(rf"</?(?:{BLOCKS})\b[^>]*>", "\n\n", text)
    return re.sub(r"<[^>]+>", "", text)


def sentences(text: str) -> list[str]:
    """Return the sentences of a page.

    A paragraph and an item of a list end one. So do a full stop, a question mark and a colon before
    a capital, a digit, ``(a)`` or a span of code; a semicolon does not.
    """
    found = []
    for paragraph in re.split(r"\n\s*\n|\n(?= *(?:[-*]|\d+\.) )", prose(text)):
        line = " ".join(paragraph.split())
        found += re.split(r"(?<=[.!?:])[)*\"]* +(?=(?:\([a-f]\) )?[(*\"]*[A-Z0-9])", line)
    return found


def words(sentence: str) -> int:
    """Return the number of pieces between spaces that have a letter or a digit."""
    return sum(bool(re.search(r"[^\W_]", piece)) for piece in sentence.split())


TEXTS = PAGES | {name: prose_of_template(text) for name, text in TEMPLATES.items()}


@pytest.mark.parametrize("name", TEXTS)
def test_sentences_are_short(name: str) -> None:
    assert [line for line in sentences(TEXTS[name]) if words(line) > LONGEST] == []


@pytest.mark.parametrize("name", TEXTS)
def test_words_that_were_replaced_are_gone(name: str) -> None:
    text = " ".join(prose(TEXTS[name]).split())
    assert [text[max(0, m.start() - 40) : m.end() + 20] for m in REPLACED.finditer(text)] == []


def test_what_is_measured() -> None:
    short, long = "word " * (LONGEST - 1) + "end.", "word " * LONGEST + "end."
    page = f"# {long}\n\n{short} {short.capitalize()}\n- {short}\n- {long}\n\n| {long} |\n"
    page += f"```\n{long}\n```\n<!-- begin x -->\n{long}\n<!-- end x -->\n"
    page += f"`{long}` = + [link]({short})\n"
    assert [line for line in sentences(page) if words(line) > LONGEST] == [f"- {long}"]
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
