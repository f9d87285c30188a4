# "DP-NCB: Privacy Preserving Fair Bandits": one rule per figure or table.
# What each draws stands in config/papers/dp-ncb/experiments.yaml under figures: and tables:.


# The paper's figure, as its code draws it.
rule dp_ncb_fig1:
    input:
        OUTPUTS.figure_inputs("dp-ncb", "fig1"),
    output:
        published("dp-ncb", "fig1"),
    log:
        "logs/dp-ncb/fig1.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("dp-ncb", "fig1"),
        caption=OUTPUTS.caption("dp-ncb", "fig1"),
        options=OUTPUTS.options(),
    message:
        "dp-ncb: drawing fig1"
    shell:
        "dpbandits draw dp-ncb fig1 {params.options} --log {log}"


# The same with the algorithms as the paper writes them.
rule dp_ncb_fig1_as_written:
    input:
        OUTPUTS.figure_inputs("dp-ncb", "fig1-as-written"),
    output:
        published("dp-ncb", "fig1-as-written"),
    log:
        "logs/dp-ncb/fig1-as-written.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("dp-ncb", "fig1-as-written"),
        caption=OUTPUTS.caption("dp-ncb", "fig1-as-written"),
        options=OUTPUTS.options(),
    message:
        "dp-ncb: drawing fig1-as-written"
    shell:
        "dpbandits draw dp-ncb fig1-as-written {params.options} --log {log}"


# The same with the code's departures from the text undone, but for its cap on Phase I.
rule dp_ncb_fig1_repaired:
    input:
        OUTPUTS.figure_inputs("dp-ncb", "fig1-repaired"),
    output:
        published("dp-ncb", "fig1-repaired"),
    log:
        "logs/dp-ncb/fig1-repaired.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("dp-ncb", "fig1-repaired"),
        caption=OUTPUTS.caption("dp-ncb", "fig1-repaired"),
        options=OUTPUTS.options(),
    message:
        "dp-ncb: drawing fig1-repaired"
    shell:
        "dpbandits draw dp-ncb fig1-repaired {params.options} --log {log}"


# Ours: every panel of the figure with logarithmic axes.
rule dp_ncb_extra_fig1_loglog:
    input:
        OUTPUTS.figure_inputs("dp-ncb", "extra-fig1-loglog"),
    output:
        published("dp-ncb", "extra-fig1-loglog"),
    log:
        "logs/dp-ncb/extra-fig1-loglog.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("dp-ncb", "extra-fig1-loglog"),
        caption=OUTPUTS.caption("dp-ncb", "extra-fig1-loglog"),
        options=OUTPUTS.options(),
    message:
        "dp-ncb: drawing extra-fig1-loglog"
    shell:
        "dpbandits draw dp-ncb extra-fig1-loglog {params.options} --log {log}"


# Ours: panel (e) with logarithmic axes and fitted slopes.
rule dp_ncb_extra_fig1e_slopes:
    input:
        OUTPUTS.figure_inputs("dp-ncb", "extra-fig1e-slopes"),
    output:
        published("dp-ncb", "extra-fig1e-slopes"),
    log:
        "logs/dp-ncb/extra-fig1e-slopes.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("dp-ncb", "extra-fig1e-slopes"),
        caption=OUTPUTS.caption("dp-ncb", "extra-fig1e-slopes"),
        options=OUTPUTS.options(),
    message:
        "dp-ncb: drawing extra-fig1e-slopes"
    shell:
        "dpbandits draw dp-ncb extra-fig1e-slopes {params.options} --log {log}"


# Ours: Nash regret of GDP-NCB over that of NCB, over the horizon and over epsilon.
rule dp_ncb_extra_price_of_privacy:
    input:
        OUTPUTS.figure_inputs("dp-ncb", "extra-price-of-privacy"),
    output:
        published("dp-ncb", "extra-price-of-privacy"),
    log:
        "logs/dp-ncb/extra-price-of-privacy.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint(
            "dp-ncb", "extra-price-of-privacy"
        ),
        caption=OUTPUTS.caption("dp-ncb", "extra-price-of-privacy"),
        options=OUTPUTS.options(),
    message:
        "dp-ncb: drawing extra-price-of-privacy"
    shell:
        "dpbandits draw dp-ncb extra-price-of-privacy {params.options} --log {log}"


