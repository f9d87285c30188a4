"""The pages of claims: one for each, and one to search in all of them."""

from collections.abc import Iterator
from typing import Any

from dpbandits.claims.ledger import ALONE, EXACT, IN_FAMILY
from dpbandits.claims.verdict import ALPHA, VERDICTS
from dpbandits.pages.site.model import Site, counts
from dpbandits.pages.site.verdicts import claim_values, claims_of, evidence_of

Values = dict[str, Any]


def claim_pages(site: Site) -> Iterator[tuple[str, Values]]:
    """Yield the address of each claim's page and what its template shows."""
    rows = dict(list(site.ledger.groupby("claim", sort=False)))
    for paper in site.papers:
        for claim in site.project.study(paper).claims:
            # A claim that is newer than the published verdicts has none.
            if claim.id in rows:
                values = claim_values(site, rows[claim.id])
                found = [each for each in site.findings[paper] if claim.id in each[0].beside]
                yield (
                    values["address"],
                    {
                        "claim": values,
                        "entry": claim,
                        "title": claim.id,
                        "paper_title": site.title(paper),
                        "evidence": evidence_of(site, claim.id),
                        "findings": [(each.claim.id, each.title) for each, _, _ in found],
                    },
                )


def search_page(site: Site) -> Values:
    """Return what the page of all claims shows."""
    random = site.ledger[site.ledger["level"].notna()]
    claims = claims_of(site, site.ledger)
    return {
        "claims": claims,
        "papers": [
            (paper, site.title(paper), site.project.study(paper).notes) for paper in site.papers
        ],
        "kinds": list(dict.fromkeys(claim["kind"] for claim in claims)),
        "words": [word for word in VERDICTS if word in set(site.ledger["verdict"])],
        "counts": {
            paper: counts(site.ledger[site.ledger["paper"] == paper]) for paper in site.papers
        },
        "random": len(random),
        "expected": float(random["level"].sum()),
        "rows": len(site.ledger),
        "in_family": int((random["family_wise"] == IN_FAMILY).sum()),
        "exact": int((site.ledger["family_wise"] == EXACT).sum()),
        "alone": int((random["family_wise"] == ALONE).sum()),
        "alpha": ALPHA,
    }
