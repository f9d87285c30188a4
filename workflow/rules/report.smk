# Verdicts on every paper's claims, and digitised values compared with ours.


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


# The verdicts on the claims of all chosen papers in one table; its page goes into the report.
rule ledger:
    input:
        OUTPUTS.whole_ledger_inputs(),
    output:
        whole_ledger(),
    log:
        "logs/ledger.log",
    conda:
        "../../environment.yml"
    params:
        made_from=lambda w: OUTPUTS.whole_ledger_made_from(),
        caption=OUTPUTS.whole_ledger_caption(),
        options=OUTPUTS.choice(),
    message:
        "gathering the verdicts of all papers"
    shell:
        "dpbandits ledger {params.options} --log {log}"


rule digitised:
    input:
        lambda w: OUTPUTS.digitised_inputs(w.paper),
    output:
        OUTPUTS.digitised("{paper}"),
    log:
        "logs/{paper}/digitised.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.digitised_fingerprint(w.paper),
        options=OUTPUTS.options(),
    message:
        "{wildcards.paper}: comparing digitised values with ours"
    shell:
        "dpbandits digitised {wildcards.paper} {params.options} --log {log}"


# Every figure and table, the ledger, methods and provenance as one PDF.
rule pdf:
    input:
        OUTPUTS.report_inputs(),
    output:
        OUTPUTS.report(),
    log:
        "logs/report.log",
    conda:
        "../../environment.yml"
    params:
        made_from=lambda w: OUTPUTS.report_made_from(),
        options=OUTPUTS.choice(),
    message:
        "typesetting the report"
    shell:
        "dpbandits typeset {params.options} --log {log}"
