"""The documents that `dpbandits publish` writes, whole or in their marked regions."""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from pathlib import Path
from textwrap import indent
from typing import Any

import pandas as pd
import yaml

from dpbandits.auditing.blackbox import COUNTEREXAMPLE, NOT_CONTRADICTED
from dpbandits.auditing.run import CAUGHT, MISSED, UNTESTED
from dpbandits.claims.tables import ALONE, JUDGED, counted
from dpbandits.claims.verdict import Verdict
from dpbandits.config.claims import CLAIM_KINDS
from dpbandits.config.project import PAPERS, PaperFile
from dpbandits.engine.provenance import write_text
from dpbandits.errors import InputError
from dpbandits.pages.choosing import choosing_page, which_one
from dpbandits.pages.contents import ERRORS, Contents, FigureGroup
from dpbandits.pages.keys import key_tables
from dpbandits.pages.published import claim, prose, render, table, with_region
from dpbandits.pages.verdicts import (
    MEANINGS,
    VARIANTS,
    Outcome,
    Row,
    Values,
    counts_text,
    label_text,
    witnesses_text,
)
from dpbandits.pipeline.costs import read_costs
from dpbandits.pipeline.project import FIGURES, TABLES, Project

KINDS = {"experiment": "Experiments", "theory": "Theory", "privacy": "Privacy"}
"""Kind of claims -> its heading."""


def paper_page(contents: Contents, paper: str) -> str:
    """Return the page of a paper, in the order of a report on how it was reproduced.

    An experiment is at the first figure that it is about; formulas and guarantees are tables.
    """
    about = contents.paper(paper)
    claims: list[Outcome] = about["claims"]
    of_kind = {kind: [each for each in claims if each.kind == kind] for kind in CLAIM_KINDS}
    pending = {each.id: each for each in of_kind["experiment"]}
    about["figures"] = [_figure_part(group, pending) for group in about["figures"]]
    about["experiments"] = [
        (claim, part["group"].head) for part in about["figures"] for claim in part["claims"]
    ] + [(claim, "") for claim in pending.values()]
    about["claims"] = {**of_kind, "experiment": [*pending.values()]}
    about["example"] = claims[0].id if claims else ""
    about["supplementary"] = {
        stem: group.title for group in about["extras"] for stem in group.stems
    }
    about["repairs"] = [(each, *numbers) for each in claims for numbers in each.repairs]
    about["also"] = [each for each in about["findings"] if not each.entry.statement]
    about["findings"] = [each for each in about["findings"] if each.entry.statement]
    page = render("paper.md", **about, kinds=KINDS, errors=ERRORS)
    return re.sub(r"\n{3,}", "\n\n", page)


def _figure_part(group: FigureGroup, pending: dict[str, Outcome]) -> Values:
    """Return a figure with its experiments, which are taken out of those ``pending``."""
    shown = {each.id: each for each in group.shown(pending.values())}
    for name in shown:
        del pending[name]
    first, *others = group.entries
    return {
        "group": group,
        "others": [(name, name.removeprefix(f"{first}-").replace("-", " ")) for name in others],
        "claims": [*shown.values()],
        "elsewhere": [each.id for each in (*group.claims, *group.findings) if each.id not in shown],
    }


def supplementary_page(contents: Contents, paper: str) -> str:
    """Return the supplementary figures on a paper."""
    return render("supplementary.md", **contents.paper(paper))


def claims_page(contents: Contents) -> str:
    """Return the table of all claims, and links to findings and withdrawn ids."""
    judged = contents.ledger[contents.ledger["role"] == JUDGED]
    random = judged[judged["level"].notna()]
    papers = [contents.paper(paper) for paper in contents.papers]
    for paper in papers:
        withdrawn = contents.project.study(paper["name"]).withdrawn
        paper["elsewhere"] = [*(each.id for each in paper["findings"]), *withdrawn]
    return render(
        "claims.md",
        words=_words(contents),
        rows=len(judged),
        random=len(random),
        in_family=int((random["family_wise"] != ALONE).sum()),
        alone=judged["claim"][judged["family_wise"] == ALONE].unique().tolist(),
        papers=papers,
    )


def _words(contents: Contents) -> str:
    """Return what each verdict says and how many claims of each kind have it."""
    claims = [each.entry for each in contents.claims.values()]
    counts = counted(contents.ledger, claims)
    meanings: dict[Verdict, str] = dict(MEANINGS)
    if chances := witnesses_text(contents.ledger, claims):
        meanings["counterexample"] += f" ({chances})"
    rows = [
        [f"**{word}**", said, *(own.get(word, 0) for own in counts.values())]
        for word, said in meanings.items()
    ]
    heads = [KINDS[kind].lower() for kind in counts]
    return table(["verdict", "which means", *heads], rows, texts=2)


def front_page(contents: Contents, text: str) -> str:
    """Return the front page with its regions as the published verdicts have them."""
    parts = [_counts_of_all(contents), _papers(contents), _drawn(contents), _picture(contents)]
    return which_one(contents.project, with_region(text, "headline", "\n\n".join(parts)))


