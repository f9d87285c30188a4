"""The documents that `dpbandits publish` writes, whole or in their marked regions."""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from textwrap import indent
from typing import Any

import pandas as pd
import yaml

from dpbandits.auditing.blackbox import COUNTEREXAMPLE, NOT_CONTRADICTED
from dpbandits.auditing.run import CAUGHT, MISSED, UNTESTED
from dpbandits.claims.tables import ALONE, JUDGED, count_verdicts
from dpbandits.comparisons.privacy_audit import chance_in_words
from dpbandits.config.project import PaperFile
from dpbandits.engine.provenance import write_text
from dpbandits.errors import InputError
from dpbandits.pages.choosing import choosing_page, which_one
from dpbandits.pages.contents import Contents, FigureGroup
from dpbandits.pages.keys import key_tables
from dpbandits.pages.markdown import claim, render, table, with_region
from dpbandits.pages.verdicts import (
    VARIANTS,
    ClaimOutcome,
    Row,
    Values,
    counts_text,
    interpretation_text,
    label_text,
)
from dpbandits.pipeline.costs import CACHED, read_costs
from dpbandits.pipeline.project import PUBLISHED_TABLES, Project

KINDS = {"experiment": "Experiments", "theory": "Theory", "privacy": "Privacy"}
"""Kind of claims -> its heading."""


def page_of(project: Project, paper: str) -> str:
    """Return the page of a paper, alone."""
    return paper_page(Contents(project, (paper,)), paper)


def paper_page(contents: Contents, paper: str) -> str:
    """Return the page of a paper, in the order of a reproduction report.

    An experiment is at the first figure that it is about; theory and privacy are tables.
    """
    about = contents.paper(paper)
    claims: list[ClaimOutcome] = about["claims"]
    pending = {each.id: each for each in claims if each.kind == "experiment"}
    stated = [*claims, *about["findings"]]
    about["figures"] = [_figure_part(group, stated, pending) for group in about["figures"]]
    about["pending"] = [*pending.values()]
    about["supplementary"] = {
        stem: group.first.title for group in about["extras"] for stem in group.stems
    }
    about["repairs"] = [(each, *numbers) for each in claims for numbers in each.repairs]
    tables = contents.project.study(paper).tables
    page = render("paper.md", **about, kinds=KINDS, tables=tables)
    return re.sub(r"\n{3,}", "\n\n", page)


def _figure_part(
    group: FigureGroup, stated: Iterable[ClaimOutcome], pending: dict[str, ClaimOutcome]
) -> Values:
    """Return a figure with its experiments, and remove these from ``pending``."""
    stems = {*group.stems}
    named = [each for each in stated if not stems.isdisjoint(each.entry.figure)]
    shown = {each.id: pending.pop(each.id) for each in named if each.id in pending}
    first, *others = group.entries
    return {
        "group": group,
        "others": [(name, name.removeprefix(f"{first}-").replace("-", " ")) for name in others],
        "claims": [*shown.values()],
        "elsewhere": [each.id for each in named if each.id not in shown],
    }


def claims_page(contents: Contents) -> str:
    """Return the table of all claims, and links to findings and withdrawn ids."""
    counts = count_verdicts(contents.ledger, [each.entry for each in contents.claims])
    judged = contents.ledger[contents.ledger["role"] == JUDGED]
    studies = map(contents.project.study, contents.papers)
    return render(
        "claims.md",
        counts={KINDS[kind].lower(): words for kind, words in counts.items()},
        rows=len(judged),
        random=int(judged["level"].notna().sum()),
        alone=judged["claim"][judged["family_wise"] == ALONE].unique().tolist(),
        claims=contents.claims,
        others={each.name: [*(f.id for f in each.findings), *each.withdrawn] for each in studies},
    )


def front_page(contents: Contents, text: str) -> str:
    """Return the front page with its regions as the published verdicts have them."""
    claims = [each.entry for each in contents.claims]
    counts = count_verdicts(contents.ledger, claims)
    said = counts_text(contents.ledger, claims)
    drawn = [(name, shown) for name in contents.papers if (shown := contents.reproduced(name))]
    headline = render(
        "headline.md",
        counts=[(KINDS[kind], sum(counts[kind].values()), words) for kind, words in said.items()],
        papers=[_row(contents, name) for name in contents.papers],
        drawn="; ".join(f"of `{name}` {shown}" for name, shown in drawn),
        picture=_picture(contents),
    )
    return which_one(contents.project, with_region(text, "headline", headline.strip()))