# Ours: Nash regret of LDP-NCB over epsilon, beside a slope of -1.
rule dp_ncb_extra_epsilon_slope:
    input:
        OUTPUTS.figure_inputs("dp-ncb", "extra-epsilon-slope"),
    output:
        published("dp-ncb", "extra-epsilon-slope"),
    log:
        "logs/dp-ncb/extra-epsilon-slope.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint(
            "dp-ncb", "extra-epsilon-slope"
        ),
        caption=OUTPUTS.caption("dp-ncb", "extra-epsilon-slope"),
        options=OUTPUTS.options(),
    message:
        "dp-ncb: drawing extra-epsilon-slope"
    shell:
        "dpbandits draw dp-ncb extra-epsilon-slope {params.options} --log {log}"


# Ours: panel (a) for both values of epsilon and both orders of first pulls.
rule dp_ncb_extra_panel_a:
    input:
        OUTPUTS.figure_inputs("dp-ncb", "extra-panel-a"),
    output:
        published("dp-ncb", "extra-panel-a"),
    log:
        "logs/dp-ncb/extra-panel-a.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("dp-ncb", "extra-panel-a"),
        caption=OUTPUTS.caption("dp-ncb", "extra-panel-a"),
        options=OUTPUTS.options(),
    message:
        "dp-ncb: drawing extra-panel-a"
    shell:
        "dpbandits draw dp-ncb extra-panel-a {params.options} --log {log}"


# Ours: GDP-NCB and AdaP-UCB up to ten thousand million rounds.
rule dp_ncb_extra_horizons:
    input:
        OUTPUTS.figure_inputs("dp-ncb", "extra-horizons"),
    output:
        published("dp-ncb", "extra-horizons"),
    log:
        "logs/dp-ncb/extra-horizons.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("dp-ncb", "extra-horizons"),
        caption=OUTPUTS.caption("dp-ncb", "extra-horizons"),
        options=OUTPUTS.options(),
    message:
        "dp-ncb: drawing extra-horizons"
    shell:
        "dpbandits draw dp-ncb extra-horizons {params.options} --log {log}"


# Ours: the anytime version beside runs that know their horizon.
rule dp_ncb_extra_anytime:
    input:
        OUTPUTS.figure_inputs("dp-ncb", "extra-anytime"),
    output:
        published("dp-ncb", "extra-anytime"),
    log:
        "logs/dp-ncb/extra-anytime.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("dp-ncb", "extra-anytime"),
        caption=OUTPUTS.caption("dp-ncb", "extra-anytime"),
        options=OUTPUTS.options(),
    message:
        "dp-ncb: drawing extra-anytime"
    shell:
        "dpbandits draw dp-ncb extra-anytime {params.options} --log {log}"


# Ours: panel (b) with UCB1, against the true best mean.
rule dp_ncb_extra_ucb1:
    input:
        OUTPUTS.figure_inputs("dp-ncb", "extra-ucb1"),
    output:
        published("dp-ncb", "extra-ucb1"),
    log:
        "logs/dp-ncb/extra-ucb1.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("dp-ncb", "extra-ucb1"),
        caption=OUTPUTS.caption("dp-ncb", "extra-ucb1"),
        options=OUTPUTS.options(),
    message:
        "dp-ncb: drawing extra-ucb1"
    shell:
        "dpbandits draw dp-ncb extra-ucb1 {params.options} --log {log}"


# Ours: what few runs add to Nash regret.
rule dp_ncb_extra_bias:
    input:
        OUTPUTS.figure_inputs("dp-ncb", "extra-bias"),
    output:
        published("dp-ncb", "extra-bias"),
    log:
        "logs/dp-ncb/extra-bias.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint("dp-ncb", "extra-bias"),
        caption=OUTPUTS.caption("dp-ncb", "extra-bias"),
        options=OUTPUTS.options(),
    message:
        "dp-ncb: drawing extra-bias"
    shell:
        "dpbandits draw dp-ncb extra-bias {params.options} --log {log}"


# Ours: an exact privacy loss of GDP-NCB as written.
rule dp_ncb_extra_privacy_witness:
    input:
        OUTPUTS.figure_inputs("dp-ncb", "extra-privacy-witness"),
    output:
        published("dp-ncb", "extra-privacy-witness"),
    log:
        "logs/dp-ncb/extra-privacy-witness.log",
    conda:
        "../../environment.yml"
    params:
        fingerprint=lambda w: OUTPUTS.figure_fingerprint(
            "dp-ncb", "extra-privacy-witness"
        ),
        caption=OUTPUTS.caption("dp-ncb", "extra-privacy-witness"),
        options=OUTPUTS.options(),
    message:
        "dp-ncb: drawing extra-privacy-witness"
    shell:
        "dpbandits draw dp-ncb extra-privacy-witness {params.options} --log {log}"


