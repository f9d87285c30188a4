# Verdicts on the claims of each paper (ts_is_dp_claims), digitised values compared with ours
# (dp_ncb_digitised), the ledger of all papers, and everything as one PDF.
CHOICE = (
    f"--papers {' '.join(PROJECT.chosen)} --comparisons {' '.join(PROJECT.comparisons)}"
)

COMMANDS_OF_PAPER = {"claims": "judge", "digitised": "digitised"}

for target in TARGETS:
    if target.kind in COMMANDS_OF_PAPER:

        rule:
            name:
                target.rule
            input:
                target.inputs,
            output:
                target.files,
            log:
                f"logs/{target.paper}/{target.rule}.log",
            benchmark:
                timing_path(PROJECT, target)
            params:
                command=COMMANDS_OF_PAPER[target.kind],
                paper=target.paper,
                options=OPTIONS,
                depends_on=target.depends_on,
            shell:
                "dpbandits {params.command} {params.paper} {params.options} &> {log}"

    elif target.kind == "ledger":

        rule:
            name:
                target.rule
            input:
                target.inputs,
            output:
                [
                    (
                        report(
                            path,
                            caption="../report/table.rst",
                            category="claims",
                            labels={"figure": "claims", "panel": "table"},
                        )
                        if path.suffix == ".html"
                        else path
                    )
                    for path in target.files
                ],
            log:
                "logs/ledger.log",
            benchmark:
                timing_path(PROJECT, target)
            params:
                options=f"{OPTIONS} {CHOICE}",
                caption=target.caption,
                depends_on=target.depends_on,
            shell:
                "dpbandits ledger {params.options} &> {log}"

    elif target.kind == "report":

        rule:
            name:
                target.rule
            input:
                target.inputs,
            output:
                target.files,
            log:
                "logs/pdf.log",
            benchmark:
                timing_path(PROJECT, target)
            params:
                options=f"{OPTIONS} {CHOICE}",
                depends_on=target.depends_on,
            shell:
                "dpbandits typeset {params.options} &> {log}"
