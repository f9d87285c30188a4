"""The computed parts of `README.md` and `docs/findings.md`, and `docs/api.md` by griffe."""

import re
import textwrap
from functools import cache
from pathlib import Path
from typing import Any

import griffe
import pandas as pd

from dpbandits.claims.verdict import VERDICTS
from dpbandits.errors import InputError
from dpbandits.pages.published import (
    REPAIRED,
    filled,
    published_digitised,
    published_findings,
    published_ledger,
    published_papers,
)
from dpbandits.pages.render import claim, render, table, with_region
from dpbandits.pipeline.project import Project
from dpbandits.reporting.digitised import reproduced_as_drawn
from dpbandits.reporting.tables import choice

SECTIONS: dict[str, tuple[str, str]] = {
    "Simulate": ("dpbandits", "simulate Simulation NashCurve"),
    "Compare algorithms": ("dpbandits", "compare Comparison"),
    "Choose an algorithm": ("dpbandits", "choose"),
    "Identify the best arm": ("dpbandits", "identify Identification"),
    "Audit": ("dpbandits.api", "audit audit_pair audit_mechanism"),
    "Instances": (
        "dpbandits",
        "bernoulli truncated_exponential clipped_exponential uniform linear arms replay Bandit "
        "LinearBandit",
    ),
    "User-defined algorithms": (
        "dpbandits",
        "policy positive fraction whole load_algorithm check_algorithm",
    ),
    "Errors": ("dpbandits", "InputError"),
    "Guarantees of algorithms": ("dpbandits", "guarantee"),
    "Privacy": ("dpbandits.privacy", ""),
    "Write an algorithm": (
        "dpbandits.algorithms.base",
        "Definition Algorithm IdentificationAlgorithm Task Outcome Trial Phase Segment",
    ),
    "Write a kernel": ("dpbandits.kernels", "njit blank write Arms Segments UNIFORM"),
    "Draw inside a kernel": ("dpbandits.bandits.draws", "draw_reward draw_reward_sum laplace"),
}
"""Heading -> module and its public names, or "" for all that it exports."""

_WIDTH = 100
"""Longest line of a signature."""


def api_page() -> str:
    """Return the whole reference."""
    package = _package()
    sections = []
    for heading, (module, names) in SECTIONS.items():
        chosen = names.split() or [str(name) for name in package[module].exports]
        sections.append((heading, module, [_entry(package[f"{module}.{n}"]) for n in chosen]))
    return render("api.md", sections=sections)


@cache
def _package() -> griffe.ModulesCollection:
    """Return the package as its sources have it."""
    loader = griffe.GriffeLoader(
        search_paths=[Path(__file__).parents[2]],
        docstring_parser=griffe.Parser.google,
        docstring_options={"warnings": False},
        allow_inspection=False,
    )
    loader.load("dpbandits")
    loader.resolve_aliases()
    return loader.modules_collection


def _entry(named: griffe.Object | griffe.Alias) -> dict[str, Any]:
    """Return a class, function or constant: its title, signature, docstring and members."""
    found: Any = named.final_target if isinstance(named, griffe.Alias) else named
    members = _members(found) if found.is_class else ()
    public = [member for member in members if not member.name.startswith("_")]
    # As it is imported: `dpbandits.audit` is a package as well.
    path = named.path.replace("dpbandits.api.", "dpbandits.")
    return {
        "title": f"class {path}" if found.is_class else path,
        "signature": _signature(found) if found.is_function else "",
        "value": found.value if found.is_attribute else None,
        "type": found.annotation if found.is_attribute else None,
        "name": found.name,
        "properties": [_entry(member) for member in public if "property" in member.labels],
        "methods": [_entry(member) for member in public if member.is_function],
        **_docstring(found),
    }


def _members(found: griffe.Class) -> list[Any]:
    """Return the members of a class, and those that it has from classes without an entry."""
    bases = [base for base in found.mro() if base.path not in _documented()]
    members = {key: value for base in reversed(bases) for key, value in base.members.items()}
    return list((members | found.members).values())


@cache
def _documented() -> set[str]:
    """Return the paths of what has an entry of its own."""
    package = _package()
    named = [package[f"{m}.{n}"] for m, names in SECTIONS.values() for n in names.split()]
    return {each.canonical_path for each in named}


