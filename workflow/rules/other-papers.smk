# Figures and tables of papers without a file of rules here: what these state literally is taken
# from the config.

for each in TARGETS:
    if each.kind in ("figure", "table") and not has_rules(each.paper):

        rule:
            name:
                each.rule
            input:
                list(map(str, each.inputs)),
            output:
                outputs(each),
            log:
                log_of(each),
            conda:
                "../../environment.yml"
            params:
                paper=lambda w, output: target(output[0]).paper,
                name=lambda w, output: target(output[0]).name,
                caption=lambda w, output: target(output[0]).caption,
                depends_on=lambda w, output: target(output[0]).depends_on,
                command="draw" if each.kind == "figure" else "tabulate",
                options=JOBS.options(),
            message:
                "{params.paper}: {params.command} {params.name}"
            shell:
                "dpbandits {params.command} {params.paper} {params.name} {params.options} --log {log}"
