"""The archive to cite and to run: sources, results, figures, tables, verdicts, report and site.

Its file times say that results are newer than what is drawn from them, so that the workflow, run
where the archive is unpacked, draws everything again and simulates nothing.
"""

import gzip
import hashlib
import io
import json
import subprocess
import tarfile
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml
from rocrate.model import ContextEntity, Entity
from rocrate.rocrate import ROCrate

from dpbandits.engine.provenance import (
    COMMIT,
    SUMS,
    commit_of,
    git,
    read_provenance,
    write_bytes,
)
from dpbandits.errors import InputError
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.targets import RESULTS, built_targets

CRATE = "ro-crate-metadata.json"
PROVENANCE = "provenance.json"
"""The provenance of all outputs; drawing again rewrites the files beside them, and not this one."""
OLDER = 60
"""Seconds by which all other files are older than results, which are as old as the commit."""

RO_CRATE = "1.1"
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
MEDIA_TYPES = {
    ".csv": "text/csv",
    ".html": "text/html",
    ".json": "application/json",
    ".parquet": "application/vnd.apache.parquet",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".tex": "application/x-tex",
    ".yaml": "application/yaml",
}


def pack(project: Project, folder: Path) -> Path:
    """Write ``dpbandits-VERSION.tar.gz`` into a folder; return its path.

    The same checkout with the same results gives the same bytes.
    """
    root = project.folder
    tracked = sorted(filter(None, _git(root, "ls-files", "-z").split("\0")))
    sources = [name for name in tracked if (root / name).is_file()]
    built = built_targets(project)
    records = {target.provenance: read_provenance(target.provenance) for target in built}
    results = [target for target in built if target.kind == RESULTS]
    newer = {path for target in results for path in (*target.files, target.provenance)}
    outputs = {path for target in built for path in target.files} | {_report(project)}
    site = {path for path in (root / "site").rglob("*") if path.is_file()}

    contents = {name: (root / name).read_bytes() for name in sources}
    contents |= {_name(root, path): path.read_bytes() for path in newer | outputs | site}
    drawn = {_name(root, path): record for path, record in records.items() if path not in newer}
    contents[PROVENANCE] = (json.dumps(drawn, indent=1, sort_keys=True) + "\n").encode()
    contents[CRATE] = crate_of(project, records, [*outputs, root / PROVENANCE]).encode()
    contents[COMMIT] = f"{commit_of(root)}\n".encode()
    digests = {name: hashlib.sha256(contents[name]).hexdigest() for name in sorted(contents)}
    contents[SUMS] = "".join(f"{digests[name]}  {name}\n" for name in digests).encode()

    scale = "" if project.scale == "paper" else f"-{project.scale}"
    stem = f"dpbandits-{_citation(root)['version']}{scale}"
    committed = int(_git(root, "log", "-1", "--format=%ct"))
    times = dict.fromkeys((_name(root, path) for path in newer), committed)
    executable = {name for name in sources if (root / name).stat().st_mode & 0o100}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(contents):
            # A new entry has no owner: nothing of this machine or user is in the archive.
            entry = tarfile.TarInfo(f"{stem}/{name}")
            entry.size = len(contents[name])
            entry.mode = 0o755 if name in executable else 0o644
            entry.mtime = times.get(name, committed - OLDER)
            archive.addfile(entry, io.BytesIO(contents[name]))
    path = folder / f"{stem}.tar.gz"
    write_bytes(path, gzip.compress(buffer.getvalue(), mtime=0))
    return path


def _name(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()


def _git(folder: Path, *words: str) -> str:
    try:
        return git(folder, *words)
    except (OSError, subprocess.CalledProcessError):
        raise InputError(
            f"{folder}: is no git checkout with a commit; allowed: one, whose files are packed"
        ) from None


def _report(project: Project) -> Path:
    """Return Snakemake's report."""
    path = project.results_folder() / "report.html"
    if not path.is_file():
        raise InputError(f"{path}: does not exist; run make report to build it")
    return path


def _citation(root: Path) -> Mapping[str, Any]:
    citation: Mapping[str, Any] = yaml.safe_load((root / "CITATION.cff").read_text("utf-8"))
    return citation


def crate_of(
    project: Project, records: Mapping[Path, Mapping[str, Any]], outputs: Iterable[Path]
) -> str:
    """Return ``ro-crate-metadata.json``: the run as a Workflow Run RO-Crate.

    The Snakefile is the workflow, the run one ``CreateAction`` from the config to all outputs
    (https://www.researchobject.org/workflow-run-crate/).
    """
    root, citation = project.folder, _citation(project.folder)
    crate = ROCrate(version=RO_CRATE)

    def add(identifier: str, kind: str, /, **properties: Any) -> Entity:
        entity = ContextEntity(crate, identifier, properties={"@type": kind, **properties})
        return crate.add(entity)

    def file(path: Path, **properties: Any) -> Entity:
        name = _name(root, path)
        media = MEDIA_TYPES.get(path.suffix, "text/plain")
        properties |= {"name": name, "encodingFormat": media}
        return crate.add_file(path, name, properties=properties)

    ends = {path: path.stat().st_mtime for path in records}
    begins = [ends[path] - float(record["seconds"]) for path, record in records.items()]
    begin, end = (
        datetime.fromtimestamp(int(seconds), UTC).isoformat()
        for seconds in (min(begins), max(ends.values()))
    )
    author = add("#authors", "Organization", name=citation["authors"][0]["name"])
    licence = f"https://spdx.org/licenses/{citation['license']}"
    about = {
        "name": citation["title"],
        "description": " ".join(citation["abstract"].split()),
        "license": add(licence, "CreativeWork", name=f"{citation['license']} License"),
        "author": author,
        "keywords": ", ".join(citation["keywords"]),
        "version": citation["version"],
        "datePublished": end,
    }
    for key, value in about.items():
        crate.root_dataset[key] = value
    file(root / "README.md", about=crate.root_dataset)

    workflow = crate.add_workflow(root / "Snakefile", "Snakefile", main=True, lang="snakemake")
    for uri, name in PROFILES.items():
        add(uri, "CreativeWork", name=name, version=uri.rpartition("/")[2])
    crate.root_dataset["conformsTo"] = [{"@id": uri} for uri in PROFILES]
    versions = sorted({pair for record in records.values() for pair in record["versions"].items()})
    libraries = [
        add(f"#{name}-{version}", "SoftwareApplication", name=name, softwareVersion=version)
        for name, version in versions
    ]
    workflow["name"] = "Snakefile"
    workflow["version"] = citation["version"]
    workflow["softwareRequirements"] = [*libraries, file(root / "requirements.lock")]
    settings = [
        add(f"#{key}", "PropertyValue", name=key, value=getattr(project, key))
        for key in ("scale", "seed")
    ]
    configs = [
        path
        for paper in project.built()
        for path in (project.study(paper).path, project.study(paper).claims_path)
        if path.is_file()
    ]
    run = {
        "name": f"run at the {project.scale} scale",
        "description": "all figures, tables and verdicts, from the config and the sources",
        "agent": author,
        "startTime": begin,
        "endTime": end,
    }
    read = [*map(file, dict.fromkeys(configs)), *settings]
    made = [file(path) for path in sorted(outputs)]
    action = crate.add_action(workflow, "#run", read, made, run)
    crate.root_dataset.append_to("mentions", action)
    return json.dumps(crate.metadata.generate(), indent=1, ensure_ascii=False) + "\n"
