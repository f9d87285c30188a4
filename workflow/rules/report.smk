# Verdicts on every paper's claims, and digitised values compared with ours.

CLAIMS_FILES = ("claims", "simultaneous", "evidence", "findings")


rule claims:
    input:
        lambda w: verdicts(w).inputs,
    output:
        results("{paper}", *CLAIMS_FILES, suffix="csv"),
    log:
        "logs/{paper}/claims.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=lambda w, threads, attempt: JOBS.memory(verdicts(w), threads, attempt),
        runtime=lambda w, threads, attempt: JOBS.minutes(verdicts(w), threads, attempt),
    params:
        depends_on=lambda w, output: target(output[0]).depends_on,
        options=JOBS.options(),
    message:
        "{wildcards.paper}: judging every claim"
    shell:
        "dpbandits judge {wildcards.paper} {params.options} --log {log}"


# The verdicts on the claims of all chosen papers in one table; its page goes into the report.
rule ledger:
    input:
        [
            results(paper, *CLAIMS_FILES[:2], suffix="csv")
            for paper in PROJECT.selected()[0]
        ],
    output:
        results("", "claims", suffix="csv"),
        table("", "claims", category="claims"),
    log:
        "logs/ledger.log",
    conda:
        "../../environment.yml"
    params:
        caption=lambda w, output: target(output[0]).caption,
        depends_on=lambda w, output: target(output[0]).depends_on,
        options=JOBS.choice(),
    message:
        "gathering the verdicts of all papers"
    shell:
        "dpbandits ledger {params.options} --log {log}"


rule digitised:
    input:
        lambda w: target(*results(w.paper, "digitised", suffix="csv")).inputs,
    output:
        results("{paper}", "digitised", suffix="csv"),
    log:
        "logs/{paper}/digitised.log",
    conda:
        "../../environment.yml"
    params:
        depends_on=lambda w, output: target(output[0]).depends_on,
        options=JOBS.options(),
    message:
        "{wildcards.paper}: comparing digitised values with ours"
    shell:
        "dpbandits digitised {wildcards.paper} {params.options} --log {log}"


# Every figure and table, the ledger, methods and provenance as one PDF.
rule pdf:
    input:
        chosen(extra=False),
        chosen(extra=True),
    output:
        results("", "report", suffix="pdf"),
        results("", "report", suffix="tex"),
    log:
        "logs/report.log",
    conda:
        "../../environment.yml"
    params:
        depends_on=lambda w, output: target(output[0]).depends_on,
        options=JOBS.choice(),
    message:
        "typesetting the report"
    shell:
        "dpbandits typeset {params.options} --log {log}"
