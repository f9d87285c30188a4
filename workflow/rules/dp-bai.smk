# "Fixed-Budget Differentially Private Best Arm Identification": one rule per figure or table.
# What each draws stands in config/papers/dp-bai/experiments.yaml under figures: and tables:.


# Figure 1: success against the budget and against epsilon, 30 arms in the plane.
rule dp_bai_fig1:
    input:
        OUTPUTS.figure_inputs("dp-bai", "fig1"),
    output:
        published("dp-bai", "fig1"),
    log:
        "logs/dp-bai/fig1.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("dp-bai", "fig1"),
        caption=OUTPUTS.caption("dp-bai", "fig1"),
        options=OUTPUTS.options(),
    message:
        "dp-bai: drawing fig1"
    shell:
        "dpbandits draw dp-bai fig1 {params.options} --log {log}"


# Figure 2: success against the budget for four ratios of two arms' lengths.
rule dp_bai_fig2:
    input:
        OUTPUTS.figure_inputs("dp-bai", "fig2"),
    output:
        published("dp-bai", "fig2"),
    log:
        "logs/dp-bai/fig2.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("dp-bai", "fig2"),
        caption=OUTPUTS.caption("dp-bai", "fig2"),
        options=OUTPUTS.options(),
    message:
        "dp-bai: drawing fig2"
    shell:
        "dpbandits draw dp-bai fig2 {params.options} --log {log}"


# Ours: success against the ratio of the lengths.
rule dp_bai_extra_ratios:
    input:
        OUTPUTS.figure_inputs("dp-bai", "extra-ratios"),
    output:
        published("dp-bai", "extra-ratios"),
    log:
        "logs/dp-bai/extra-ratios.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("dp-bai", "extra-ratios"),
        caption=OUTPUTS.caption("dp-bai", "extra-ratios"),
        options=OUTPUTS.options(),
    message:
        "dp-bai: drawing extra-ratios"
    shell:
        "dpbandits draw dp-bai extra-ratios {params.options} --log {log}"


# Ours: success where T epsilon is below 10.
rule dp_bai_extra_corner:
    input:
        OUTPUTS.figure_inputs("dp-bai", "extra-corner"),
    output:
        published("dp-bai", "extra-corner"),
    log:
        "logs/dp-bai/extra-corner.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("dp-bai", "extra-corner"),
        caption=OUTPUTS.caption("dp-bai", "extra-corner"),
        options=OUTPUTS.options(),
    message:
        "dp-bai: drawing extra-corner"
    shell:
        "dpbandits draw dp-bai extra-corner {params.options} --log {log}"


# Ours: DP-BAI-Gauss beside DP-BAI.
rule dp_bai_extra_gauss:
    input:
        OUTPUTS.figure_inputs("dp-bai", "extra-gauss"),
    output:
        published("dp-bai", "extra-gauss"),
    log:
        "logs/dp-bai/extra-gauss.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("dp-bai", "extra-gauss"),
        caption=OUTPUTS.caption("dp-bai", "extra-gauss"),
        options=OUTPUTS.options(),
    message:
        "dp-bai: drawing extra-gauss"
    shell:
        "dpbandits draw dp-bai extra-gauss {params.options} --log {log}"


# Ours: instances that take several phases.
rule dp_bai_extra_phases:
    input:
        OUTPUTS.figure_inputs("dp-bai", "extra-phases"),
    output:
        published("dp-bai", "extra-phases"),
    log:
        "logs/dp-bai/extra-phases.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("dp-bai", "extra-phases"),
        caption=OUTPUTS.caption("dp-bai", "extra-phases"),
        options=OUTPUTS.options(),
    message:
        "dp-bai: drawing extra-phases"
    shell:
        "dpbandits draw dp-bai extra-phases {params.options} --log {log}"


