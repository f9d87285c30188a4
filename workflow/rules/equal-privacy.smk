# Ours, in none of the papers: their regret algorithms side by side at one privacy budget.
# What is drawn and written stands in config/comparisons/equal-privacy.yaml.


# Regret against epsilon on the Bernoulli arms of three papers.
rule equal_privacy_extra_equal_privacy:
    input:
        OUTPUTS.figure_inputs("equal-privacy", "extra-equal-privacy"),
    output:
        published("equal-privacy", "extra-equal-privacy"),
    log:
        "logs/equal-privacy/extra-equal-privacy.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint(
            "equal-privacy", "extra-equal-privacy"
        ),
        caption=OUTPUTS.caption("equal-privacy", "extra-equal-privacy"),
        options=OUTPUTS.options(),
    message:
        "equal-privacy: drawing extra-equal-privacy"
    shell:
        "dpbandits draw equal-privacy extra-equal-privacy {params.options} --log {log}"


# The numbers of the figure.
rule equal_privacy_table_extra_equal_privacy:
    input:
        OUTPUTS.table_inputs("equal-privacy", "extra-equal-privacy"),
    output:
        tabulated("equal-privacy", "extra-equal-privacy"),
    log:
        "logs/equal-privacy/table-extra-equal-privacy.log",
    conda:
        "../../environment.yml"
    params:
        made_from=lambda w: OUTPUTS.table_made_from(
            "equal-privacy", "extra-equal-privacy"
        ),
        caption=OUTPUTS.table_caption("equal-privacy", "extra-equal-privacy"),
        options=OUTPUTS.options(),
    message:
        "equal-privacy: writing the table extra-equal-privacy"
    shell:
        "dpbandits tabulate equal-privacy extra-equal-privacy {params.options} --log {log}"


# Levels and tuned parameters.
rule equal_privacy_table_extra_tuning:
    input:
        OUTPUTS.table_inputs("equal-privacy", "extra-tuning"),
    output:
        tabulated("equal-privacy", "extra-tuning"),
    log:
        "logs/equal-privacy/table-extra-tuning.log",
    conda:
        "../../environment.yml"
    params:
        made_from=lambda w: OUTPUTS.table_made_from("equal-privacy", "extra-tuning"),
        caption=OUTPUTS.table_caption("equal-privacy", "extra-tuning"),
        options=OUTPUTS.options(),
    message:
        "equal-privacy: writing the table extra-tuning"
    shell:
        "dpbandits tabulate equal-privacy extra-tuning {params.options} --log {log}"