# Digitised values of the published figure compared with ours.
rule dp_ncb_table_digitised:
    input:
        OUTPUTS.table_inputs("dp-ncb", "digitised"),
    output:
        tabulated("dp-ncb", "digitised"),
    log:
        "logs/dp-ncb/table-digitised.log",
    conda:
        "../../environment.yml"
    params:
        made_from=lambda w: OUTPUTS.table_made_from("dp-ncb", "digitised"),
        caption=OUTPUTS.table_caption("dp-ncb", "digitised"),
        options=OUTPUTS.options(),
    message:
        "dp-ncb: writing the table digitised"
    shell:
        "dpbandits tabulate dp-ncb digitised {params.options} --log {log}"


# How many of the digitised values agree with ours.
rule dp_ncb_table_reproduction:
    input:
        OUTPUTS.table_inputs("dp-ncb", "reproduction"),
    output:
        tabulated("dp-ncb", "reproduction"),
    log:
        "logs/dp-ncb/table-reproduction.log",
    conda:
        "../../environment.yml"
    params:
        made_from=lambda w: OUTPUTS.table_made_from("dp-ncb", "reproduction"),
        caption=OUTPUTS.table_caption("dp-ncb", "reproduction"),
        options=OUTPUTS.options(),
    message:
        "dp-ncb: writing the table reproduction"
    shell:
        "dpbandits tabulate dp-ncb reproduction {params.options} --log {log}"


# Ours: what each switch between paper and code does alone.
rule dp_ncb_table_extra_deviations:
    input:
        OUTPUTS.table_inputs("dp-ncb", "extra-deviations"),
    output:
        tabulated("dp-ncb", "extra-deviations"),
    log:
        "logs/dp-ncb/table-extra-deviations.log",
    conda:
        "../../environment.yml"
    params:
        made_from=lambda w: OUTPUTS.table_made_from("dp-ncb", "extra-deviations"),
        caption=OUTPUTS.table_caption("dp-ncb", "extra-deviations"),
        options=OUTPUTS.options(),
    message:
        "dp-ncb: writing the table extra-deviations"
    shell:
        "dpbandits tabulate dp-ncb extra-deviations {params.options} --log {log}"


# Ours: the verdicts as a table.
rule dp_ncb_table_claims:
    input:
        OUTPUTS.table_inputs("dp-ncb", "claims"),
    output:
        tabulated("dp-ncb", "claims"),
    log:
        "logs/dp-ncb/table-claims.log",
    conda:
        "../../environment.yml"
    params:
        made_from=lambda w: OUTPUTS.table_made_from("dp-ncb", "claims"),
        caption=OUTPUTS.table_caption("dp-ncb", "claims"),
        options=OUTPUTS.options(),
    message:
        "dp-ncb: writing the table claims"
    shell:
        "dpbandits tabulate dp-ncb claims {params.options} --log {log}"


# How long Phase I lasts as written.
rule dp_ncb_table_phase_one:
    input:
        OUTPUTS.table_inputs("dp-ncb", "phase-one"),
    output:
        tabulated("dp-ncb", "phase-one"),
    log:
        "logs/dp-ncb/table-phase-one.log",
    conda:
        "../../environment.yml"
    params:
        made_from=lambda w: OUTPUTS.table_made_from("dp-ncb", "phase-one"),
        caption=OUTPUTS.table_caption("dp-ncb", "phase-one"),
        options=OUTPUTS.options(),
    message:
        "dp-ncb: writing the table phase-one"
    shell:
        "dpbandits tabulate dp-ncb phase-one {params.options} --log {log}"


# Ours: from which horizon on Phase I ends as written.
rule dp_ncb_table_extra_first_horizons:
    input:
        OUTPUTS.table_inputs("dp-ncb", "extra-first-horizons"),
    output:
        tabulated("dp-ncb", "extra-first-horizons"),
    log:
        "logs/dp-ncb/table-extra-first-horizons.log",
    conda:
        "../../environment.yml"
    params:
        made_from=lambda w: OUTPUTS.table_made_from("dp-ncb", "extra-first-horizons"),
        caption=OUTPUTS.table_caption("dp-ncb", "extra-first-horizons"),
        options=OUTPUTS.options(),
    message:
        "dp-ncb: writing the table extra-first-horizons"
    shell:
        "dpbandits tabulate dp-ncb extra-first-horizons {params.options} --log {log}"
