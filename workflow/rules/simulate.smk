# Kernels, simulations and exactly computed results of every paper.


wildcard_constraints:
    paper="|".join([*PAPERS, *COMPARISONS]),
    name="[a-z0-9-]+",
    part="[0-9]+",
    parts="[0-9]+",


# Compiled once before jobs fan out. Later edits are compiled by the job that needs them, so that
# an edited kernel reruns only the simulations that use it.
rule kernels:
    output:
        touch(OUTPUTS.kernels_marker()),
    log:
        "logs/kernels.log",
    conda:
        "../../environment.yml"
    message:
        "compiling the kernels of the chosen papers"
    shell:
        "dpbandits kernels --log {log}"


# Part of a simulation that is split over several jobs: its blocks go into the cache.
rule part:
    input:
        kernels=ancient(OUTPUTS.kernels_marker()),
        epoch=OUTPUTS.epoch(),
        tuned=lambda w: OUTPUTS.tuned_by(w.paper, w.name),
    output:
        touch(JOBS.part_pattern()),
    log:
        "logs/{paper}/{name}.{part}-of-{parts}.log",
    conda:
        "../../environment.yml"
    threads: lambda w: JOBS.threads(w.paper, w.name)
    resources:
        mem_mb=lambda w, threads, attempt: JOBS.memory(
            w.paper, w.name, threads, attempt
        ),
        runtime=lambda w, threads, attempt: JOBS.minutes(
            w.paper, w.name, threads, attempt, int(w.parts)
        ),
    params:
        fingerprint=lambda w: PROJECT.results_fingerprint(w.paper, w.name),
        options=OUTPUTS.options(),
    message:
        "{wildcards.paper}: computing part {wildcards.part} of {wildcards.parts} of {wildcards.name}"
    shell:
        "dpbandits run {wildcards.paper} {wildcards.name} {params.options}"
        " --part {wildcards.part}/{wildcards.parts} --fingerprint {params.fingerprint}"
        " --workers {threads} --log {log}"


rule results:
    input:
        kernels=ancient(OUTPUTS.kernels_marker()),
        epoch=OUTPUTS.epoch(),
        tuned=lambda w: OUTPUTS.tuned_by(w.paper, w.name),
        parts=lambda w: JOBS.part_markers(w.paper, w.name),
    output:
        OUTPUTS.results_pattern(),
    log:
        "logs/{paper}/{name}.log",
    conda:
        "../../environment.yml"
    threads: lambda w: JOBS.threads(w.paper, w.name)
    resources:
        mem_mb=lambda w, threads, attempt: JOBS.memory(
            w.paper, w.name, threads, attempt
        ),
        runtime=lambda w, threads, attempt: JOBS.minutes(
            w.paper, w.name, threads, attempt
        ),
    params:
        fingerprint=lambda w: PROJECT.results_fingerprint(w.paper, w.name),
        options=OUTPUTS.options(),
    message:
        "{wildcards.paper}: computing {wildcards.name}"
    shell:
        "dpbandits run {wildcards.paper} {wildcards.name} {params.options}"
        " --fingerprint {params.fingerprint} --workers {threads} --log {log}"
