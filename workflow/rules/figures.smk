# What every rule of a figure or table inherits, each with its input, output and log.


# Inherited by every figure.
rule draw:
    log:
        "logs/draw.log",
    conda:
        "../../environment.yml"
    params:
        paper=lambda w, output: target(output[0]).paper,
        name=lambda w, output: target(output[0]).name,
        caption=lambda w, output: target(output[0]).caption,
        depends_on=lambda w, output: target(output[0]).depends_on,
        options=JOBS.options(),
    message:
        "{params.paper}: drawing {params.name}"
    shell:
        "dpbandits draw {params.paper} {params.name} {params.options} --log {log}"


# Inherited by every table.
rule tabulate:
    log:
        "logs/tabulate.log",
    conda:
        "../../environment.yml"
    params:
        paper=lambda w, output: target(output[0]).paper,
        name=lambda w, output: target(output[0]).name,
        caption=lambda w, output: target(output[0]).caption,
        depends_on=lambda w, output: target(output[0]).depends_on,
        options=JOBS.options(),
    message:
        "{params.paper}: writing the table {params.name}"
    shell:
        "dpbandits tabulate {params.paper} {params.name} {params.options} --log {log}"