def _row(contents: Contents, name: str) -> Values:
    """Return the row of a paper on the front page: its result, its experiments and its privacy."""
    study, own = contents.project.study(name), contents.ledger[contents.ledger["paper"] == name]
    about = contents.project.papers[name]
    experiments = count_verdicts(own, study.claims)["experiment"]
    stated = f"{experiments.get('as stated', 0)} of {sum(experiments.values())}"
    return {
        "name": name,
        "title": about.short_title or about.title,
        "said": next(filter(None, contents.summary(name))),
        "stated": stated + " (at a smaller scale)" * bool(about.reduced),
        "privacy": counts_text(own, study.claims).get("privacy", ""),
    }


def _picture(contents: Contents) -> Values:
    """Return the picture of the front page, of the first paper that names one."""
    papers = contents.project.papers
    paper = next((name for name in contents.papers if papers[name].picture), contents.papers[0])
    groups = contents.figures(paper)
    group = next((each for each in groups if papers[paper].picture in each.stems), groups[0])
    return {"paper": paper, "title": papers[paper].short_title or papers[paper].title, "of": group}


def citation_page(contents: Contents, text: str) -> str:
    """Return the citation with the references of the published papers."""
    head, mark, _ = text.partition("\nreferences:\n")
    if not mark:
        raise InputError("CITATION.cff: key references is missing; allowed: the last key")
    project = contents.project
    references = [_reference(project.papers[paper]) for paper in project.published]
    written = yaml.safe_dump(references, sort_keys=False, allow_unicode=True, width=200)
    return head + mark + indent(written, "  ")


def _reference(paper: PaperFile) -> dict[str, Any]:
    """Return a paper as the Citation File Format has it."""
    authors = [{"family-names": each.family, "given-names": each.given} for each in paper.authors]
    found = {
        "type": "conference-paper" if paper.proceedings else "article",
        "title": paper.title,
        "authors": [{key: name for key, name in each.items() if name} for each in authors],
        "collection-title": paper.proceedings,
        "year": paper.year,
        "doi": paper.doi,
        "notes": f"arXiv:{paper.arxiv}" if paper.arxiv else None,
    }
    return {key: value for key, value in found.items() if value}


def cluster_page(contents: Contents, text: str) -> str:
    """Return the page with its table filled in: the jobs of each paper, and the longest of them."""
    rows = []
    for paper, jobs in read_costs(contents.project).groupby("paper"):
        minutes, memory = jobs["cpu_seconds"] / 60, jobs["memory_mib"].max()
        longest = jobs.iloc[int(minutes.argmax())]
        spent = (minutes.max(), longest[CACHED] > 0), (minutes.sum(), jobs[CACHED].any())
        own, every = (f"{'at least ' * bool(cached)}{value:.1f}" for value, cached in spent)
        rows.append([paper, longest["name"], own, len(jobs), every, f"{memory:.0f}"])
    heads = ["paper", "longest job", "its CPU minutes", "jobs", "CPU minutes", "MiB at most"]
    return with_region(text, "cost", table(heads, rows, texts=2))


PRINTED, CODED = "as printed", "released code"
PLAYED = {
    "AUD-6": "as dp-ts-ucb describes it",
    "AUD-10": "rewards above 1",
    "AUD-11": "one reading of the text",
}
"""Audited statement -> the algorithm that its rows play, if it is not the printed one."""


def audit_page(contents: Contents, text: str) -> str:
    """Return the page of the audit with what exceeds a guarantee, what does not, and its power."""
    path = contents.project.folder / PUBLISHED_TABLES / "privacy-audit/extra-audit.csv"
    rows = pd.read_csv(path, keep_default_na=False, dtype=str)
    text = with_region(text, "exceeded", _exceeded(contents, rows))
    text = with_region(text, "within", _within(contents, rows))
    power = rows["power"].str.partition(":")[0]
    caught, missed, untested = (int((power == word).sum()) for word in (CAUGHT, MISSED, UNTESTED))
    content = (
        f"Of {caught + missed + untested} rows with a claim the black box catches {caught} and "
        f"misses {missed}; {untested} have no parameter of noise."
    )
    return with_region(text, "power", content)


def _exceeded(contents: Contents, rows: pd.DataFrame) -> str:
    """Return a row for each guarantee and algorithm that an event exceeds, as printed first."""
    found = rows[(rows["verdict"] == COUNTEREXAMPLE) & (rows["scaled"] == "False")]
    lines = []
    for row in found.drop_duplicates(["stated", "name"]).to_dict("records"):
        variant, label = str(row["variant"]), str(row["interpretation"])
        is_ours = row["statement"] == "AUD-14" and label
        played = PLAYED.get(row["statement"], "our own" if is_ours else PRINTED)
        played = CODED if variant == "as-coded" else played
        at, link = label_text(row["setting"]), claim(row["claim"])
        numbers = [row["share"], _chance(row)]
        lines.append([_algorithm_text(contents, row), row["stated"], played, at, *numbers, link])
    lines.sort(key=lambda line: (line[2] != PRINTED, line[2] != CODED))
    heads = ["algorithm", "guarantee", "played", "setting", "loss over claim", "probability", "row"]
    return table(heads, lines, texts=len(heads))


