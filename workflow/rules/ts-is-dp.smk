# "Thompson Sampling Itself is Differentially Private": one rule per figure or table.
# What each draws is in config/papers/ts-is-dp/experiments.yaml under figures:.


# Figure 1: epsilon against delta: Theorem 4 with b or c away from (0, 1).
rule ts_is_dp_fig1:
    input:
        OUTPUTS.figure_inputs("ts-is-dp", "fig1"),
    output:
        published("ts-is-dp", "fig1"),
    log:
        "logs/ts-is-dp/fig1.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("ts-is-dp", "fig1"),
        caption=OUTPUTS.caption("ts-is-dp", "fig1"),
        options=OUTPUTS.options(),
    message:
        "ts-is-dp: drawing fig1"
    shell:
        "dpbandits draw ts-is-dp fig1 {params.options} --log {log}"


# Figure 2: regret over time, Bernoulli arms.
rule ts_is_dp_fig2:
    input:
        OUTPUTS.figure_inputs("ts-is-dp", "fig2"),
    output:
        published("ts-is-dp", "fig2"),
    log:
        "logs/ts-is-dp/fig2.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("ts-is-dp", "fig2"),
        caption=OUTPUTS.caption("ts-is-dp", "fig2"),
        options=OUTPUTS.options(),
    message:
        "ts-is-dp: drawing fig2"
    shell:
        "dpbandits draw ts-is-dp fig2 {params.options} --log {log}"


# Figure 3: final regret against eta, Bernoulli arms.
rule ts_is_dp_fig3:
    input:
        OUTPUTS.figure_inputs("ts-is-dp", "fig3"),
    output:
        published("ts-is-dp", "fig3"),
    log:
        "logs/ts-is-dp/fig3.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("ts-is-dp", "fig3"),
        caption=OUTPUTS.caption("ts-is-dp", "fig3"),
        options=OUTPUTS.options(),
    message:
        "ts-is-dp: drawing fig3"
    shell:
        "dpbandits draw ts-is-dp fig3 {params.options} --log {log}"


# Figure 4: regret over time, truncated exponential arms.
rule ts_is_dp_fig4:
    input:
        OUTPUTS.figure_inputs("ts-is-dp", "fig4"),
    output:
        published("ts-is-dp", "fig4"),
    log:
        "logs/ts-is-dp/fig4.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("ts-is-dp", "fig4"),
        caption=OUTPUTS.caption("ts-is-dp", "fig4"),
        options=OUTPUTS.options(),
    message:
        "ts-is-dp: drawing fig4"
    shell:
        "dpbandits draw ts-is-dp fig4 {params.options} --log {log}"


# Figure 5: final regret against eta, truncated exponential arms.
rule ts_is_dp_fig5:
    input:
        OUTPUTS.figure_inputs("ts-is-dp", "fig5"),
    output:
        published("ts-is-dp", "fig5"),
    log:
        "logs/ts-is-dp/fig5.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("ts-is-dp", "fig5"),
        caption=OUTPUTS.caption("ts-is-dp", "fig5"),
        options=OUTPUTS.options(),
    message:
        "ts-is-dp: drawing fig5"
    shell:
        "dpbandits draw ts-is-dp fig5 {params.options} --log {log}"


# Figure 6: epsilon against delta by three analyses.
rule ts_is_dp_fig6:
    input:
        OUTPUTS.figure_inputs("ts-is-dp", "fig6"),
    output:
        published("ts-is-dp", "fig6"),
    log:
        "logs/ts-is-dp/fig6.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("ts-is-dp", "fig6"),
        caption=OUTPUTS.caption("ts-is-dp", "fig6"),
        options=OUTPUTS.options(),
    message:
        "ts-is-dp: drawing fig6"
    shell:
        "dpbandits draw ts-is-dp fig6 {params.options} --log {log}"


# Figure 7: epsilon against delta by two analyses.
rule ts_is_dp_fig7:
    input:
        OUTPUTS.figure_inputs("ts-is-dp", "fig7"),
    output:
        published("ts-is-dp", "fig7"),
    log:
        "logs/ts-is-dp/fig7.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("ts-is-dp", "fig7"),
        caption=OUTPUTS.caption("ts-is-dp", "fig7"),
        options=OUTPUTS.options(),
    message:
        "ts-is-dp: drawing fig7"
    shell:
        "dpbandits draw ts-is-dp fig7 {params.options} --log {log}"


