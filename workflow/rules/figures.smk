# A rule for each figure and table of a paper: ts_is_dp_fig2, dp_bai_table_table1. What it reads
# and shows is in config/papers/NAME/experiments.yaml under figures: and tables:.
COMMANDS = {"figure": "draw", "table": "tabulate"}
REPORTED = {"figure": ".png", "table": ".csv"}

for target in TARGETS:
    if target.kind in COMMANDS:

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
                            caption=f"../report/{target.kind}.rst",
                            category=target.paper,
                            labels={"figure": target.name, "panel": path.stem},
                        )
                        if path.suffix == REPORTED[target.kind]
                        else path
                    )
                    for path in target.files
                ],
            log:
                f"logs/{target.paper}/{target.rule}.log",
            params:
                command=COMMANDS[target.kind],
                paper=target.paper,
                name=target.name,
                options=OPTIONS,
                caption=target.caption,
                depends_on=target.depends_on,
            shell:
                "dpbandits {params.command} {params.paper} {params.name} {params.options} &> {log}"