# Ours: success over fifty draws of the omegas.
rule dp_bai_extra_omega:
    input:
        OUTPUTS.figure_inputs("dp-bai", "extra-omega"),
    output:
        published("dp-bai", "extra-omega"),
    log:
        "logs/dp-bai/extra-omega.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("dp-bai", "extra-omega"),
        caption=OUTPUTS.caption("dp-bai", "extra-omega"),
        options=OUTPUTS.options(),
    message:
        "dp-bai: drawing extra-omega"
    shell:
        "dpbandits draw dp-bai extra-omega {params.options} --log {log}"


# Ours: Table 1 as a map.
rule dp_bai_extra_regimes:
    input:
        OUTPUTS.figure_inputs("dp-bai", "extra-regimes"),
    output:
        published("dp-bai", "extra-regimes"),
    log:
        "logs/dp-bai/extra-regimes.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("dp-bai", "extra-regimes"),
        caption=OUTPUTS.caption("dp-bai", "extra-regimes"),
        options=OUTPUTS.options(),
    message:
        "dp-bai: drawing extra-regimes"
    shell:
        "dpbandits draw dp-bai extra-regimes {params.options} --log {log}"


# Ours: budgets needed against rho/epsilon.
rule dp_bai_extra_budgets_ratio:
    input:
        OUTPUTS.figure_inputs("dp-bai", "extra-budgets-ratio"),
    output:
        published("dp-bai", "extra-budgets-ratio"),
    log:
        "logs/dp-bai/extra-budgets-ratio.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint(
            "dp-bai", "extra-budgets-ratio"
        ),
        caption=OUTPUTS.caption("dp-bai", "extra-budgets-ratio"),
        options=OUTPUTS.options(),
    message:
        "dp-bai: drawing extra-budgets-ratio"
    shell:
        "dpbandits draw dp-bai extra-budgets-ratio {params.options} --log {log}"


# Ours: budgets needed against epsilon and Delta.
rule dp_bai_extra_budgets_hardness:
    input:
        OUTPUTS.figure_inputs("dp-bai", "extra-budgets-hardness"),
    output:
        published("dp-bai", "extra-budgets-hardness"),
    log:
        "logs/dp-bai/extra-budgets-hardness.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint(
            "dp-bai", "extra-budgets-hardness"
        ),
        caption=OUTPUTS.caption("dp-bai", "extra-budgets-hardness"),
        options=OUTPUTS.options(),
    message:
        "dp-bai: drawing extra-budgets-hardness"
    shell:
        "dpbandits draw dp-bai extra-budgets-hardness {params.options} --log {log}"


# Ours: the error beside its bound.
rule dp_bai_extra_bound:
    input:
        OUTPUTS.figure_inputs("dp-bai", "extra-bound"),
    output:
        published("dp-bai", "extra-bound"),
    log:
        "logs/dp-bai/extra-bound.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("dp-bai", "extra-bound"),
        caption=OUTPUTS.caption("dp-bai", "extra-bound"),
        options=OUTPUTS.options(),
    message:
        "dp-bai: drawing extra-bound"
    shell:
        "dpbandits draw dp-bai extra-bound {params.options} --log {log}"


# Ours: the log error against T.
rule dp_bai_extra_log_error:
    input:
        OUTPUTS.figure_inputs("dp-bai", "extra-log-error"),
    output:
        published("dp-bai", "extra-log-error"),
    log:
        "logs/dp-bai/extra-log-error.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("dp-bai", "extra-log-error"),
        caption=OUTPUTS.caption("dp-bai", "extra-log-error"),
        options=OUTPUTS.options(),
    message:
        "dp-bai: drawing extra-log-error"
    shell:
        "dpbandits draw dp-bai extra-log-error {params.options} --log {log}"


# Ours: the delta that DP-BAI-Gauss needs.
rule dp_bai_extra_gauss_delta:
    input:
        OUTPUTS.figure_inputs("dp-bai", "extra-gauss-delta"),
    output:
        published("dp-bai", "extra-gauss-delta"),
    log:
        "logs/dp-bai/extra-gauss-delta.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("dp-bai", "extra-gauss-delta"),
        caption=OUTPUTS.caption("dp-bai", "extra-gauss-delta"),
        options=OUTPUTS.options(),
    message:
        "dp-bai: drawing extra-gauss-delta"
    shell:
        "dpbandits draw dp-bai extra-gauss-delta {params.options} --log {log}"


