# Kernels, simulations and exactly computed results of every paper.


wildcard_constraints:
    paper="|".join([*PROJECT.papers, *COMPARISONS]),
    name="[a-z0-9-]+",
    shard="[0-9]+",
    shards="[0-9]+",


# Compiled once before jobs fan out. Later edits are compiled by the job that needs them, so that
# an edited kernel reruns only the simulations that use it; so are those of papers that are chosen later.
rule kernels:
    output:
        touch(KERNELS),
    log:
        "logs/kernels.log",
    conda:
        "../../environment.yml"
    threads: 2
    params:
        options=JOBS.kernels_choice(),
    message:
        "compiling the kernels of the chosen papers"
    shell:
        "dpbandits kernels {params.options} --workers {threads} --log {log}"


# Shard of a simulation that is split over several jobs: its batches go into the cache.
rule shard:
    input:
        kernels=ancient(KERNELS),
        epoch=EPOCH,
        tuned=lambda w: simulation(w).inputs,
    output:
        touch(JOBS.shard_pattern()),
    log:
        "logs/{paper}/{name}.{shard}-of-{shards}.log",
    conda:
        "../../environment.yml"
    threads: lambda w: JOBS.threads(simulation(w))
    resources:
        mem_mb=lambda w, threads, attempt: JOBS.memory(simulation(w), threads, attempt),
        runtime=lambda w, threads, attempt: JOBS.minutes(
            simulation(w), threads, attempt, int(w.shards)
        ),
    params:
        fingerprint=lambda w: simulation(w).depends_on[w.name],
        options=JOBS.options(),
    message:
        "{wildcards.paper}: computing shard {wildcards.shard} of {wildcards.shards} of {wildcards.name}"
    shell:
        "dpbandits run {wildcards.paper} {wildcards.name} {params.options}"
        " --shard {wildcards.shard}/{wildcards.shards} --fingerprint {params.fingerprint}"
        " --workers {threads} --log {log}"


rule results:
    input:
        kernels=ancient(KERNELS),
        epoch=EPOCH,
        tuned=lambda w: simulation(w).inputs,
        shards=lambda w: JOBS.shard_markers(simulation(w)),
    output:
        results("{paper}", "{name}"),
    log:
        "logs/{paper}/{name}.log",
    conda:
        "../../environment.yml"
    threads: lambda w: JOBS.threads(simulation(w))
    resources:
        mem_mb=lambda w, threads, attempt: JOBS.memory(simulation(w), threads, attempt),
        runtime=lambda w, threads, attempt: JOBS.minutes(
            simulation(w), threads, attempt
        ),
    params:
        fingerprint=lambda w: simulation(w).depends_on[w.name],
        options=JOBS.options(),
    message:
        "{wildcards.paper}: computing {wildcards.name}"
    shell:
        "dpbandits run {wildcards.paper} {wildcards.name} {params.options}"
        " --fingerprint {params.fingerprint} --workers {threads} --log {log}"