def _signature(function: griffe.Function) -> str:
    """Return the call of a function with its types, in lines that end between arguments."""
    line = re.sub(r"\((?:self|cls)(?:, )?", "(", function.signature(), count=1)
    arguments = re.split(r", (?=\w+: )", line)
    unbroken = ", ".join(argument.replace(" ", "\N{NO-BREAK SPACE}") for argument in arguments)
    lines = textwrap.fill(unbroken, _WIDTH, subsequent_indent="    ", break_long_words=False)
    return lines.replace("\N{NO-BREAK SPACE}", " ")


def _docstring(found: griffe.Object) -> dict[str, Any]:
    """Return the sections of a docstring: text, named entries, errors, source and example."""
    sections: dict[str, Any] = {"text": "", "entries": (), "raises": (), "notes": []}
    for section in found.docstring.parsed if found.docstring else ():
        match section.kind:
            case griffe.DocstringSectionKind.text:
                sections["text"] += section.value
            case griffe.DocstringSectionKind.raises:
                sections["raises"] = section.value
            case griffe.DocstringSectionKind.parameters | griffe.DocstringSectionKind.attributes:
                sections["entries"] = section.value
            case griffe.DocstringSectionKind.returns:
                described = " ".join(each.description for each in section.value)
                sections["notes"].append(("Returns", described))
            case _:
                sections["notes"].append((section.title, section.value.description))
    return sections


VARIANTS = {"as-written": "as written", "as-coded": "as coded", "repaired": "repaired"}

_VERDICTS = re.compile(r"<!-- begin (verdicts ((?:[A-Z]+-C[0-9]+[a-z]? ?)+)) -->")


def front_page(project: Project, text: str) -> str:
    """Return the front page with its regions as the published verdicts have them.

    Args:
        project: the project.
        text: the page as it is. Its region ``headline`` counts all claims, the region ``papers``
            has a row for each paper: whether its figures come out, its claims, and one sentence.

    Raises:
        InputError: the marks of a region are missing, or a number is not published.
    """
    ledgers = {paper: published_ledger(project, paper) for paper in published_papers(project)}
    every = pd.concat(ledgers.values(), ignore_index=True)
    text = with_region(text, "headline", f"**{headline(every)}**")
    return with_region(text, "papers", _papers(project, ledgers))


def findings_page(project: Project, text: str) -> str:
    """Return the page on what came out with its regions as the published verdicts have them.

    Args:
        project: the project.
        text: the page as it is. The region ``summaries`` has what sums up each paper, the region
            ``verdicts by variant`` counts claims, the region ``least repair`` those of the variant
            ``repaired``, each region ``verdicts CLAIM ...`` has the verdicts on these claims, of
            all papers, the region ``findings`` those findings that are headlines.

    Raises:
        InputError: the marks of a region are missing, a claim is unknown, or a number is not
            published.
    """
    papers = published_papers(project)
    ledgers = {paper: published_ledger(project, paper) for paper in papers}
    summaries = [f"### `{paper}`\n\n{_summed_up(project, paper)}" for paper in papers]
    text = with_region(text, "summaries", "\n\n".join(summaries))
    of_papers = [name for name in VARIANTS if name != REPAIRED]
    text = with_region(text, "verdicts by variant", _by_variant(ledgers, of_papers))
    text = with_region(text, "least repair", _by_variant(ledgers, [REPAIRED]))
    text = with_region(text, "findings", _headlines(project, papers))
    whole = pd.concat(ledgers.values(), ignore_index=True)
    for block, claims in _VERDICTS.findall(text):
        text = with_region(text, block, _verdicts(whole, claims.split()))
    return text


def _counted(ledger: pd.DataFrame, variant: str) -> pd.Series:
    """Return the number of claims on a variant by verdict, those last that have several."""
    judged = ledger[(ledger["variant"] == variant) & (ledger["verdict"] != "not applicable")]
    verdicts = judged.groupby("claim")["verdict"]
    agree = verdicts.nunique() == 1
    counts = verdicts.first()[agree].value_counts().reindex(VERDICTS[:-1], fill_value=0)
    return pd.concat([counts, pd.Series({OPEN: (~agree).sum()})])


OPEN = "differs by interpretation"