def _counts_of_all(contents: Contents) -> str:
    """Return how many sentences of the papers have which verdict, experiments first."""
    claims = [each.entry for each in contents.claims.values()]
    counts = counted(contents.ledger, claims)
    lines = []
    for kind, said in counts_text(contents.ledger, claims).items():
        lines.append(f"- {KINDS[kind]}, {sum(counts[kind].values())} sentences: {said}.")
    return "\n".join(lines)


def _papers(contents: Contents) -> str:
    """Return a row for each published paper: what came out, experiments, privacy."""
    rows = []
    for name in contents.papers:
        paper = contents.paper(name)
        own = counted(contents.ledger[contents.ledger["paper"] == name])["experiment"]
        stated = f"{own.get('as stated', 0)} of {sum(own.values())}"
        if paper["reduced"]:
            stated += " (at a smaller scale)"
        link = f"[{paper['short']}](docs/papers/{name}.md)"
        rows.append(
            [
                link,
                paper["sentence"] or paper["summary"],
                stated,
                paper["counts"].get("privacy", ""),
            ]
        )
    heads = ["paper", "what came out", "experiments as stated", "privacy guarantees"]
    return table(heads, rows, texts=len(heads))


def _drawn(contents: Contents) -> str:
    """Return which figures could be compared with the published ones, and how many values agree."""
    compared = {name: contents.reproduced(name) for name in contents.papers}
    said = [f"of `{name}` {drawn}" for name, drawn in compared.items() if drawn]
    return (
        "We had the text of the papers without their pictures. Figures could be compared value by "
        f"value where numbers had been read off the published ones: {'; '.join(said) or 'nowhere'}."
    )


def _picture(contents: Contents) -> str:
    """Return the picture of the front page, and what to see in it."""
    named = [(name, contents.project.papers[name].picture) for name in contents.papers]
    paper, stem = next(((name, stem) for name, stem in named if stem), named[0])
    groups = contents.figures(paper)
    group = next((each for each in groups if stem in each.stems), groups[0])
    page = f"docs/papers/{paper}.md#{group.base}"
    source = f"{FIGURES.as_posix()}/{paper}/{group.first.name}.png"
    short = contents.paper(paper)["short"]
    return (
        f'[<img src="{source}" width="640" alt="{prose(group.alt)}">]({page})\n\n'
        f"*{group.head} of {short}.* {prose(group.message)}"
    )


REFERENCES = "\nreferences:\n"
"""The last key of ``CITATION.cff``."""


def citation_page(contents: Contents, text: str) -> str:
    """Return the citation with the references of the published papers."""
    head, mark, _ = text.partition(REFERENCES)
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


def config_page(contents: Contents, text: str) -> str:
    """Return the page on the config files with the keys of figures and tables."""
    return with_region(text, "keys", key_tables())


def artifact_page(contents: Contents, text: str) -> str:
    """Return the page with the table of what the archive holds."""
    project = contents.project
    counts = {f"`{name}`": _counts(project, name) for name in project.built()}
    total = [sum(column) for column in zip(*counts.values(), strict=True)]
    rows = [[name, *numbers] for name, numbers in {**counts, "all": total}.items()]
    heads = ["", "results", "figures", "panels", "tables", "claims"]
    return with_region(text, "contents", table(heads, rows, texts=len(heads)))


def _counts(project: Project, paper: str) -> list[int]:
    """Return how many sets of results, figures, panels, tables and claims a paper has."""
    study = project.study(paper)
    stems = {stem for figure in study.figures.values() for stem in figure.stems}
    return [
        len(study.simulations) + len(study.file.analytic),
        len(study.figures),
        len(stems - set(study.figures)),
        len(study.tables),
        len(study.claims),
    ]


def cluster_page(contents: Contents, text: str) -> str:
    """Return the page with its table filled in: the jobs of each paper by kind, and the longest."""
    rows = []
    for (paper, kind), jobs in read_costs(contents.project).groupby(["paper", "kind"]):
        minutes = jobs["cpu_seconds"] / 60
        longest = jobs["name"].iloc[int(minutes.argmax())]
        numbers = [
            f"{minutes.sum():.1f}",
            f"{minutes.max():.1f}",
            f"{jobs['memory_mib'].max():.0f}",
        ]
        rows.append([paper, kind, longest, len(jobs), *numbers])
    heads = ["paper", "kind", "longest job", "jobs", "CPU minutes", "of the longest", "MiB at most"]
    return with_region(text, "cost", table(heads, rows, texts=3))


