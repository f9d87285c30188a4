"""The documents that `dpbandits publish` writes, whole or in their marked regions."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path
from textwrap import indent
from typing import Any

import pandas as pd
import yaml

from dpbandits.auditing.run import CAUGHT, MISSED, UNTESTED
from dpbandits.claims.tables import ALONE, JUDGED, counted
from dpbandits.claims.verdict import Verdict
from dpbandits.config.claims import CLAIM_KINDS
from dpbandits.engine.provenance import read_provenance, write_text
from dpbandits.errors import InputError
from dpbandits.pages.choosing import AUDIT, choosing_page, which_one
from dpbandits.pages.contents import ERRORS, Contents, FigureGroup, errata_of, head_of
from dpbandits.pages.published import read_table, render, table, with_region, with_tables
from dpbandits.pages.verdicts import (
    ANSWERS,
    MEANINGS,
    NO_VERDICT,
    Outcome,
    Values,
    counts_line,
    witnesses_text,
)
from dpbandits.pipeline.project import FIGURES, Project
from dpbandits.pipeline.study import PAPERS, PaperFile
from dpbandits.pipeline.targets import COSTS, Target, targets

KINDS = {"experiment": "Experiments", "theory": "Theory", "privacy": "Privacy"}
"""Kind of claims -> its heading."""


def paper_page(contents: Contents, paper: str) -> str:
    """Return the page of a paper, in the order in which one reads the paper.

    A claim or finding is at the first figure that it is about, a guarantee with the others.
    """
    about = contents.paper(paper)
    claims: list[Outcome] = about["claims"]
    told = [each for each in about["findings"] if each.entry.statement]
    pending = {each.id: each for each in [*claims, *told]}
    about["figures"] = [_figure_part(group, pending) for group in about["figures"]]
    left = [each for each in [*claims, *told] if each.id in pending]
    of_kind = {
        kind: [each for each in left if each.kind == kind] for kind in (*CLAIM_KINDS, "finding")
    }
    scopes: dict[str, list[Outcome]] = {}
    for each in of_kind["privacy"]:
        scopes.setdefault(each.entry.scope, []).append(each)
    about["supplementary"] = {
        stem: group.title for group in about["extras"] for stem in group.stems
    }
    about["repairs"] = [(each, *numbers) for each in claims for numbers in each.repairs]
    about["also"] = [each for each in about["findings"] if each not in told]
    about["findings"] = of_kind["finding"]
    about["claims"] = {**of_kind, "privacy": [*scopes.items()]}
    return render("paper.md", **about, kinds=KINDS, errors=ERRORS)


def _figure_part(group: FigureGroup, pending: dict[str, Outcome]) -> Values:
    """Return a figure with its claims and findings, which are taken out of those ``pending``."""
    about = [*group.claims, *group.findings]
    shown = [each for each in group.shown(pending.values()) if each.kind != "privacy"]
    ids = {each.id for each in shown}
    shown += [
        each
        for each in pending.values()
        if each.id not in ids and not ids.isdisjoint(getattr(each.entry, "claims", ()))
    ]
    for each in shown:
        del pending[each.id]
    first, *others = group.entries
    return {
        "group": group,
        "others": [(name, name.removeprefix(f"{first}-").replace("-", " ")) for name in others],
        "claims": [each for each in shown if each.kind != "finding"],
        "findings": [each for each in shown if each.kind == "finding"],
        "elsewhere": [each.id for each in about if each not in shown],
    }


def supplementary_page(contents: Contents, paper: str) -> str:
    """Return the supplementary figures on a paper."""
    return render("supplementary.md", **contents.paper(paper))


def claims_page(contents: Contents) -> str:
    """Return the index of all claims and findings."""
    judged = contents.ledger[contents.ledger["role"] == JUDGED]
    random = judged[judged["level"].notna()]
    papers = [contents.paper(paper) for paper in contents.papers]
    for paper in papers:
        also = [each.id for each in paper["findings"] if not each.entry.statement]
        study = contents.project.study(paper["name"])
        paper["elsewhere"] = [*also, *study.withdrawn]
    return render(
        "claims.md",
        words=_words(contents, *MEANINGS),
        rows=len(judged),
        random=len(random),
        in_family=int((random["family_wise"] != ALONE).sum()),
        alone=judged["claim"][judged["family_wise"] == ALONE].unique().tolist(),
        papers=papers,
    )


def _words(contents: Contents, *words: Verdict, link: str = "") -> str:
    """Return what words say and how many claims of each kind have them; others in one row."""
    claims = [each.entry for each in contents.claims.values()]
    counts = counted(contents.ledger, claims)
    meanings: dict[Verdict, str] = dict(MEANINGS)
    if chances := witnesses_text(contents.ledger, claims):
        meanings["counterexample"] += f" ({chances})"
    rows: list[list[object]] = [
        [f"**{word}**", meanings[word], *(own.get(word, 0) for own in counts.values())]
        for word in words
    ]
    if others := [word for word in MEANINGS if word not in words]:
        sums = (sum(own.get(word, 0) for word in others) for own in counts.values())
        rows.append([f"[{NO_VERDICT}]({link})", ", ".join(others), *sums])
    return table(["a sentence is", "which means", *map(_heading, counts)], rows, texts=2)


def _heading(kind: str) -> str:
    return KINDS[kind].lower()


def errata_page(contents: Contents) -> str:
    """Return the index of the errata."""
    papers = [contents.paper(paper) for paper in contents.papers]
    for paper in papers:
        paper["went"] = errata_of(contents.project, paper["name"]).withdrawn
    return render("errata.md", papers=papers, errors=ERRORS)


def gallery_page(contents: Contents) -> str:
    """Return every published figure in small, with what came out."""
    project = contents.project
    across = [
        name for name in project.known_comparisons if (project.folder / FIGURES / name).exists()
    ]
    parts = [contents.paper(name) for name in [*contents.papers, *across]]
    return render("gallery.md", parts=parts, papers=contents.papers)


def front_page(contents: Contents, text: str) -> str:
    """Return the front page with its region ``headline`` as the published verdicts have it."""
    words = _words(contents, *ANSWERS, link="docs/claims.md#words")
    asked = "The authors have not been asked ([if you are one](docs/authors.md))."
    parts = [words, asked, _strip(contents), _papers(contents)]
    return which_one(contents.project, with_region(text, "headline", "\n\n".join(parts)))


def _strip(contents: Contents) -> str:
    """Return a picture for each paper with the name of its figure, in a table of one row."""
    pictures, names = [], []
    for paper in contents.papers:
        figures = contents.figures(paper)
        stem = contents.project.papers[paper].picture or figures[0].base
        group = next(group for group in figures if stem in group.stems)
        picture = f"{FIGURES.as_posix()}/{paper}/{stem}.png"
        pictures.append(
            f"[![{head_of(stem)} of {paper}]({picture})](docs/papers/{paper}.md#{stem})"
        )
        names.append(f"`{paper}`, {head_of(stem)}: {group.title}")
    return table(pictures, [names], texts=len(names))


def _papers(contents: Contents) -> str:
    """Return a row for each published paper: figures, claims by kind, one sentence."""
    rows = []
    for name in contents.papers:
        paper = contents.paper(name)
        title = f"*{paper['short']}*"
        if paper["arxiv"]:
            title = f"[{title}](https://arxiv.org/abs/{paper['arxiv']})"
        scale = " at a smaller scale" if paper["reduced"] else ""
        figures = f"{len(paper['figures'])} rebuilt{scale}; {paper['drawn']}"
        sentence = paper["sentence"] or paper["summary"]
        page = f"[`{name}`](docs/papers/{name}.md)"
        rows.append([f"{page} {title}", figures, counts_line(paper["counts"]), sentence])
    head = ["paper", "figures; as drawn?", "its sentences", "what came out"]
    return table(head, rows, texts=len(head))


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
        len(study.simulations) + len(study.exact),
        len(study.figures),
        len(stems - set(study.figures)),
        len(study.tables),
        len(study.claims),
    ]


KEY = ["paper", "kind", "name"]
MEASURED = ["seconds", "cpu_seconds", "memory_mib"]
"""What a job measures of itself, in its provenance."""


def write_costs(project: Project) -> Path:
    """Write what was measured, and what was known of jobs that were not measured again."""
    path, known = project.folder / COSTS, read_costs(project)
    # The ledger of some papers is not that of all.
    of_papers = project.built() + ["all"] * (project.chosen == project.published)
    built = [each for each in targets(project) if each.paper in of_papers]
    names = {(target.paper, target.kind, target.name) for target in built}
    is_kept = [
        key in names or key[0] not in project.built()
        for key in known[KEY].itertuples(index=False, name=None)
    ]
    measured = pd.DataFrame(_measured(built), columns=[*KEY, *MEASURED])
    both = [frame for frame in (known[is_kept], measured) if len(frame)] or [measured]
    rows = pd.concat(both).drop_duplicates(KEY, keep="last").sort_values(KEY)
    write_text(path, rows.to_csv(index=False, lineterminator="\n"))
    return path


def read_costs(project: Project) -> pd.DataFrame:
    """Return the published costs; none where there is no file."""
    path, columns = project.folder / COSTS, [*KEY, *MEASURED]
    return pd.read_csv(path, usecols=columns) if path.is_file() else pd.DataFrame(columns=columns)


def _measured(built: list[Target]) -> Iterator[list[object]]:
    """Yield what was measured; jobs of simulations with runs in the cache were short."""
    for target in built:
        record = read_provenance(target.provenance) if target.provenance.is_file() else {}
        if record.keys() >= {*MEASURED} and not record.get("cached_runs"):
            values = [round(record[column], 1) for column in MEASURED]
            yield [target.paper, target.kind, target.name, *values]


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
    prefix = re.sub("[^A-Z]", "", name.upper())
    paths = []
    for kind in ("paper", "experiments", "claims"):
        paths.append(folder / f"{kind}.yaml")
        text = render(f"new-paper.{kind}.yaml", paper=name, prefix=prefix, year=date.today().year)
        write_text(paths[-1], text)
    return paths


def audit_page(contents: Contents, text: str) -> str:
    """Return the page of the audit with how often its black box catches twice the epsilon."""
    path = contents.project.folder / AUDIT
    if not path.is_file():
        return text
    power = read_table(path)["power"].str.partition(":")[0]
    caught, missed, untested = (int((power == word).sum()) for word in (CAUGHT, MISSED, UNTESTED))
    content = (
        f"Of {caught + missed + untested} rows of the black box with a claim {caught} are caught, "
        f"{missed} are missed, and {untested} have no parameter of noise."
    )
    return with_region(text, "power", content)


PAGES: Mapping[str, Callable[[Contents], str]] = {
    "docs/choosing.md": lambda contents: choosing_page(contents.project),
    "docs/claims.md": claims_page,
    "docs/errata.md": errata_page,
    "docs/gallery.md": gallery_page,
}
"""Document -> what returns the whole of it; those of the papers come to them."""

REGIONS: Mapping[str, Callable[[Contents, str], str]] = {
    "README.md": front_page,
    "CITATION.cff": citation_page,
    "docs/artifact.md": artifact_page,
    "docs/audit.md": audit_page,
    "docs/cluster.md": cluster_page,
    "docs/deviations.md": lambda contents, text: with_tables(contents.project, text),
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
