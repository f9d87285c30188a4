# Verdicts on every paper's claims.


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
