"""Every id of a claim, finding, erratum or deviation that a file names can be looked up."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PREFIXES = ("TSDP", "DTU", "BAI", "NCB")
FOLDERS = {"src": ".py", "tests": ".py", "config": ".yaml", "docs": ".md", "workflow": ".smk"}
FILES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *(
        path
        for folder, suffix in FOLDERS.items()
        for path in sorted((ROOT / folder).rglob(f"*{suffix}"))
        if ".cache" not in path.parts
    ),
]
CITED = re.compile(r"(?<![\w.\-+])(?:(TSDP|DTU|BAI|NCB)-)?([ADEPQ])(\d{1,2})(?![\w.])")
UNREADABLE = re.compile(
    r"\bspec(?:'s)? (?:sections?|errat\w+|claims?|\d)|\bthe spec\b", re.IGNORECASE
)


def ids(text: str) -> set[str]:
    """Return the ids that a text names, with the prefix of their paper; A, D and Q are dp-ncb's."""
    return {
        f"{prefix or ('NCB' if letter in 'ADQ' else '?')}-{letter}{number}"
        for prefix, letter, number in CITED.findall(text)
    }


def known() -> set[str]:
    """Return the ids that docs/errata.md and docs/deviations.md carry."""
    errata = {
        name
        for path in (ROOT / "config/papers").glob("*/errata.yaml")
        for name in yaml.safe_load(path.read_text(encoding="utf-8"))["errata"]
    }
    return errata | ids((ROOT / "docs/deviations.md").read_text(encoding="utf-8"))


KNOWN = known()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_id_resolves(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert ids(text) <= KNOWN
    if path != Path(__file__):
        assert UNREADABLE.search(text) is None


CLAIM = re.compile(r"(?<![\w\-])(?:TSDP|DTU|BAI|NCB)-[CF]\d{1,2}[a-z]?(?![\w])")
PAGES = [FILES[0], *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "docs").rglob("*.csv"))]


def claims_and_findings() -> set[str]:
    """Return the ids of the configs, those of withdrawn claims among them."""
    return {
        name
        for file, keys in (("claims", ("claims", "withdrawn")), ("findings", ("findings",)))
        for path in (ROOT / "config/papers").glob(f"*/{file}.yaml")
        for key in keys
        for name in yaml.safe_load(path.read_text(encoding="utf-8")).get(key, {})
    }


def test_every_claim_and_finding_of_a_page_is_in_the_configs() -> None:
    found = claims_and_findings()
    named = {path: set(CLAIM.findall(path.read_text(encoding="utf-8"))) for path in PAGES}
    unknown = {path.relative_to(ROOT).as_posix(): ids - found for path, ids in named.items()}
    assert {page: ids for page, ids in unknown.items() if ids} == {}
    assert sum(map(len, named.values())) > 100
    # Letters of sub-claims count.
    assert CLAIM.findall("NCB-C15, TSDP-C28b") == ["NCB-C15", "TSDP-C28b"]
    assert "TSDP-C28" not in found
