# Simulations and exactly computed results: results/PAPER/NAME.parquet, the longest first. On one
# machine each has half of the cores, up to 8: another job fills what it leaves idle. The longest has
# all, up to 8, or the others would end long before it. Short ones (`SHORT`, by
# docs/cost.csv) of one paper and goal are one job, as dp_ncb_figures_results.
SHARED = shared_jobs(PROJECT, TARGETS)
IN_SHARED = {
    path for group in SHARED.values() for target in group for path in target.files
}
SETS = {
    f"{target.paper}/{target.name}": target
    for target in TARGETS
    if target.kind == "results" and target.files[0] not in IN_SHARED
}
SECONDS = published_seconds(PROJECT)
CORES = workflow.resource_settings.cores
IS_LOCAL = CORES and not workflow.remote_exec
MOST_THREADS = {result: max(1, CORES // 2) if IS_LOCAL else THREADS for result in SETS}
if SETS and IS_LOCAL:
    MOST_THREADS[max(SETS, key=lambda result: SECONDS.get(result, 0))] = CORES

for name, group in SHARED.items():
    made = {path for target in group for path in target.files}

    rule:
        name:
            name
        input:
            [path for target in group for path in target.inputs if path not in made],
        output:
            list(made),
        log:
            f"logs/{group[0].paper}/{name}.log",
        priority: sum(SECONDS.get(f"{group[0].paper}/{each.name}", 0) for each in group)
        params:
            paper=group[0].paper,
            names=[target.name for target in group],
            options=OPTIONS,
            depends_on=[target.depends_on for target in group],
        shell:
            "dpbandits run {params.paper} {params.names} {params.options} &> {log}"


if SETS:

    # Kernels are compiled by the first job that plays them; others wait for it.
    rule results:
        input:
            lambda w: SETS[w.result].inputs,
        output:
            f"{RESULTS}/{{result}}.parquet",
        log:
            "logs/{result}.log",
        wildcard_constraints:
            result="|".join(SETS),
        priority: lambda w: SECONDS.get(w.result, 0)
        threads: lambda w: min(SETS[w.result].threads, MOST_THREADS[w.result])
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
