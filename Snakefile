# Entry point: validation, includes and what is built. Every step is a command of the package; the
# rules are in workflow/rules/, one per figure or table.
import os
import shlex
import sys
from pathlib import Path


configfile: "config/config.yaml"


report: "workflow/report/overview.rst"


from dpbandits.errors import InputError
from dpbandits.job_server import JobServer
from dpbandits.papers import COMPARISONS
from dpbandits.project.checked import checked_targets
from dpbandits.project.config import Project
from dpbandits.project.resources import Jobs
from dpbandits.project.stale import epoch_path, kernels_path, mark_stale
from dpbandits.project.target import wanted

# An exception that is let through would be shown with the lines of code that it passed.
try:
    PROJECT = Project.load(config=config)
    TARGETS = checked_targets(PROJECT)
except InputError as error:
    print(error, file=sys.stderr)
    sys.exit(2)
JOBS = Jobs(PROJECT)

# Every output says itself whether it is current, also where it was copied or unpacked.
if not workflow.remote_exec:
    mark_stale(PROJECT, TARGETS)

# A snakemake called by its full path finds the package's command all the same.
SERVER = JobServer()
ENVIRONMENT = f"export PATH={shlex.quote(os.path.dirname(sys.executable))}:$PATH; {JOBS.environment()}"
shell.prefix(f"{ENVIRONMENT}{SERVER.environment()}")


# Jobs on this machine need not import everything again.
onstart:
    if workflow.is_main_process and workflow.local_exec:
        SERVER.start(ENVIRONMENT)


# What failed, by the last lines of its logs.
onerror:
    shell("python {workflow.basedir}/workflow/last_lines.py {log}")


# These before the others, which inherit from them.
include: "workflow/rules/common.smk"
include: "workflow/rules/figures.smk"


for rules_file in sorted(Path(workflow.basedir, "workflow/rules").glob("*.smk")):
    if rules_file.name not in ("common.smk", "figures.smk"):

        include: str(rules_file)


# The papers' own figures and tables, and the verdicts on all their claims, in one ledger.
rule all:
    default_target: True
    input:
        chosen(extra=False),


# Supplementary figures and tables.
rule extras:
    input:
        chosen(extra=True),
