# Kernels, simulations and exactly computed results of every paper.


wildcard_constraints:
    paper="[a-z0-9-]+",
    name="[a-z0-9-]+",


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


rule results:
    input:
        kernels=ancient(OUTPUTS.kernels_marker()),
        tuned=lambda w: OUTPUTS.tuned_by(w.paper, w.name),
    output:
        OUTPUTS.results_pattern(),
    log:
        "logs/{paper}/{name}.log",
    conda:
        "../../environment.yml"
    threads: lambda w: OUTPUTS.threads(w.paper, w.name)
    params:
        fingerprint=lambda w: PROJECT.results_fingerprint(w.paper, w.name),
        options=OUTPUTS.options(),
    message:
        "{wildcards.paper}: computing {wildcards.name}"
    shell:
        "dpbandits run {wildcards.paper} {wildcards.name} {params.options}"
        " --workers {threads} --log {log}"
