"""Validate the crate of an archive against the profiles that it says it conforms to.

    python check_crate.py artifact/dpbandits-0.1.0.tar.gz

Every MUST of RO-Crate 1.1 and of the Workflow RO-Crate, Process, Workflow and Provenance Run Crate
profiles, by ``roc-validator`` (requirements-metadata.lock), without the network: the terms of the
RO-Crate 1.1 context that the crate uses stand in ``ro-crate-1.1-terms.json``, and a term that is
not among them is an error. The checksums of the archive are checked, too.
"""

import hashlib
import json
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from rocrate_validator import models, services
from rocrate_validator.utils.http import HttpRequester

CONTEXT = "https://w3id.org/ro/crate/1.1/context"
TERMS = json.loads((Path(__file__).parent / "ro-crate-1.1-terms.json").read_text(encoding="utf-8"))
PROFILE = "provenance-run-crate"


class _Response:
    """What asking for the context answers; everything else is not there."""

    def __init__(self, url: str) -> None:
        self.status_code = 200 if url == CONTEXT else 404
        self.headers = {"Content-Type": "application/ld+json"}
        self.text = json.dumps({"@context": TERMS})
        self.content = self.text.encode()
        self.url, self.ok = url, self.status_code == 200

    def json(self) -> Any:
        """Return the document."""
        return json.loads(self.text)

    def raise_for_status(self) -> None:
        """Refuse what is not there."""
        if not self.ok:
            raise OSError(f"{self.url}: the network is not used")


def unknown_terms(document: dict[str, Any]) -> set[str]:
    """Return the types and properties that no context defines."""
    own = [each for each in document["@context"] if isinstance(each, dict)]
    known = {"@id", "@type", *TERMS, *(term for each in own for term in each)}
    used = set()
    for entity in document["@graph"]:
        kinds = entity["@type"]
        used |= {*entity, *(kinds if isinstance(kinds, list) else [kinds])}
    return used - known


def dangling(document: dict[str, Any]) -> set[str]:
    """Return what is referred to inside the crate and is not described there."""
    graph = document["@graph"]
    described = {entity["@id"] for entity in graph}
    used: set[str] = set()
    for entity in graph:
        for value in entity.values():
            every = value if isinstance(value, list) else [value]
            used |= {each["@id"] for each in every if isinstance(each, dict)}
    return {each for each in used - described if "://" not in each}


def problems(folder: Path) -> list[str]:
    """Return what is wrong with the crate of a folder."""
    document = json.loads((folder / "ro-crate-metadata.json").read_text(encoding="utf-8"))
    found = [f"{term}: is no term of the context" for term in sorted(unknown_terms(document))]
    found += [f"{each}: is not described" for each in sorted(dangling(document))]
    HttpRequester.get = lambda self, url, **_: _Response(url)
    settings = models.ValidationSettings(
        rocrate_uri=str(folder),
        profile_identifier=PROFILE,
        requirement_severity=models.Severity.REQUIRED,
        no_cache=True,
    )
    issues = services.validate(settings).get_issues()
    return found + [f"{each.check.identifier}: {each.message}" for each in issues]


def wrong_sums(folder: Path) -> list[str]:
    """Return the files that are not those of SHA256SUMS, and those that it lacks."""
    lines = (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    stated = {name: digest for digest, name in (line.split("  ", 1) for line in lines)}
    there = {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "SHA256SUMS"
    }
    names = sorted(set(stated) | set(there))
    return [f"{name}: differs" for name in names if stated.get(name) != there.get(name)]


def main(archive: Path) -> int:
    """Check one archive, or a folder that holds one; say what is wrong."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = archive
        if archive.is_file():
            with tarfile.open(archive) as packed:
                packed.extractall(temporary, filter="data")
            [folder] = Path(temporary).iterdir()
        found = problems(folder)
        if archive.is_file():
            found += wrong_sums(folder)
    for line in found:
        print(line, file=sys.stderr)
    print(f"{archive}: {len(found)} problems; profile {PROFILE}, every MUST")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
