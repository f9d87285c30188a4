# "Connecting Thompson Sampling and UCB: Towards More Efficient Trade-offs Between Privacy and Regret": one rule per
# figure or table. What each draws stands in config/papers/dp-ts-ucb/experiments.yaml under figures:.


# Figure 1: how the algorithm draws, in a real run.
rule dp_ts_ucb_fig1:
    input:
        OUTPUTS.figure_inputs("dp-ts-ucb", "fig1"),
    output:
        published("dp-ts-ucb", "fig1"),
    log:
        "logs/dp-ts-ucb/fig1.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("dp-ts-ucb", "fig1"),
        caption=OUTPUTS.caption("dp-ts-ucb", "fig1"),
        options=OUTPUTS.options(),
    message:
        "dp-ts-ucb: drawing fig1"
    shell:
        "dpbandits draw dp-ts-ucb fig1 {params.options} --log {log}"


# Figure 2: how the algorithm batches, in the same run.
rule dp_ts_ucb_fig2:
    input:
        OUTPUTS.figure_inputs("dp-ts-ucb", "fig2"),
    output:
        published("dp-ts-ucb", "fig2"),
    log:
        "logs/dp-ts-ucb/fig2.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("dp-ts-ucb", "fig2"),
        caption=OUTPUTS.caption("dp-ts-ucb", "fig2"),
        options=OUTPUTS.options(),
    message:
        "dp-ts-ucb: drawing fig2"
    shell:
        "dpbandits draw dp-ts-ucb fig2 {params.options} --log {log}"


# Figure 3: final regret and privacy against the horizon.
rule dp_ts_ucb_fig3:
    input:
        OUTPUTS.figure_inputs("dp-ts-ucb", "fig3"),
    output:
        published("dp-ts-ucb", "fig3"),
    log:
        "logs/dp-ts-ucb/fig3.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("dp-ts-ucb", "fig3"),
        caption=OUTPUTS.caption("dp-ts-ucb", "fig3"),
        options=OUTPUTS.options(),
    message:
        "dp-ts-ucb: drawing fig3"
    shell:
        "dpbandits draw dp-ts-ucb fig3 {params.options} --log {log}"


# Figure 4: final regret and privacy against alpha, at equal regret bounds.
rule dp_ts_ucb_fig4:
    input:
        OUTPUTS.figure_inputs("dp-ts-ucb", "fig4"),
    output:
        published("dp-ts-ucb", "fig4"),
    log:
        "logs/dp-ts-ucb/fig4.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("dp-ts-ucb", "fig4"),
        caption=OUTPUTS.caption("dp-ts-ucb", "fig4"),
        options=OUTPUTS.options(),
    message:
        "dp-ts-ucb: drawing fig4"
    shell:
        "dpbandits draw dp-ts-ucb fig4 {params.options} --log {log}"


# Figure 5: regret over time at equal Gaussian DP.
rule dp_ts_ucb_fig5:
    input:
        OUTPUTS.figure_inputs("dp-ts-ucb", "fig5"),
    output:
        published("dp-ts-ucb", "fig5"),
    log:
        "logs/dp-ts-ucb/fig5.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("dp-ts-ucb", "fig5"),
        caption=OUTPUTS.caption("dp-ts-ucb", "fig5"),
        options=OUTPUTS.options(),
    message:
        "dp-ts-ucb: drawing fig5"
    shell:
        "dpbandits draw dp-ts-ucb fig5 {params.options} --log {log}"


# Figure 6: M-TS-Gaussian by the number of pre-pulls.
rule dp_ts_ucb_fig6:
    input:
        OUTPUTS.figure_inputs("dp-ts-ucb", "fig6"),
    output:
        published("dp-ts-ucb", "fig6"),
    log:
        "logs/dp-ts-ucb/fig6.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("dp-ts-ucb", "fig6"),
        caption=OUTPUTS.caption("dp-ts-ucb", "fig6"),
        options=OUTPUTS.options(),
    message:
        "dp-ts-ucb: drawing fig6"
    shell:
        "dpbandits draw dp-ts-ucb fig6 {params.options} --log {log}"