# Table 1: which of two bounds is the tighter one, with the cases counted that bear it out.
rule dp_bai_table_table1:
    input:
        OUTPUTS.table_inputs("dp-bai", "table1"),
    output:
        tabulated("dp-bai", "table1"),
    log:
        "logs/dp-bai/table-table1.log",
    conda:
        "../../environment.yml"
    params:
        made_from=lambda w: OUTPUTS.table_made_from("dp-bai", "table1"),
        caption=OUTPUTS.table_caption("dp-bai", "table1"),
        options=OUTPUTS.options(),
    message:
        "dp-bai: writing the table table1"
    shell:
        "dpbandits tabulate dp-bai table1 {params.options} --log {log}"


# The example of Appendix B, printed and computed.
rule dp_bai_table_appendix_b:
    input:
        OUTPUTS.table_inputs("dp-bai", "appendix-b"),
    output:
        tabulated("dp-bai", "appendix-b"),
    log:
        "logs/dp-bai/table-appendix-b.log",
    conda:
        "../../environment.yml"
    params:
        made_from=lambda w: OUTPUTS.table_made_from("dp-bai", "appendix-b"),
        caption=OUTPUTS.table_caption("dp-bai", "appendix-b"),
        options=OUTPUTS.options(),
    message:
        "dp-bai: writing the table appendix-b"
    shell:
        "dpbandits tabulate dp-bai appendix-b {params.options} --log {log}"


# Ours: what one changed interpretation does to the success rate.
rule dp_bai_table_extra_interpretations:
    input:
        OUTPUTS.table_inputs("dp-bai", "extra-interpretations"),
    output:
        tabulated("dp-bai", "extra-interpretations"),
    log:
        "logs/dp-bai/table-extra-digitised.log",
    conda:
        "../../environment.yml"
    params:
        made_from=lambda w: OUTPUTS.table_made_from("dp-bai", "extra-interpretations"),
        caption=OUTPUTS.table_caption("dp-bai", "extra-interpretations"),
        options=OUTPUTS.options(),
    message:
        "dp-bai: writing the table extra-interpretations"
    shell:
        "dpbandits tabulate dp-bai extra-interpretations {params.options} --log {log}"


# Ours: pulls beyond the budget.
rule dp_bai_table_extra_overshoot:
    input:
        OUTPUTS.table_inputs("dp-bai", "extra-overshoot"),
    output:
        tabulated("dp-bai", "extra-overshoot"),
    log:
        "logs/dp-bai/table-extra-overshoot.log",
    conda:
        "../../environment.yml"
    params:
        made_from=lambda w: OUTPUTS.table_made_from("dp-bai", "extra-overshoot"),
        caption=OUTPUTS.table_caption("dp-bai", "extra-overshoot"),
        options=OUTPUTS.options(),
    message:
        "dp-bai: writing the table extra-overshoot"
    shell:
        "dpbandits tabulate dp-bai extra-overshoot {params.options} --log {log}"


# Ours: the verdicts as a table.
rule dp_bai_table_claims:
    input:
        OUTPUTS.table_inputs("dp-bai", "claims"),
    output:
        tabulated("dp-bai", "claims"),
    log:
        "logs/dp-bai/table-claims.log",
    conda:
        "../../environment.yml"
    params:
        made_from=lambda w: OUTPUTS.table_made_from("dp-bai", "claims"),
        caption=OUTPUTS.table_caption("dp-bai", "claims"),
        options=OUTPUTS.options(),
    message:
        "dp-bai: writing the table claims"
    shell:
        "dpbandits tabulate dp-bai claims {params.options} --log {log}"
