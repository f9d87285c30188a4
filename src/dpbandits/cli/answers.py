"""Commands that answer a question: list, explain, choose, guarantee, convert, cache."""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpbandits.cli.options import (
    NAMES,
    REAL,
    OneOf,
    an_algorithm,
    command,
    format_option,
    number,
    open_project,
    option,
    pairs,
    project_option,
    project_options,
    scale_option,
    show,
    whole_option,
)
from dpbandits.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from dpbandits.algorithms import Definition

SHORTENED = 72
"""Characters of a sentence in a printed table; csv and JSON have all of it."""


@command("list")
@click.argument("what", type=OneOf(["algorithms", "claims"]), default="algorithms")
@format_option
def list_(what: str, form: str) -> None:
    """List the algorithms with all that can be chosen, or the claims with their verdicts."""
    if what == "algorithms":
        show(listed_algorithms(), form, "\n".join(_lines()) if form == "table" else None)
        return
    claims = listed_claims()
    if form == "table":
        claims["says"] = claims["says"].map(
            lambda text: text if len(text) <= SHORTENED else f"{text[: SHORTENED - 3]}..."
        )
        claims = claims[["claim", "kind", "verdict", "says"]].drop_duplicates("claim")
    show(claims, form)


def _algorithms() -> "list[Definition]":
    """Return the algorithms of the registry, then those that published papers define themselves."""
    from dpbandits.algorithms import REGISTRY
    from dpbandits.pipeline.project import published_algorithms

    return [*REGISTRY.values(), *published_algorithms(Path()).values()]


def listed_algorithms() -> list[dict[str, str]]:
    """Return a row for each algorithm and variant, with its guarantee at its example."""
    from dpbandits.algorithms.guarantees import listed

    return [
        {
            "algorithm": algorithm.id,
            "name": algorithm.name,
            "source": algorithm.paper,
            "parameters": " ".join(algorithm.described_parameters),
            "interpretations": "; ".join(
                f"{key}: {' | '.join(values)}" for key, values in algorithm.interpretations.items()
            ),
            "variant": variant,
            "guarantee": line.partition(": ")[2],
        }
        for algorithm in _algorithms()
        for variant, line in zip(algorithm.variants, listed(algorithm), strict=True)
    ]


def _lines() -> Iterator[str]:
    """Yield a few lines for each algorithm."""
    from dpbandits.algorithms.guarantees import listed

    for algorithm in _algorithms():
        parameters = ", ".join(algorithm.described_parameters)
        yield f"{algorithm.id} ({parameters}): {algorithm.name}, {algorithm.paper}"
        for interpretation, values in algorithm.interpretations.items():
            yield f"    interpretation {interpretation}: {', '.join(values)} (default {values[0]})"
        yield f"    variants: {', '.join(algorithm.variants)}"
        for line in listed(algorithm):
            yield f"    {line}"


def listed_claims() -> "pd.DataFrame":
    """Return a row for each reading with a published verdict, with the sentence of its claim."""
    import pandas as pd

    # Listing algorithms needs no papers.
    from dpbandits.pipeline.project import published_project, published_table

    project = published_project(Path())
    tables = []
    for paper in project.chosen:
        says = {each.id: " ".join(each.says.split()) for each in project.study(paper).claims}
        table = published_table(project, paper, "claims")
        table.insert(0, "paper", paper)
        tables.append(table.assign(says=table["claim"].map(says)))
    return pd.concat(tables, ignore_index=True)


@command()
@click.argument("claim")
@option(
    "--published",
    is_flag=True,
    help="by the published verdicts (default where nothing is judged), not by those here",
)
@project_options
def explain(
    claim: str, published: bool, project: Path, scale: str | None, seed: int | None
) -> None:
    """Print what came of a claim: its sentence, word, readings and every comparison.

    CLAIM is its id, as TSDP-C20 (dpbandits list claims), or that of a finding, as TSDP-F1.
    """
    from dpbandits.config.claims import Claim
    from dpbandits.config.project import CONFIG
    from dpbandits.pages.explain import explanation
    from dpbandits.pipeline.project import find_claim, published_project

    if published or (project == Path() and not CONFIG.is_file()):
        print(explanation(published_project(project), claim, is_published=True))
        return
    opened = open_project(project, scale=scale, seed=seed)
    paper, found = find_claim(opened, claim)
    kind = "claims" if isinstance(found, Claim) else "findings"
    is_judged = (opened.results_folder() / paper / f"{kind}.csv").is_file()
    # The published verdicts are of the seed and scale of the config.
    asks_for_others = scale is not None or seed is not None
    is_built = is_judged or asks_for_others or paper not in opened.published
    print(explanation(opened, found.id, is_published=not is_built))


@command()
@whole_option("--arms", required=True, help="number of arms")
@whole_option("--horizon", help="rounds, as 1000000 or 1e6")
@whole_option("--budget", help="pulls, to find the best arm")
@option("--epsilon", type=REAL, required=True, help="privacy budget")
@option(
    "--trust",
    type=OneOf(["central", "local"]),
    default="central",
    help="one trusted learner sees the rewards, or every reward is private before it is seen",
)
@option("--delta", type=REAL, default=0.0, help="0 (default), or 1e-6 for (epsilon, delta)-DP")
@whole_option("--dimensions", help="of the arms' features, with --budget (default: one an arm)")
@scale_option
@project_option
@format_option
def choose(form: str, **asked: Any) -> None:
    """Say which private algorithm to take, as printed and tuned, and how to play it."""
    import dpbandits
    from dpbandits.comparisons.ranking import answer_text

    answer = dpbandits.choose(**asked)
    show(answer, form, answer_text(answer))


