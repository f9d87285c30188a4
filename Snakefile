# Every figure, table and verdict of the papers. What reads what is said once, in
# config/papers/NAME/experiments.yaml and claims.yaml; `TARGETS` is the list made of it:
# kind, paper, name, inputs, files, caption, and the fingerprints of what each depends on.
import os
import sys


configfile: "config/config.yaml"


report: "workflow/report/overview.rst"


from dpbandits.errors import InputError
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.targets import (
    GOAL_EXTRAS,
    GOAL_FIGURES,
    GOAL_VERDICTS,
    THREADS,
    shared_jobs,
    planned_targets,
    published_seconds,
    rule_name,
    sentinel_path,
    targets_of,
)

# An exception that is let through would be shown with the lines of code that it passed.
try:
    PROJECT = Project.load(config=config)
    PROJECT.warn_of_other_sources()
    CACHE = PROJECT.cache_folder.absolute()
    TARGETS = planned_targets(PROJECT, is_job=workflow.remote_exec)
except InputError as error:
    print(error, file=sys.stderr)
    sys.exit(2)

# Rules name no conda environment: jobs run this package, where Snakemake itself runs. Called by
# its full path it finds the package's command, too; jobs share one cache.
os.environ.update(
    PATH=os.pathsep.join([os.path.dirname(sys.executable), *os.get_exec_path()]),
    DPBANDITS_CACHE=str(CACHE),
)
OPTIONS = f"--scale {PROJECT.scale} --seed {PROJECT.seed}"
RESULTS = PROJECT.results_folder()


# The figures and tables of the papers, and the verdicts on all their claims.
rule all:
    input:
        [target.files for target in targets_of(TARGETS, GOAL_FIGURES, GOAL_VERDICTS)],


# The papers' own figures and tables.
rule figures:
    input:
        [target.files for target in targets_of(TARGETS, GOAL_FIGURES)],


# The verdicts on the claims, in one ledger, with the simulations that only they read.
rule verdicts:
    input:
        [target.files for target in targets_of(TARGETS, GOAL_VERDICTS)],


# Supplementary figures and tables.
rule extras:
    input:
        [target.files for target in targets_of(TARGETS, GOAL_EXTRAS)],


# What `all` builds of one paper (ts_is_dp); of a comparison (choosing) all there is.
for name in PROJECT.built():

    rule:
        name:
            rule_name(name)
        input:
            [
                target.files
                for target in targets_of(
                    TARGETS,
                    *(
                        [GOAL_EXTRAS]
                        if name in PROJECT.comparisons
                        else [GOAL_FIGURES, GOAL_VERDICTS]
                    ),
                )
                if target.paper == name
            ],


# The jobs are chosen: from here on what they make is newer than the sentinel.
onstart:
    if sentinel_path(PROJECT).exists():
        os.utime(sentinel_path(PROJECT))


# Params that no command takes, `depends_on` and `caption`: by its records Snakemake runs a rule again
# where they moved, and says so. Stale outputs have the sentinel among their inputs, too: some have no
# records.
include: "workflow/rules/results.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/claims.smk"
