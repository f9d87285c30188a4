# Simulations and exactly computed results: results/PAPER/NAME.parquet, the longest first. On one
# machine each has half of the cores: another job fills what it leaves idle.
SETS = {
    f"{target.paper}/{target.name}": target
    for target in TARGETS
    if target.kind == "results"
}
SECONDS = published_seconds(PROJECT)
CORES = workflow.resource_settings.cores
MOST_THREADS = max(1, CORES // 2) if CORES and not workflow.remote_exec else THREADS


# Kernels are compiled by the first job that plays them; others wait for it.
rule results:
    input:
        lambda w: SETS[w.result].inputs,
    output:
        f"{RESULTS}/{{result}}.parquet",
    log:
        "logs/{result}.log",
    benchmark:
        f"{RESULTS}/timings/results/{{result}}.tsv"
    wildcard_constraints:
        result="|".join(SETS),
    priority: lambda w: SECONDS.get(w.result, 0)
    threads: lambda w: min(SETS[w.result].threads, MOST_THREADS)
    resources:
        mem_mb=lambda w, threads, attempt: 1000 * (1 + threads) * attempt,
        runtime=lambda w, attempt: 60 * attempt,
    params:
        paper=lambda w: SETS[w.result].paper,
        name=lambda w: SETS[w.result].name,
        options=OPTIONS,
        depends_on=lambda w: SETS[w.result].depends_on,
    shell:
        "dpbandits run {params.paper} {params.name} {params.options} --workers {threads} &> {log}"