# Figure 8: the tuned algorithm against DP-SE and Anytime-Lazy-UCB.
rule ts_is_dp_fig8:
    input:
        OUTPUTS.figure_inputs("ts-is-dp", "fig8"),
    output:
        published("ts-is-dp", "fig8"),
    log:
        "logs/ts-is-dp/fig8.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("ts-is-dp", "fig8"),
        caption=OUTPUTS.caption("ts-is-dp", "fig8"),
        options=OUTPUTS.options(),
    message:
        "ts-is-dp: drawing fig8"
    shell:
        "dpbandits draw ts-is-dp fig8 {params.options} --log {log}"


# Supplementary: Figure 1 over a linear delta axis.
rule ts_is_dp_extra_fig1_linear:
    input:
        OUTPUTS.figure_inputs("ts-is-dp", "extra-fig1-linear"),
    output:
        published("ts-is-dp", "extra-fig1-linear"),
    log:
        "logs/ts-is-dp/extra-fig1-linear.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint(
            "ts-is-dp", "extra-fig1-linear"
        ),
        caption=OUTPUTS.caption("ts-is-dp", "extra-fig1-linear"),
        options=OUTPUTS.options(),
    message:
        "ts-is-dp: drawing extra-fig1-linear"
    shell:
        "dpbandits draw ts-is-dp extra-fig1-linear {params.options} --log {log}"


# Supplementary: Figure 2 with pseudo-regret in place of realised regret.
rule ts_is_dp_extra_fig2_pseudo:
    input:
        OUTPUTS.figure_inputs("ts-is-dp", "extra-fig2-pseudo"),
    output:
        published("ts-is-dp", "extra-fig2-pseudo"),
    log:
        "logs/ts-is-dp/extra-fig2-pseudo.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint(
            "ts-is-dp", "extra-fig2-pseudo"
        ),
        caption=OUTPUTS.caption("ts-is-dp", "extra-fig2-pseudo"),
        options=OUTPUTS.options(),
    message:
        "ts-is-dp: drawing extra-fig2-pseudo"
    shell:
        "dpbandits draw ts-is-dp extra-fig2-pseudo {params.options} --log {log}"


# Supplementary: Figure 6 with the corrected standard-DP curve.
rule ts_is_dp_extra_fig6_corrected:
    input:
        OUTPUTS.figure_inputs("ts-is-dp", "extra-fig6-corrected"),
    output:
        published("ts-is-dp", "extra-fig6-corrected"),
    log:
        "logs/ts-is-dp/extra-fig6-corrected.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint(
            "ts-is-dp", "extra-fig6-corrected"
        ),
        caption=OUTPUTS.caption("ts-is-dp", "extra-fig6-corrected"),
        options=OUTPUTS.options(),
    message:
        "ts-is-dp: drawing extra-fig6-corrected"
    shell:
        "dpbandits draw ts-is-dp extra-fig6-corrected {params.options} --log {log}"


# Supplementary: Figure 7 with one order for the whole Renyi curve, and in delta.
rule ts_is_dp_extra_fig7_order:
    input:
        OUTPUTS.figure_inputs("ts-is-dp", "extra-fig7-order"),
    output:
        published("ts-is-dp", "extra-fig7-order"),
    log:
        "logs/ts-is-dp/extra-fig7-order.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("ts-is-dp", "extra-fig7-order"),
        caption=OUTPUTS.caption("ts-is-dp", "extra-fig7-order"),
        options=OUTPUTS.options(),
    message:
        "ts-is-dp: drawing extra-fig7-order"
    shell:
        "dpbandits draw ts-is-dp extra-fig7-order {params.options} --log {log}"


# Supplementary: Figures 3 and 5 in pseudo-regret with the point that tunes b alone.
rule ts_is_dp_extra_fig3_b_alone:
    input:
        OUTPUTS.figure_inputs("ts-is-dp", "extra-fig3-b-alone"),
    output:
        published("ts-is-dp", "extra-fig3-b-alone"),
    log:
        "logs/ts-is-dp/extra-fig3-b-alone.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint(
            "ts-is-dp", "extra-fig3-b-alone"
        ),
        caption=OUTPUTS.caption("ts-is-dp", "extra-fig3-b-alone"),
        options=OUTPUTS.options(),
    message:
        "ts-is-dp: drawing extra-fig3-b-alone"
    shell:
        "dpbandits draw ts-is-dp extra-fig3-b-alone {params.options} --log {log}"


