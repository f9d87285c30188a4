"""`docs/claims.md`: the published ledger of all papers, a row a verdict."""

from collections.abc import Iterable
from os.path import relpath
from pathlib import Path

import pandas as pd

from dpbandits.blocks import table_row, with_block
from dpbandits.claims.entries import Claim
from dpbandits.claims.simultaneous import ALONE, EXACT, IN_FAMILY
from dpbandits.claims.verdict import ALPHA
from dpbandits.outputs import Outputs
from dpbandits.papers import PAPERS
from dpbandits.project import Project
from dpbandits.whole_ledger import at_paper_runs, choice, interval, join, read_ledger

PAGE = Path("docs/claims.md")
PUBLISHED = Path("docs/figures")
PUBLISHED_TABLES = Path("docs/tables")
VERDICTS = ("holds", "fails", "mixed", "undecided", "not-applicable")


def published_papers(project: Project) -> list[str]:
    """Return the papers whose verdicts are published."""
    folder = project.folder / PUBLISHED
    return [paper for paper in PAPERS if (folder / paper / "simultaneous.csv").exists()]


def published_ledger(project: Project, paper: str) -> pd.DataFrame:
    """Return the published verdicts on a paper's claims, as rows of the whole ledger."""
    folder = project.folder / PUBLISHED / paper
    claims = project.claims(paper)
    figures = {claim.id: published_figures(project, paper, claim) for claim in claims}
    verdicts, both = (read_ledger(folder / f"{name}.csv") for name in ("claims", "simultaneous"))
    return join(paper, claims, verdicts, both, figures)


def published_figures(project: Project, paper: str, claim: Claim) -> list[str]:
    """Return the published copy of each figure, panel and table that a claim is about."""
    built = (Path(path) for path in Outputs(project).claim_figures(paper, claim))
    return [
        ((PUBLISHED if path.suffix == ".png" else PUBLISHED_TABLES) / paper / path.name).as_posix()
        for path in built
    ]


def claims_page(project: Project, text: str) -> str:
    """Return the page with its blocks as the published verdicts have them.

    Args:
        project: the project.
        text: the page as it is.

    Raises:
        InputError: the marks of a block are missing.
    """
    papers = published_papers(project)
    ledgers = {paper: published_ledger(project, paper) for paper in papers}
    whole = pd.concat(ledgers.values(), ignore_index=True)
    text = with_block(text, "error rate", _error_rate(project, whole))
    text = with_block(text, "summary", _summary(ledgers))
    text = with_block(text, "only by themselves", _only_by_themselves(whole))
    for paper, ledger in ledgers.items():
        text = with_block(text, f"ledger {paper}", _ledger_table(ledger))
    return text


def _error_rate(project: Project, whole: pd.DataFrame) -> str:
    size = whole["claim"].nunique()
    random = whole[whole["level"].notna()]
    own = random["level"].sum()
    shares = random["level_in_ledger"].sum()
    return (
        f"The ledger has {size} claims and {len(whole)} verdicts, of which {len(random)} depend on "
        f"chance. Judged by themselves, each at its own level, {own:.1f} of those at most are to "
        f"be expected wrong.\nA second time each claim is judged at {ALPHA:.0%} / {size} = "
        f"{ALPHA / size:.2g}, which its verdicts share: together these levels are {shares:.2g}, "
        f"and so at most is the chance that any comparison behind any of the {size} claims is "
        f"decided wrongly."
    )


def _summary(ledgers: dict[str, pd.DataFrame]) -> str:
    head = ["paper", "claims", "verdicts", *VERDICTS, EXACT, "stand in the ledger", ALONE]
    lines = [table_row(head), "|---" + "|---:" * (len(head) - 1) + "|"]
    for paper, ledger in ledgers.items():
        verdicts, stands = ledger["verdict"].value_counts(), ledger["stands"].value_counts()
        counts = [verdicts.get(each, 0) for each in VERDICTS]
        counts += [stands.get(each, 0) for each in (EXACT, IN_FAMILY, ALONE)]
        numbers = [ledger["claim"].nunique(), len(ledger), *counts]
        lines.append(table_row([f"[`{paper}`](#{paper})", *map(str, numbers)]))
    return "\n".join(lines)


def _only_by_themselves(whole: pd.DataFrame) -> str:
    alone = whole[whole["stands"] == ALONE]
    if alone.empty:
        return "There is none."
    head = ["claim", "variant, reading", "by itself", "in the ledger", "hangs on"]
    lines = [table_row(head), "|---" * len(head) + "|"]
    for row in alone.to_dict("records"):
        name = _link(row["claim"])
        cells = [name, choice(row), row["verdict"], row["verdict_in_ledger"], row["measured"]]
        lines.append(table_row(cells))
    return "\n".join(lines)


def _ledger_table(ledger: pd.DataFrame) -> str:
    """Return the rows of a paper; statement, place and figures at the first row of each claim."""
    head = ["claim", "what the paper says", "variant, reading", "verdict", "in the ledger"]
    head += ["estimate [interval]", "of", "runs", "at the paper's runs", "figure"]
    lines = [table_row(head), "|---" * len(head) + "|"]
    seen: set[str] = set()
    for row in ledger.to_dict("records"):
        is_first = row["claim"] not in seen
        seen.add(row["claim"])
        runs = f"{row['runs']}" if row["runs"] else EXACT
        told = "not contradicted" if "not contradicted" in row["detail"] else row["verdict"]
        of = f"{row['measured']}; asked: {row['asked']}" if row["measured"] else row["detail"]
        cells = [
            f'<a id="{row["claim"].lower()}"></a>{row["claim"]}' if is_first else "",
            f"{row['statement']} ({row['place']})" if is_first else "",
            choice(row),
            f"**{told}**",
            row["stands"],
            interval(row),
            of,
            runs + ("" if row["scale"] == "paper" else f" ({row['scale']})"),
            at_paper_runs(row),
            _figures(row["figure"].split()) if is_first else "",
        ]
        lines.append(table_row(cells))
    return "\n".join(lines)


def _link(claim: str) -> str:
    return f"[{claim}](#{claim.lower()})"


def _figures(paths: Iterable[str]) -> str:
    return " ".join(f"[{Path(path).stem}]({relpath(path, PAGE.parent)})" for path in paths)
