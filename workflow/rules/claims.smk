# Verdicts on the claims of each paper (ts_is_dp_claims) and what was found beyond them, digitised values compared with ours
# (dp_ncb_digitised), and the ledger of all papers.
COMMANDS_OF_CLAIMS = {
    "claims": "judge",
    "findings": "judge --findings",
    "digitised": "digitised",
    "ledger": "ledger",
}
CHOICE = (
    f"--papers {' '.join(PROJECT.chosen)} --comparisons {' '.join(PROJECT.comparisons)}"
)

for target in TARGETS:
    if target.kind in COMMANDS_OF_CLAIMS:

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
                        if path == target.files[0] and target.kind == "ledger"
                        else path
                    )
                    for path in target.files
                ],
            log:
                f"logs/{target.paper}/{target.rule}.log",
            params:
                command=COMMANDS_OF_CLAIMS[target.kind],
                papers=CHOICE if target.paper == "all" else target.paper,
                options=OPTIONS,
                caption=target.caption,
                depends_on=target.depends_on,
            shell:
                "dpbandits {params.command} {params.papers} {params.options} &> {log}"
