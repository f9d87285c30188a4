# Verdicts on every paper's claims, and published readings beside ours.


rule claims:
    input:
        lambda w: OUTPUTS.ledger_inputs(w.paper),
    output:
        OUTPUTS.ledger("{paper}"),
    log:
        "logs/{paper}/claims.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.ledger_fingerprint(w.paper),
        options=OUTPUTS.options(),
    message:
        "{wildcards.paper}: judging every claim"
    shell:
        "dpbandits judge {wildcards.paper} {params.options} --log {log}"


rule readings:
    input:
        lambda w: OUTPUTS.readings_inputs(w.paper),
    output:
        OUTPUTS.readings("{paper}"),
    log:
        "logs/{paper}/readings.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.readings_fingerprint(w.paper),
        options=OUTPUTS.options(),
    message:
        "{wildcards.paper}: holding published readings against ours"
    shell:
        "dpbandits readings {wildcards.paper} {params.options} --log {log}"