@command()
@an_algorithm
@whole_option(
    "--horizon",
    "--budget",
    "horizon",
    required=True,
    help="rounds, or the budget of pulls of an algorithm that names the best arm",
)
@option("--delta", type=REAL, help="at which epsilon is wanted")
@format_option
def guarantee(delta: float | None, form: str, **options: Any) -> None:
    """Print what an algorithm guarantees for all instances, and what is known of that.

    ALGORITHM is an id (dpbandits list), or a Python file of your own.
    """
    from dpbandits.algorithms import guarantees

    found = guarantees.guarantee(**options)
    row = asdict(found)
    row["trust"] = row.pop("model")
    text = found.describe()
    if delta is not None:
        row |= {"delta": delta, "epsilon": found.epsilon(delta)}
        text = guarantees.at_delta(found, delta)
    show([row], form, text)


@command()
@click.argument("given", nargs=-1, required=True, metavar="KIND=VALUE...")
@option(
    "--to",
    type=NAMES,
    metavar="KIND [NAME=VALUE]",
    required=True,
    help="a kind; renyi with order=, approximate with delta= or epsilon=",
)
@format_option
def convert(given: tuple[str, ...], to: list[str], form: str) -> None:
    """Convert a guarantee to another kind, and name the source of the conversion.

    A KIND is pure, gdp, zcdp, renyi (with order=) or approximate (with delta=).
    """
    from dpbandits.algorithms.guarantees import conversion

    known, wanted = (
        {name: number(name, value) for name, value in pairs(key, " ".join(group)).items()}
        for key, group in (("given", given), ("to", to[1:]))
    )
    stated, found = conversion(known, "".join(to[:1]), wanted)
    rows = [
        {
            "kind": implied.kind,
            "value": implied.parameter,
            "order": implied.order,
            "delta": implied.slack or None,
            "source": source,
        }
        for implied, source in ((each.guarantee, each.source) for each in found)
    ]
    text = f"{stated.name} implies " + "; ".join(each.describe() for each in found)
    show(rows, form, text)


@command()
@click.argument("action", type=OneOf(["show", "prune", "clear"]), default="show")
@option("--yes", is_flag=True, help="clear without asking")
@format_option
def cache(action: str, yes: bool, form: str) -> None:
    """Show the cache of results and compiled kernels; prune what is outdated, or clear it.

    prune removes what the sources here do not make; clear removes all.
    """
    from dpbandits.engine.cache import OUTDATED, Cache, entries_of, remove

    folder = Cache()
    entries = entries_of(folder)
    if action == "show":
        if form == "table":
            print(f"folder: {folder.folder}", flush=True)
        show(_rows(entries), form, "\n".join(_sums(entries)))
        return
    if action == "prune":
        entries = [entry for entry in entries if entry.state == OUTDATED]
    amount = _amount(entries)
    if action == "clear" and entries and not yes:
        _require_yes(f"remove {amount} from {folder.folder}? [y/N] ")
    remove(entries, folder)
    print(f"removed {amount} from {folder.folder}")


UNNAMED = "of unknown origin"


def _sums(entries: Sequence[Any]) -> list[str]:
    """Return the lines on the entries: sums by state, and by algorithm."""
    results = [entry for entry in entries if entry.kind == "result"]
    kernels = [entry for entry in entries if entry.kind == "kernel"]
    lines = [f"results: {_amount(results)}{_states(results)}"]
    for name in sorted({entry.algorithm for entry in results}, key=lambda name: name or UNNAMED):
        its = [entry for entry in results if entry.algorithm == name]
        lines.append(f"    {name or UNNAMED}: {_amount(its)}{_states(its)}")
    return [*lines, f"compiled kernels: {_amount(kernels)}{_states(kernels)}"]


def _rows(entries: Sequence[Any]) -> "pd.DataFrame":
    import pandas as pd

    rows = [(each.kind, each.algorithm, each.size, each.state, str(each.path)) for each in entries]
    return pd.DataFrame(rows, columns=["kind", "algorithm", "bytes", "state", "path"])


def _states(entries: Sequence[Any]) -> str:
    """Return how many entries are not current, in brackets; nothing where all are."""
    from dpbandits.engine.cache import OUTDATED, UNKNOWN, USER_DEFINED

    counts = Counter(entry.state for entry in entries)
    said = [f"{counts[each]} {each}" for each in (OUTDATED, USER_DEFINED, UNKNOWN) if counts[each]]
    return f" ({', '.join(said)})" if said else ""


def _amount(entries: Sequence[Any]) -> str:
    """Return number and size of entries, such as ``12 entries, 3.4 MB``."""
    size = sum(entry.size for entry in entries)
    noun = "entry" if len(entries) == 1 else "entries"
    return f"{len(entries)} {noun}, {size / 1e6:.1f} MB"


def _require_yes(question: str) -> None:
    """Ask; InputError where the answer is not yes, or where nobody can be asked."""
    if not sys.stdin.isatty():
        raise InputError("cache clear: nobody can be asked here; allowed: cache clear --yes")
    print(question, end="", flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise InputError("cache clear: nothing was removed; allowed: the answer y, or --yes")