# Figure 7: Figure 5 with the pure epsilon-DP baselines.
rule dp_ts_ucb_fig7:
    input:
        OUTPUTS.figure_inputs("dp-ts-ucb", "fig7"),
    output:
        published("dp-ts-ucb", "fig7"),
    log:
        "logs/dp-ts-ucb/fig7.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("dp-ts-ucb", "fig7"),
        caption=OUTPUTS.caption("dp-ts-ucb", "fig7"),
        options=OUTPUTS.options(),
    message:
        "dp-ts-ucb: drawing fig7"
    shell:
        "dpbandits draw dp-ts-ucb fig7 {params.options} --log {log}"


# Ours: Figure 3a up to ten million rounds.
rule dp_ts_ucb_extra_fig3_long:
    input:
        OUTPUTS.figure_inputs("dp-ts-ucb", "extra-fig3-long"),
    output:
        published("dp-ts-ucb", "extra-fig3-long"),
    log:
        "logs/dp-ts-ucb/extra-fig3-long.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("dp-ts-ucb", "extra-fig3-long"),
        caption=OUTPUTS.caption("dp-ts-ucb", "extra-fig3-long"),
        options=OUTPUTS.options(),
    message:
        "dp-ts-ucb: drawing extra-fig3-long"
    shell:
        "dpbandits draw dp-ts-ucb extra-fig3-long {params.options} --log {log}"


# Ours: Figure 4b with the tight level and that of Theorem 4.6.
rule dp_ts_ucb_extra_fig4_tight:
    input:
        OUTPUTS.figure_inputs("dp-ts-ucb", "extra-fig4-tight"),
    output:
        published("dp-ts-ucb", "extra-fig4-tight"),
    log:
        "logs/dp-ts-ucb/extra-fig4-tight.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint(
            "dp-ts-ucb", "extra-fig4-tight"
        ),
        caption=OUTPUTS.caption("dp-ts-ucb", "extra-fig4-tight"),
        options=OUTPUTS.options(),
    message:
        "dp-ts-ucb: drawing extra-fig4-tight"
    shell:
        "dpbandits draw dp-ts-ucb extra-fig4-tight {params.options} --log {log}"


# Ours: from which horizon on the guarantee is better than Thompson sampling's.
rule dp_ts_ucb_extra_crossover:
    input:
        OUTPUTS.figure_inputs("dp-ts-ucb", "extra-crossover"),
    output:
        published("dp-ts-ucb", "extra-crossover"),
    log:
        "logs/dp-ts-ucb/extra-crossover.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("dp-ts-ucb", "extra-crossover"),
        caption=OUTPUTS.caption("dp-ts-ucb", "extra-crossover"),
        options=OUTPUTS.options(),
    message:
        "dp-ts-ucb: drawing extra-crossover"
    shell:
        "dpbandits draw dp-ts-ucb extra-crossover {params.options} --log {log}"


# Ours: the chance that every draw misses the mean (Lemma 4.1).
rule dp_ts_ucb_extra_lemma_4_1:
    input:
        OUTPUTS.figure_inputs("dp-ts-ucb", "extra-lemma-4-1"),
    output:
        published("dp-ts-ucb", "extra-lemma-4-1"),
    log:
        "logs/dp-ts-ucb/extra-lemma-4-1.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("dp-ts-ucb", "extra-lemma-4-1"),
        caption=OUTPUTS.caption("dp-ts-ucb", "extra-lemma-4-1"),
        options=OUTPUTS.options(),
    message:
        "dp-ts-ucb: drawing extra-lemma-4-1"
    shell:
        "dpbandits draw dp-ts-ucb extra-lemma-4-1 {params.options} --log {log}"


# Ours: the expectation of Lemma C.1.
rule dp_ts_ucb_extra_lemma_c1:
    input:
        OUTPUTS.figure_inputs("dp-ts-ucb", "extra-lemma-c1"),
    output:
        published("dp-ts-ucb", "extra-lemma-c1"),
    log:
        "logs/dp-ts-ucb/extra-lemma-c1.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("dp-ts-ucb", "extra-lemma-c1"),
        caption=OUTPUTS.caption("dp-ts-ucb", "extra-lemma-c1"),
        options=OUTPUTS.options(),
    message:
        "dp-ts-ucb: drawing extra-lemma-c1"
    shell:
        "dpbandits draw dp-ts-ucb extra-lemma-c1 {params.options} --log {log}"