# Supplementary: standard error of a mean over ten runs.
rule ts_is_dp_extra_ten_runs:
    input:
        OUTPUTS.figure_inputs("ts-is-dp", "extra-ten-runs"),
    output:
        published("ts-is-dp", "extra-ten-runs"),
    log:
        "logs/ts-is-dp/extra-ten-runs.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("ts-is-dp", "extra-ten-runs"),
        caption=OUTPUTS.caption("ts-is-dp", "extra-ten-runs"),
        options=OUTPUTS.options(),
    message:
        "ts-is-dp: drawing extra-ten-runs"
    shell:
        "dpbandits draw ts-is-dp extra-ten-runs {params.options} --log {log}"


# Supplementary: regret of the best pair over that of (0, 1), by level.
rule ts_is_dp_extra_price_of_levels:
    input:
        OUTPUTS.figure_inputs("ts-is-dp", "extra-price-of-levels"),
    output:
        published("ts-is-dp", "extra-price-of-levels"),
    log:
        "logs/ts-is-dp/extra-price-of-levels.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint(
            "ts-is-dp", "extra-price-of-levels"
        ),
        caption=OUTPUTS.caption("ts-is-dp", "extra-price-of-levels"),
        options=OUTPUTS.options(),
    message:
        "ts-is-dp: drawing extra-price-of-levels"
    shell:
        "dpbandits draw ts-is-dp extra-price-of-levels {params.options} --log {log}"


# Supplementary: realised level of plain Thompson sampling, by horizon.
rule ts_is_dp_extra_realised_level:
    input:
        OUTPUTS.figure_inputs("ts-is-dp", "extra-realised-level"),
    output:
        published("ts-is-dp", "extra-realised-level"),
    log:
        "logs/ts-is-dp/extra-realised-level.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint(
            "ts-is-dp", "extra-realised-level"
        ),
        caption=OUTPUTS.caption("ts-is-dp", "extra-realised-level"),
        options=OUTPUTS.options(),
    message:
        "ts-is-dp: drawing extra-realised-level"
    shell:
        "dpbandits draw ts-is-dp extra-realised-level {params.options} --log {log}"


# Supplementary: true over claimed delta of report-noisy-max.
rule ts_is_dp_extra_report_noisy_max:
    input:
        OUTPUTS.figure_inputs("ts-is-dp", "extra-report-noisy-max"),
    output:
        published("ts-is-dp", "extra-report-noisy-max"),
    log:
        "logs/ts-is-dp/extra-report-noisy-max.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint(
            "ts-is-dp", "extra-report-noisy-max"
        ),
        caption=OUTPUTS.caption("ts-is-dp", "extra-report-noisy-max"),
        options=OUTPUTS.options(),
    message:
        "ts-is-dp: drawing extra-report-noisy-max"
    shell:
        "dpbandits draw ts-is-dp extra-report-noisy-max {params.options} --log {log}"


# Supplementary: the verdicts as a table.
rule ts_is_dp_table_claims:
    input:
        OUTPUTS.table_inputs("ts-is-dp", "claims"),
    output:
        tabulated("ts-is-dp", "claims"),
    log:
        "logs/ts-is-dp/table-claims.log",
    conda:
        "../../environment.yml"
    params:
        made_from=lambda w: OUTPUTS.table_made_from("ts-is-dp", "claims"),
        caption=OUTPUTS.table_caption("ts-is-dp", "claims"),
        options=OUTPUTS.options(),
    message:
        "ts-is-dp: writing the table claims"
    shell:
        "dpbandits tabulate ts-is-dp claims {params.options} --log {log}"


# Supplementary: epsilon by analysis and delta.
rule ts_is_dp_table_privacy:
    input:
        OUTPUTS.table_inputs("ts-is-dp", "privacy"),
    output:
        tabulated("ts-is-dp", "privacy"),
    log:
        "logs/ts-is-dp/table-privacy.log",
    conda:
        "../../environment.yml"
    params:
        made_from=lambda w: OUTPUTS.table_made_from("ts-is-dp", "privacy"),
        caption=OUTPUTS.table_caption("ts-is-dp", "privacy"),
        options=OUTPUTS.options(),
    message:
        "ts-is-dp: writing the table privacy"
    shell:
        "dpbandits tabulate ts-is-dp privacy {params.options} --log {log}"
