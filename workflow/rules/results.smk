# Simulations and exactly computed results: results/PAPER/NAME.parquet.
SETS = {
    f"{target.paper}/{target.name}": target
    for target in TARGETS
    if target.kind == "results"
}


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
    threads: lambda w: SETS[w.result].threads
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