def headline(ledger: pd.DataFrame) -> str:
    """Return how many claims of the papers hold, fail, and so on, in a sentence.

    Args:
        ledger: the verdicts on all claims.
    """
    counts = _counted(ledger, "as-written")
    words = {
        "holds": ("holds", "hold"),
        "fails": ("fails", "fail"),
        "not testable": ("cannot be tested there",) * 2,
        OPEN: ("depends on how the text is read", "depend on how the text is read"),
    }
    parts = [
        f"{n} {words.get(str(word), (f'is {word}', f'are {word}'))[n > 1]}"
        for word, n in counts.items()
        if n
    ]
    return (
        f"Of {counts.sum()} claims, as the papers write their algorithms and at their horizons, "
        f"{', '.join(parts[:-1])} and {parts[-1]}."
    )


def _papers(project: Project, ledgers: dict[str, pd.DataFrame]) -> str:
    """Return a row for each published paper: figures, claims by variant, one sentence."""
    rows = []
    for name, ledger in ledgers.items():
        paper = project.papers[name]
        title = f"*{paper.short_title or paper.title}*"
        if paper.arxiv:
            title = f"[{title}](https://arxiv.org/abs/{paper.arxiv})"
        claims = []
        for variant in ("as-written", "as-coded"):
            counts = _counted(ledger, variant)
            if counts.sum():
                told = [f"{counts['holds']} of {counts.sum()} hold", f"{counts['fails']} fail"]
                told += [f"{n} not testable" for n in [counts["not testable"]] if n]
                claims.append(f"{VARIANTS[variant]}: {', '.join(told)}")
        drawn = reproduced_as_drawn(published_digitised(project, name), "fig")
        sentence = project.study(name).summary().sentence
        who = f"`{name}` {title} ({paper.credit})"
        rows.append([who, drawn, "; ".join(claims), sentence])
    head = ["paper", "figures as drawn", "claims", "in one sentence"]
    return table(head, rows, texts=len(head))


def _summed_up(project: Project, paper: str) -> str:
    """Return what sums up a paper, its numbers filled in."""
    summary = project.study(paper).summary()
    place = f"{project.study(paper).findings_path}: summary"
    return filled(project, paper, summary.statement, summary.numbers, place)


def _by_variant(ledgers: dict[str, pd.DataFrame], variants: list[str]) -> str:
    """Return the number of claims by variant and verdict, and of those that differ inside."""
    rows: list[list[object]] = []
    for paper, ledger in ledgers.items():
        for variant in variants:
            counts = _counted(ledger, variant)
            if counts.sum():
                link = f"[`{paper}`](claims.md#{paper})"
                rows.append([link, VARIANTS[variant], counts.sum(), *counts])
    return table(["paper", "variant", "claims", *VERDICTS[:-1], OPEN], rows, texts=2)


def _verdicts(whole: pd.DataFrame, claims: list[str]) -> str:
    """Return a row for each claim: its verdicts by variant, and by interpretation if needed."""
    whole = whole[whole["variant"] != REPAIRED]
    judged = whole[whole["claim"].isin(claims) & (whole["verdict"] != "not applicable")]
    variants = [variant for variant in VARIANTS if variant in set(judged["variant"])]
    head = ["claim", "what the paper says", *(VARIANTS[variant] for variant in variants)]
    rows = []
    for name in claims:
        of_claim = judged[judged["claim"] == name]
        if of_claim.empty:
            raise InputError(f"docs/findings.md: claim is {name!r}; allowed: a claim with verdicts")
        verdicts = [_of_variant(of_claim[of_claim["variant"] == variant]) for variant in variants]
        rows.append([claim(name), of_claim["statement"].iloc[0], *verdicts])
    return table(head, rows, texts=len(head))


def _of_variant(rows: pd.DataFrame) -> str:
    """Return the verdict of a variant, or each verdict with its interpretations."""
    if rows["verdict"].nunique() == 1:
        return f"**{rows['verdict'].iloc[0]}**"
    return "; ".join(
        f"**{row['verdict']}** ({row['interpretation'] or choice(row)})"
        for row in rows.to_dict("records")
    )


def _headlines(project: Project, papers: list[str]) -> str:
    """Return the findings that are worth the front page, as a list."""
    lines = [
        f"- {claim(finding.claim.id)}, {finding.title}: {statement}"
        for paper in papers
        for finding, statement, _ in published_findings(project, paper)
        if finding.is_headline
    ]
    return "\n".join(lines) or "There is none."
