# Entry point: validation, includes and what is built. Every step is a command of the package; the
# rules stand in workflow/rules/, one per figure or table.
import os
import shlex
import sys


configfile: "config/config.yaml"


report: "workflow/report/overview.rst"


from dpbandits.errors import InputError
from dpbandits.project.resources import Jobs
from dpbandits.project.outputs import Outputs
from dpbandits.papers import COMPARISONS, PAPERS
from dpbandits.project.config import Project
from dpbandits.project.stale import mark_stale

# An exception that is let through would be told with the lines of code that it passed.
try:
    PROJECT = Project.load(config=config)
    # On a cluster, what a job was submitted with has been checked, which takes seconds.
    if not workflow.remote_exec:
        PROJECT.check()
except InputError as error:
    print(error, file=sys.stderr)
    sys.exit(2)
OUTPUTS = Outputs(PROJECT)
JOBS = Jobs(PROJECT)

# What has no records of an earlier run, copied or unpacked, says itself whether it is current.
if not workflow.remote_exec:
    mark_stale(OUTPUTS)

# A snakemake called by its full path finds the package's command all the same.
shell.prefix(
    f"export PATH={shlex.quote(os.path.dirname(sys.executable))}:$PATH; {JOBS.environment()}"
)


# What failed, by the last lines of its logs.
onerror:
    shell("python {workflow.basedir}/workflow/last_lines.py {log}")


include: "workflow/rules/common.smk"
include: "workflow/rules/simulate.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/ts-is-dp.smk"
include: "workflow/rules/dp-ts-ucb.smk"
include: "workflow/rules/dp-bai.smk"
include: "workflow/rules/dp-ncb.smk"
include: "workflow/rules/equal-privacy.smk"


# The papers' own figures and tables, and the verdicts on all their claims, in one ledger.
rule all:
    default_target: True
    input:
        OUTPUTS.targets(),
        OUTPUTS.whole_ledger_targets(),


# What is ours and marked so.
rule extras:
    input:
        OUTPUTS.extra_targets(),
