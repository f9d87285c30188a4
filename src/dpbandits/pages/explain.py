"""A claim or finding, its verdict, readings and comparisons line by line: built or published."""

from collections.abc import Iterator

from dpbandits.claims.tables import ALONE, EXACT, IN_FAMILY
from dpbandits.config.claims import Claim
from dpbandits.errors import InputError
from dpbandits.pages.verdicts import ClaimOutcome, Row, estimate_text, label_text
from dpbandits.pipeline.project import Project, find_claim, published_table, read_verdicts
from dpbandits.pipeline.published import fill_numbers
from dpbandits.pipeline.targets import CLAIMS, FINDINGS, VERDICT_FILES, verdicts_target


def explanation(project: Project, identifier: str, *, is_published: bool) -> str:
    """Return the lines on a claim or finding, by the verdicts of a build or the published ones.

    InputError where the verdicts are missing, or are of other sources.
    """
    paper, entry = find_claim(project, identifier)
    kind = CLAIMS if isinstance(entry, Claim) else FINDINGS
    if is_published:
        tables = [published_table(project, paper, name) for name in VERDICT_FILES[kind]]
    else:
        paths = verdicts_target(project, paper, kind).current_files()
        tables = [read_verdicts(path) for path in paths]
    rows, compared = (table[table["claim"] == entry.id].to_dict("records") for table in tables)
    outcome = ClaimOutcome(paper, entry, rows, compared, [project.papers[paper]])
    if not rows:
        raise InputError(f"{entry.id}: no verdict is published; run snakemake to compute one")
    return "\n".join(_lines(project, outcome, is_published))


def _lines(project: Project, outcome: ClaimOutcome, is_published: bool) -> Iterator[str]:
    entry = outcome.entry
    if isinstance(entry, Claim):
        yield f"{entry.id} ({entry.kind}; {entry.place})"
        yield f'  says: "{entry.says}"'
        yield f"  word: {outcome.word}{outcome.after_word}{outcome.exceptions}"
        yield f"  scope: {entry.scope}"
        yield f"  measured: {entry.measured}"
        if entry.cannot:
            yield f"  cannot be tested here: {entry.cannot}"
    else:
        yield f"{entry.id} ({entry.place})"
        texts, place = [*entry.texts], f"{project.study(outcome.paper).findings_path}: {entry.id}"
        if is_published:
            texts = fill_numbers(project, outcome.paper, place, entry.numbers, *texts, entry=entry)
        yield from (f"  {text}" for text in texts if text)
        yield from (f"  word: {outcome.word}" for word in [outcome.word] if word)
    yield from (f"  {said}" for said in outcome.standing)
    yield from (f"  not judged: {words}" for words in [outcome.not_judged] if words)
    for row in (*outcome.judged, *outcome.beside):
        yield from _reading(outcome, row)
    scale = outcome.rows[0]["scale"]
    evidence = ", no evidence" * (scale == "quick") + ", as published" * is_published
    yield f"  scale: {scale}{evidence}"
    about = project.papers[outcome.paper]
    if about.reduced:
        yield f"  at a smaller scale than the paper's: {about.reduced}"
    if not about.is_published:
        yield f"  a draft's: `state` in {project.study(outcome.paper).config_path('paper')}"


_IN_FAMILY = {
    EXACT: "exact, no level",
    IN_FAMILY: "the same word at the level of the family, {level_in_family:.3g}",
    ALONE: "decided only at its own level, not at that of the family, {level_in_family:.3g}",
}
"""Value of the column ``family_wise`` -> words."""


def _reading(outcome: ClaimOutcome, row: Row) -> Iterator[str]:
    """Yield a reading: its word, every comparison with its decision, runs and levels."""
    label = f" ({row['interpretation']})" if row["interpretation"] else ""
    word = row["of_reading"] if row in outcome.judged else "beside, not judged"
    yield f"  {outcome.reading_text(row)}{label}: {word}".rstrip(": ")
    for one in outcome.comparisons(row):
        asked = f", asked: {one['threshold']}" if one["threshold"] else ""
        level = f", at level {one['level']:.3g}" if one["level"] > 0.0 else ""
        chosen = " (at values that we chose)" if str(one["ours"]) == "True" else ""
        number = f"{estimate_text(one) or 'no number'}{asked}{level}{chosen}"
        yield f"    {one['decided']:<9} {label_text(str(one['comparison']))}: {number}"
    runs = int(row["runs"])
    if row["detail"]:
        yield f"    {row['detail']}"
    if runs:
        seen = f", in which {row['visible']} are visible" * bool(row["visible"])
        yield f"    {runs:,} runs; the paper has {int(row['runs_paper']) or 'no'} runs of it{seen}"
    if said := _IN_FAMILY.get(row["family_wise"], ""):
        yield f"    {said.format(**row)}"