# Ours: final regret against b, on a finer grid.
rule dp_ts_ucb_extra_tuning:
    input:
        OUTPUTS.figure_inputs("dp-ts-ucb", "extra-tuning"),
    output:
        published("dp-ts-ucb", "extra-tuning"),
    log:
        "logs/dp-ts-ucb/extra-tuning.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("dp-ts-ucb", "extra-tuning"),
        caption=OUTPUTS.caption("dp-ts-ucb", "extra-tuning"),
        options=OUTPUTS.options(),
    message:
        "dp-ts-ucb: drawing extra-tuning"
    shell:
        "dpbandits draw dp-ts-ucb extra-tuning {params.options} --log {log}"


# Table 1: what is proved, with levels of privacy beside it.
rule dp_ts_ucb_table_table1:
    input:
        OUTPUTS.table_inputs("dp-ts-ucb", "table1"),
    output:
        tabulated("dp-ts-ucb", "table1"),
    log:
        "logs/dp-ts-ucb/table-table1.log",
    conda:
        "../../environment.yml"
    params:
        made_from=lambda w: OUTPUTS.table_made_from("dp-ts-ucb", "table1"),
        caption=OUTPUTS.table_caption("dp-ts-ucb", "table1"),
        options=OUTPUTS.options(),
    message:
        "dp-ts-ucb: writing the table table1"
    shell:
        "dpbandits tabulate dp-ts-ucb table1 {params.options} --log {log}"


# Ours: levels of privacy by theorem, alpha and horizon.
rule dp_ts_ucb_table_privacy:
    input:
        OUTPUTS.table_inputs("dp-ts-ucb", "privacy"),
    output:
        tabulated("dp-ts-ucb", "privacy"),
    log:
        "logs/dp-ts-ucb/table-privacy.log",
    conda:
        "../../environment.yml"
    params:
        made_from=lambda w: OUTPUTS.table_made_from("dp-ts-ucb", "privacy"),
        caption=OUTPUTS.table_caption("dp-ts-ucb", "privacy"),
        options=OUTPUTS.options(),
    message:
        "dp-ts-ucb: writing the table privacy"
    shell:
        "dpbandits tabulate dp-ts-ucb privacy {params.options} --log {log}"


# Ours: the baselines beside published curves.
rule dp_ts_ucb_table_calibration:
    input:
        OUTPUTS.table_inputs("dp-ts-ucb", "calibration"),
    output:
        tabulated("dp-ts-ucb", "calibration"),
    log:
        "logs/dp-ts-ucb/table-calibration.log",
    conda:
        "../../environment.yml"
    params:
        made_from=lambda w: OUTPUTS.table_made_from("dp-ts-ucb", "calibration"),
        caption=OUTPUTS.table_caption("dp-ts-ucb", "calibration"),
        options=OUTPUTS.options(),
    message:
        "dp-ts-ucb: writing the table calibration"
    shell:
        "dpbandits tabulate dp-ts-ucb calibration {params.options} --log {log}"


# Ours: the verdicts as a table.
rule dp_ts_ucb_table_claims:
    input:
        OUTPUTS.table_inputs("dp-ts-ucb", "claims"),
    output:
        tabulated("dp-ts-ucb", "claims"),
    log:
        "logs/dp-ts-ucb/table-claims.log",
    conda:
        "../../environment.yml"
    params:
        made_from=lambda w: OUTPUTS.table_made_from("dp-ts-ucb", "claims"),
        caption=OUTPUTS.table_caption("dp-ts-ucb", "claims"),
        options=OUTPUTS.options(),
    message:
        "dp-ts-ucb: writing the table claims"
    shell:
        "dpbandits tabulate dp-ts-ucb claims {params.options} --log {log}"
