"""The run as a Workflow Run RO-Crate: every figure with its rule, inputs, parameters and software.

Profiles: Process Run Crate, Workflow Run Crate and Provenance Run Crate, each 0.5, which extend
RO-Crate 1.1 (https://www.researchobject.org/workflow-run-crate/). A rule is a ``HowToStep``; a
command of this package is the tool that carries it out; a job that was done is a ``CreateAction``.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml
from rocrate.model import ContextEntity, Entity
from rocrate.rocrate import ROCrate

from dpbandits.engine.provenance import read_provenance
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.targets import CLAIMS, DIGITISED, FIGURE, LEDGER, RESULTS, TABLE, Target

RO_CRATE = "1.1"
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/ro/wfrun/provenance/0.5": "Provenance Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
TERMS = {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}
"""Terms of the Workflow Run vocabulary that are used beside those of RO-Crate."""

MEDIA_TYPES = {
    ".csv": "text/csv",
    ".html": "text/html",
    ".md": "text/markdown",
    ".parquet": "application/vnd.apache.parquet",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".tabular": "application/x-tex",
    ".tex": "application/x-tex",
    ".yaml": "application/yaml",
}
FOLDERS = {
    "benchmarks": "ratios of the kernels to their references",
    "config": "what is built: experiments, claims, errata",
    "docs": "documents, and the published figures and tables",
    "examples": "an algorithm of one's own",
    "site": "every figure, claim and verdict to read: open index.html",
    "src": "the package dpbandits",
    "tests": "the tests",
    "workflow": "rules, captions",
}


@dataclass(frozen=True)
class Step:
    """One job of the workflow, done, with what was recorded when it was done.

    Attributes:
        target: what was built.
        provenance: what its provenance file says.
    """

    target: Target
    provenance: Mapping[str, Any]

    @property
    def command(self) -> str:
        """What the rule runs, the word after ``dpbandits``."""
        kinds = {RESULTS: "run", FIGURE: "draw", TABLE: "tabulate", CLAIMS: "judge"}
        return kinds.get(self.target.kind, self.target.kind)

    @property
    def source(self) -> str:
        """File of the rule."""
        files = {RESULTS: "results", FIGURE: "figures", TABLE: "figures"}
        return f"workflow/rules/{files.get(self.target.kind, 'claims')}.smk"

    @property
    def name(self) -> str:
        """What was made, in words."""
        target = self.target
        words = {
            RESULTS: f"results {target.name}",
            FIGURE: target.name,
            TABLE: f"table {target.name}",
            CLAIMS: "verdicts on every claim",
            DIGITISED: "digitised values compared with ours",
        }
        if target.kind == LEDGER:
            return "the ledger of all papers"
        return f"{target.paper}: {words[target.kind]}"

    def entry(self, project: Project) -> str:
        """Return the file of the config, with the key, that says what is made."""
        target = self.target
        if target.kind == LEDGER:
            return "config/config.yaml#papers"
        kind, key = "experiments", target.name
        if target.kind == CLAIMS:
            kind = CLAIMS
        if target.kind == DIGITISED:
            key = "figures"
        path = project.config_path(target.paper, kind).relative_to(project.folder)
        return f"{path.as_posix()}#{key}"


COMMANDS = {
    "run": "simulate one named set of cells, or compute one exact result",
    "draw": "draw one figure, with all its panels",
    "tabulate": "write one table",
    "judge": "judge every claim of a paper",
    "digitised": "compare digitised values with ours",
    "ledger": "gather the verdicts of all papers",
}


class _Crate:
    """A crate that is being filled."""

    def __init__(self, project: Project, steps: list[Step]) -> None:
        self.project, self.steps = project, steps
        self.crate = ROCrate(version=RO_CRATE)
        self.citation = yaml.safe_load((project.folder / "CITATION.cff").read_text("utf-8"))
        paths = [step.target.provenance for step in steps]
        self.ends = {path: path.stat().st_mtime for path in paths}

    def add(self, identifier: str, kind: str, /, **properties: Any) -> Entity:
        """Add what is no file."""
        found = self.crate.get(identifier)
        if found is not None:
            return found
        own = {"@type": kind, **properties}
        return self.crate.add(ContextEntity(self.crate, identifier, properties=own))

    def file(self, path: Path, **properties: Any) -> Entity:
        """Add a file of the project, once, with its hash."""
        name = path.relative_to(self.project.folder).as_posix()
        found = self.crate.get(name)
        if found is not None:
            return found
        own = {
            "name": name,
            "encodingFormat": MEDIA_TYPES.get(path.suffix, "text/plain"),
            "contentSize": str(path.stat().st_size),
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        }
        return self.crate.add_file(path, name, properties=own | properties)

    def root(self) -> None:
        """Say what the whole is."""
        self.authors = self.add(
            "#authors", "Organization", name=self.citation["authors"][0]["name"]
        )
        mit = "https://spdx.org/licenses/MIT"
        licence = self.add(mit, "CreativeWork", name="MIT License", identifier=mit)
        newest = max(self.ends.values())
        self.crate.datePublished = _time(newest)
        for key, value in {
            "name": self.citation["title"],
            "description": " ".join(self.citation["abstract"].split()),
            "license": licence,
            "author": self.authors,
            "keywords": ", ".join(self.citation["keywords"]),
            "version": self.citation["version"],
        }.items():
            self.crate.root_dataset[key] = value
        profiles = [
            self.add(uri, "CreativeWork", name=name, version=uri.rsplit("/")[-1])
            for uri, name in PROFILES.items()
        ]
        self.crate.root_dataset["conformsTo"] = profiles
        self.file(self.project.folder / "README.md", about=self.crate.root_dataset)
        for name, what in FOLDERS.items():
            folder = self.project.folder / name
            if folder.is_dir():
                properties = {"name": f"{name}/", "description": what}
                self.crate.add_dataset(folder, name, properties=properties)

    def workflow(self) -> None:
        """Say what ran: the workflow, its inputs, the software."""
        self.main = self.crate.add_workflow(
            self.project.folder / "Snakefile",
            "Snakefile",
            main=True,
            lang="snakemake",
            properties={
                "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"],
                "name": "Snakefile",
                "version": self.citation["version"],
                "encodingFormat": "text/plain",
            },
        )
        self.crate.root_dataset["conformsTo"] = [{"@id": uri} for uri in PROFILES]
        self.settings = [
            self.parameter(key, getattr(self.project, key), kind)
            for key, kind in (("scale", "Text"), ("seed", "Integer"))
        ]
        papers = self.project.built()
        configs = [self.project.experiments(paper).path for paper in papers]
        claims = [path for path in map(self.project.claims_path, papers) if path.is_file()]
        self.configs = [self.file(path) for path in [*configs, *claims]]
        self.lock = self.file(self.project.folder / "requirements.lock")

    def parameter(self, key: str, value: Any, kind: str) -> Entity:
        """Add a key of the config as a parameter of the workflow, and the value that it had."""
        slot, given = f"Snakefile#{key}", f"#{key}"
        formal = self.add(slot, "FormalParameter", name=key, additionalType=kind)
        setting = self.add(given, "PropertyValue", name=key, value=value)
        formal["workExample"], setting["exampleOfWork"] = setting, formal
        self.main.append_to("input", formal)
        return setting

    def tool(self, step: Step) -> Entity:
        """Return the command that carried a step out, with the libraries that it used."""
        versions: Mapping[str, str] = step.provenance["versions"]
        state = hashlib.sha256(json.dumps(versions, sort_keys=True).encode()).hexdigest()[:8]
        identifier = f"#dpbandits-{step.command}-{state}"
        if identifier in self.crate:
            return self.crate.get(identifier)
        libraries = [self.library(*each) for each in sorted(versions.items())]
        tool = self.add(
            identifier,
            "SoftwareApplication",
            name=f"dpbandits {step.command}",
            description=COMMANDS[step.command],
            softwareVersion=versions["dpbandits"],
            softwareRequirements=[*libraries, self.lock],
        )
        self.main.append_to("hasPart", tool)
        return tool

    def library(self, name: str, version: str) -> Entity:
        """Add a library, or the interpreter, in the version that was used."""
        identifier = f"#{name}-{version}"
        return self.add(identifier, "SoftwareApplication", name=name, softwareVersion=version)

    def done(self, step: Step, position: int) -> Entity:
        """Add a step that was done; return what controlled it."""
        source = step.source
        rule = self.add(
            f"{source}#{step.target.rule}",
            "HowToStep",
            name=f"rule {step.target.rule}",
            workExample=self.tool(step),
            position=str(position),
        )
        if {"@id": rule.id} not in self.main.properties().get("step", []):
            self.main.append_to("step", rule)
        action = self.add(
            f"#made-{step.target.files[0].relative_to(self.project.folder).as_posix()}",
            "CreateAction",
            name=step.name,
            description=f"rule {step.target.rule} of {source}, on {_machine(step)}",
            instrument=self.tool(step),
            agent=self.authors,
            object=[*map(self.file, step.target.inputs), *self.parameters(step)],
            result=[*map(self.file, step.target.files)],
            **self.times(step),
        )
        self.crate.root_dataset.append_to("mentions", action)
        return self.add(
            f"#control-{action.id.removeprefix('#made-')}",
            "ControlAction",
            name=f"orchestrate {step.name}",
            instrument=rule,
            object=action,
        )

    def parameters(self, step: Step) -> list[Entity]:
        """Return the parameters of a step: its entry in the config, scale, seed, fingerprints."""
        place = step.entry(self.project)
        entry = self.add(f"#{place}", "PropertyValue", name="entry", value=place)
        depends_on = [
            self.add(
                f"#{name}={value}", "PropertyValue", name=f"fingerprint of {name}", value=value
            )
            for name, value in step.target.depends_on.items()
        ]
        return [entry, *self.settings, *depends_on]

    def times(self, step: Step) -> dict[str, str]:
        """Return when a step began and ended."""
        end = self.ends[step.target.provenance]
        begin = end - float(step.provenance["seconds"])
        return {"startTime": _time(begin), "endTime": _time(end)}

    def run(self, controls: list[Entity], report: Iterable[Path]) -> None:
        """Add the run as a whole, and the engine that organised it."""
        begins = [
            self.ends[s.target.provenance] - float(s.provenance["seconds"]) for s in self.steps
        ]
        times = {"startTime": _time(min(begins)), "endTime": _time(max(self.ends.values()))}
        made = dict.fromkeys(path for step in self.steps for path in step.target.files)
        run = self.add(
            "#run",
            "CreateAction",
            name=f"run at the {self.project.scale} scale",
            description="all figures, tables and verdicts, from the config and the sources",
            instrument=self.main,
            agent=self.authors,
            object=[*self.configs, *self.settings],
            result=[self.file(path) for path in [*made, *report]],
            **times,
        )
        self.crate.root_dataset.append_to("mentions", run)
        # A single command was perhaps run where Snakemake is not installed.
        used = [step.provenance["versions"] for step in self.steps]
        engines = sorted({versions["snakemake"] for versions in used if "snakemake" in versions})
        self.add(
            "#organize",
            "OrganizeAction",
            name=f"run of Snakemake {', '.join(engines)}",
            instrument=[self.library("snakemake", version) for version in engines],
            agent=self.authors,
            object=controls,
            result=run,
            **times,
        )


def crate_of(project: Project, built: Iterable[Target], report: Iterable[Path] = ()) -> str:
    """Return ``ro-crate-metadata.json`` of a run.

    Args:
        project: the project.
        built: what was built, each after what it was built from.
        report: files of the report, which are in the crate by themselves.
    """
    steps = [Step(target, read_provenance(target.provenance)) for target in built]
    crate = _Crate(project, steps)
    crate.root()
    crate.workflow()
    controls = [crate.done(step, number) for number, step in enumerate(steps, start=1)]
    crate.run(controls, report)
    document = crate.crate.metadata.generate()
    document["@context"] = [f"https://w3id.org/ro/crate/{RO_CRATE}/context", TERMS]
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _machine(step: Step) -> str:
    return str(step.provenance["host"]["machine"])


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(int(seconds), UTC).isoformat()