def write_skeleton(project: Project, name: str) -> list[Path]:
    """Write the folder of a draft; return its files."""
    if not re.fullmatch("[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise InputError(f"name is {name!r}; allowed: small letters, digits and -")
    folder = project.folder / PAPERS / name
    if folder.exists() or name in project.known_comparisons:
        raise InputError(f"name is {name!r}, which is taken; allowed: another")
    named = {
        "paper": name,
        "prefix": re.sub("[^A-Z]", "", name.upper()),
        "package": name.replace("-", "_"),
        "year": date.today().year,
    }
    paths = []
    for kind in ("paper", "experiments", "claims"):
        paths.append(folder / f"{kind}.yaml")
        write_text(paths[-1], render(f"new-paper.{kind}.yaml", **named))
    return paths


PRINTED, CODED = "as printed", "code released with dp-ncb"
PLAYED = {
    "AUD-6": "as dp-ts-ucb describes it",
    "AUD-10": "rewards above 1",
    "AUD-11": "one reading of the text",
}
"""Audited statement -> what its rows play, where that is not what its paper prints."""


def audit_page(contents: Contents, text: str) -> str:
    """Return the page of the audit with what exceeds a guarantee, what does not, and its power."""
    path = contents.project.folder / TABLES / "privacy-audit/extra-audit.csv"
    if not path.is_file():
        return text
    rows = pd.read_csv(path, keep_default_na=False, dtype=str)
    text = with_region(text, "exceeded", _exceeded(contents, rows))
    text = with_region(text, "within", _within(contents, rows))
    power = rows["power"].str.partition(":")[0]
    caught, missed, untested = (int((power == word).sum()) for word in (CAUGHT, MISSED, UNTESTED))
    content = (
        f"Of {caught + missed + untested} rows of the black box with a claim {caught} are caught, "
        f"{missed} are missed, and {untested} have no parameter of noise."
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
        lines.append([_played(contents, row), row["stated"], played, at, *numbers, link])
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
        names = dict.fromkeys(_played(contents, row) for row in own.to_dict("records"))
        lines.append([stated, "; ".join(names), largest["share"], _chance(largest.to_dict())])
    return table(["guarantee", "algorithms", "largest share", "probability"], lines, texts=2)


def _played(contents: Contents, row: Row) -> str:
    """Return the algorithm of a row with its variant and interpretations in words."""
    name, variant = str(row["name"]).partition(",")[0], str(row["variant"])
    words = [VARIANTS[variant]] if variant != "as-written" else []
    words += filter(None, [contents.in_words("", str(row["interpretation"]))])
    return ", ".join([name, *words])


def _chance(row: Row) -> str:
    """Return the probability of the event of a row, a small one as a power of ten."""
    log10 = float(row["log10_alpha"])
    return str(row["chance"]) if not -math.inf < log10 < -20.0 else f"10^{log10:,.0f}"


def deviations_page(contents: Contents, text: str) -> str:
    """Return the page with what each switch of dp-ncb does alone, as far as it is published."""
    path = contents.project.folder / TABLES / "dp-ncb/extra-deviations.csv"
    rows = pd.read_csv(path, keep_default_na=False, dtype=str)
    lines = []
    for row in rows[rows["repaired"] != "as for each"].to_dict("records"):
        words = [row[key] for key in ("id", "algorithm", "switch", "paper", "code", "repaired")]
        lines.append([*words, f"{float(row['factor']):.3g}"])
    heads = ["id", "algorithm", "switch", "the paper", "the code", "repaired", "factor"]
    return with_region(text, "switches", table(heads, lines, texts=6))


PAGES: Mapping[str, Callable[[Contents], str]] = {
    "docs/choosing.md": lambda contents: choosing_page(contents.project),
    "docs/claims.md": claims_page,
}
"""Document -> what returns the whole of it; those of the papers come to them."""

REGIONS: Mapping[str, Callable[[Contents, str], str]] = {
    "README.md": front_page,
    "CITATION.cff": citation_page,
    "config/README.md": config_page,
    "docs/artifact.md": artifact_page,
    "docs/audit.md": audit_page,
    "docs/cluster.md": cluster_page,
    "docs/deviations.md": deviations_page,
}
"""Document -> what fills in its computed parts, in the text that it has."""


def documents(contents: Contents) -> dict[str, str]:
    """Return every document as the published copies have it, those of the papers first."""
    made = {name: text for paper in contents.papers for name, text in _of(contents, paper).items()}
    made |= {name: page(contents) for name, page in PAGES.items()}
    for name, fill in REGIONS.items():
        made[name] = fill(contents, (contents.project.folder / name).read_text(encoding="utf-8"))
    return made


def _of(contents: Contents, paper: str) -> dict[str, str]:
    """Return the pages of a paper; one without supplementary figures has no page of them."""
    made = {f"docs/papers/{paper}.md": paper_page(contents, paper)}
    if any(group.is_extra for group in contents.figures(paper)):
        made[f"docs/papers/{paper}-supplementary.md"] = supplementary_page(contents, paper)
    return made


def write_drafts(project: Project, names: Iterable[str]) -> list[Path]:
    """Write the pages of drafts, which no other document names; return their paths."""
    made = [_of(Contents(project, (name,)), name) for name in names]
    return [path for pages in made for path in _write(project, pages)]


def write_documents(project: Project) -> list[Path]:
    """Write every document from the published copies; return their paths."""
    return _write(project, documents(Contents.of(project)))


def _write(project: Project, texts: Mapping[str, str]) -> list[Path]:
    for name, text in texts.items():
        write_text(project.folder / name, text)
    return [project.folder / name for name in texts]