def _within(contents: Contents, rows: pd.DataFrame) -> str:
    """Return the largest share of each guarantee that an event uses up, where none exceeds it."""
    played = ["stated", "algorithm", "variant"]
    is_published = rows["scaled"] == "False"
    exceeded = rows[is_published & (rows["verdict"] == COUNTEREXAMPLE)]
    # A row without an interpretation is of the default one, which the exact rows name.
    is_broken = rows.set_index(played).index.isin(exceeded.set_index(played).index)
    is_default = is_broken & (rows["interpretation"] == "")
    found = rows[is_published & (rows["verdict"] == NOT_CONTRADICTED) & ~is_default]
    lines = []
    for stated, own in found.groupby("stated", sort=False):
        largest = own.iloc[int(own["ratio"].astype(float).argmax())]
        names = dict.fromkeys(_algorithm_text(contents, row) for row in own.to_dict("records"))
        lines.append([stated, "; ".join(names), largest["share"], _chance(largest.to_dict())])
    return table(["guarantee", "algorithms", "largest share", "probability"], lines, texts=2)


def _algorithm_text(contents: Contents, row: Row) -> str:
    """Return the algorithm of a row with its variant and interpretations in words."""
    name, variant = str(row["name"]).partition(",")[0], str(row["variant"])
    played = VARIANTS[variant] if variant != "as-written" else ""
    words = interpretation_text(contents.project.papers.values(), row["interpretation"])
    return ", ".join(filter(None, [name, played, words]))


def _chance(row: Row) -> str:
    """Return the probability of the event of a row, with a delta under both inputs.

    A small one as a power of ten.
    """
    log10 = float(row["log10_alpha"])
    less = str(row["chance"]) if not -math.inf < log10 < -20.0 else f"10^{log10:,.0f}"
    if row["measure"] != "delta" and "delta=" not in row["parameters"]:
        return less
    more = 1.0 - 10.0 ** float(row["log10_beta"])
    return f"{chance_in_words(math.log10(more) if more else -math.inf)} against {less}"


def deviations_page(contents: Contents, text: str) -> str:
    """Return the page with the published effect of each switch of dp-ncb."""
    path = contents.project.folder / PUBLISHED_TABLES / "dp-ncb/extra-deviations.csv"
    rows = pd.read_csv(path, keep_default_na=False, dtype=str)
    lines = []
    for row in rows[rows["repaired"] != "as for each"].to_dict("records"):
        words = [row[key] for key in ("id", "algorithm", "switch", "paper", "code")]
        lines.append([*words, f"{float(row['factor']):.3g}"])
    heads = ["id", "algorithm", "switch", "the paper", "the code", "factor"]
    return with_region(text, "switches", table(heads, lines, texts=5))


REGIONS: Mapping[str, Callable[[Contents, str], str]] = {
    "README.md": front_page,
    "CITATION.cff": citation_page,
    "config/README.md": lambda contents, text: with_region(text, "keys", key_tables()),
    "docs/audit.md": audit_page,
    "docs/choosing.md": lambda contents, text: choosing_page(contents.project, text),
    "docs/cluster.md": cluster_page,
    "docs/deviations.md": deviations_page,
}
"""Document -> function that fills in the computed parts of its text."""


def documents(contents: Contents) -> dict[str, str]:
    """Return the text of every document by the published numbers, those of the papers first."""
    made = {name: text for paper in contents.papers for name, text in _of(contents, paper).items()}
    made["docs/claims.md"] = claims_page(contents)
    for name, fill in REGIONS.items():
        made[name] = fill(contents, (contents.project.folder / name).read_text(encoding="utf-8"))
    return made


def _of(contents: Contents, paper: str) -> dict[str, str]:
    """Return the pages of a paper; one without supplementary figures has no page of them."""
    made = {f"docs/papers/{paper}.md": paper_page(contents, paper)}
    if not all(group.head for group in contents.figures(paper)):
        made[f"docs/papers/{paper}-supplementary.md"] = render(
            "supplementary.md", **contents.paper(paper)
        )
    return made


def write_drafts(project: Project, names: Iterable[str]) -> list[Path]:
    """Write the pages of drafts, to which no other document links; return their paths."""
    made = [_of(Contents(project, (name,)), name) for name in names]
    return [path for pages in made for path in _write(project, pages)]


def write_documents(project: Project) -> list[Path]:
    """Write every document from the published copies; return their paths."""
    return _write(project, documents(Contents.of(project)))


def _write(project: Project, texts: Mapping[str, str]) -> list[Path]:
    for name, text in texts.items():
        write_text(project.folder / name, text)
    return [project.folder / name for name in texts]
