# "DP-NCB: Privacy Preserving Fair Bandits": one rule per figure or table.
# What each draws is in config/papers/dp-ncb/experiments.yaml under figures: and tables:.


# The paper's figure, as its code draws it.
use rule draw as dp_ncb_fig1 with:
    input:
        results("dp-ncb", "panel-a", "panel-b", "panels-c-to-e", "panel-f"),
    output:
        figure("dp-ncb", "fig1a", "fig1b", "fig1c", "fig1d", "fig1e", "fig1f", "fig1"),
    log:
        "logs/dp-ncb/fig1.log",


# The same with the algorithms as the paper writes them.
use rule draw as dp_ncb_fig1_as_written with:
    input:
        results("dp-ncb", "panel-a", "panel-b", "panels-c-to-e", "panel-f"),
    output:
        figure(
            "dp-ncb",
            "fig1a-as-written",
            "fig1b-as-written",
            "fig1c-as-written",
            "fig1d-as-written",
            "fig1e-as-written",
            "fig1f-as-written",
            "fig1-as-written",
        ),
    log:
        "logs/dp-ncb/fig1-as-written.log",


# The same with the code's departures from the text undone, but for its cap on Phase I.
use rule draw as dp_ncb_fig1_repaired with:
    input:
        results("dp-ncb", "panel-a", "panel-b", "panels-c-to-e", "panel-f"),
    output:
        figure(
            "dp-ncb",
            "fig1a-repaired",
            "fig1b-repaired",
            "fig1c-repaired",
            "fig1d-repaired",
            "fig1e-repaired",
            "fig1f-repaired",
            "fig1-repaired",
        ),
    log:
        "logs/dp-ncb/fig1-repaired.log",


# Ours: every panel of the figure with logarithmic axes.
use rule draw as dp_ncb_extra_fig1_loglog with:
    input:
        results("dp-ncb", "panel-a", "panel-b", "panels-c-to-e", "panel-f"),
    output:
        figure(
            "dp-ncb",
            "extra-fig1-loglog-a",
            "extra-fig1-loglog-b",
            "extra-fig1-loglog-c",
            "extra-fig1-loglog-d",
            "extra-fig1-loglog-e",
            "extra-fig1-loglog-f",
            "extra-fig1-loglog",
        ),
    log:
        "logs/dp-ncb/extra-fig1-loglog.log",


# Ours: panel (e) with logarithmic axes and fitted slopes.
use rule draw as dp_ncb_extra_fig1e_slopes with:
    input:
        results("dp-ncb", "panels-c-to-e"),
    output:
        figure(
            "dp-ncb",
            "extra-fig1e-slopes-a",
            "extra-fig1e-slopes-b",
            "extra-fig1e-slopes",
        ),
    log:
        "logs/dp-ncb/extra-fig1e-slopes.log",


# Ours: Nash regret of GDP-NCB over that of NCB, over the horizon and over epsilon.
use rule draw as dp_ncb_extra_price_of_privacy with:
    input:
        results("dp-ncb", "one-million", "panels-c-to-e", "panel-b", "ten-million"),
    output:
        figure(
            "dp-ncb",
            "extra-price-of-privacy-a",
            "extra-price-of-privacy-b",
            "extra-price-of-privacy",
        ),
    log:
        "logs/dp-ncb/extra-price-of-privacy.log",


# Ours: Nash regret of LDP-NCB over epsilon, beside a slope of -1.
use rule draw as dp_ncb_extra_epsilon_slope with:
    input:
        results("dp-ncb", "panels-c-to-e", "ten-million"),
    output:
        figure("dp-ncb", "extra-epsilon-slope"),
    log:
        "logs/dp-ncb/extra-epsilon-slope.log",


# Ours: panel (a) for both values of epsilon and both orders of first pulls.
use rule draw as dp_ncb_extra_panel_a with:
    input:
        results("dp-ncb", "panel-a"),
    output:
        figure(
            "dp-ncb",
            "extra-panel-a-a",
            "extra-panel-a-b",
            "extra-panel-a-c",
            "extra-panel-a-d",
            "extra-panel-a",
        ),
    log:
        "logs/dp-ncb/extra-panel-a.log",


# Ours: GDP-NCB and AdaP-UCB up to ten thousand million rounds.
use rule draw as dp_ncb_extra_horizons with:
    input:
        results("dp-ncb", "horizons"),
    output:
        figure("dp-ncb", "extra-horizons"),
    log:
        "logs/dp-ncb/extra-horizons.log",


# Ours: the anytime version beside runs that know their horizon.
use rule draw as dp_ncb_extra_anytime with:
    input:
        results("dp-ncb", "anytime", "known-horizon"),
    output:
        figure("dp-ncb", "extra-anytime-a", "extra-anytime-b", "extra-anytime"),
    log:
        "logs/dp-ncb/extra-anytime.log",


# Ours: panel (b) with UCB1, against the true best mean.
use rule draw as dp_ncb_extra_ucb1 with:
    input:
        results("dp-ncb", "panel-b", "panel-b-ucb1"),
    output:
        figure("dp-ncb", "extra-ucb1-a", "extra-ucb1-b", "extra-ucb1"),
    log:
        "logs/dp-ncb/extra-ucb1.log",


# Ours: what few runs add to Nash regret.
use rule draw as dp_ncb_extra_bias with:
    input:
        results("dp-ncb", "curves-of-2", "curves-of-10", "curves-of-50"),
    output:
        figure("dp-ncb", "extra-bias"),
    log:
        "logs/dp-ncb/extra-bias.log",


# Ours: an exact privacy loss of GDP-NCB as written.
use rule draw as dp_ncb_extra_privacy_witness with:
    input:
        results("dp-ncb", "privacy-witnesses"),
    output:
        figure("dp-ncb", "extra-privacy-witness"),
    log:
        "logs/dp-ncb/extra-privacy-witness.log",


# Digitised values of the published figure compared with ours.
use rule tabulate as dp_ncb_table_digitised with:
    input:
        results("dp-ncb", "digitised", suffix="csv"),
    output:
        table("dp-ncb", "digitised"),
    log:
        "logs/dp-ncb/table-digitised.log",


# How many of the digitised values agree with ours.
use rule tabulate as dp_ncb_table_reproduction with:
    input:
        results("dp-ncb", "digitised", suffix="csv"),
    output:
        table("dp-ncb", "reproduction"),
    log:
        "logs/dp-ncb/table-reproduction.log",


# Ours: what each switch between paper and code does alone.
use rule tabulate as dp_ncb_table_extra_deviations with:
    input:
        results(
            "dp-ncb",
            "panel-a",
            "panels-c-to-e",
            "ten-million",
            "panel-f",
            "switches",
            "switch-combinations",
            "switches-panel-a",
        ),
    output:
        table("dp-ncb", "extra-deviations"),
    log:
        "logs/dp-ncb/table-extra-deviations.log",


# Ours: the verdicts as a table.
use rule tabulate as dp_ncb_table_claims with:
    input:
        results("dp-ncb", "claims", suffix="csv"),
    output:
        table("dp-ncb", "claims"),
    log:
        "logs/dp-ncb/table-claims.log",


# How long Phase I lasts as written.
use rule tabulate as dp_ncb_table_phase_one with:
    input:
        results("dp-ncb", "phase-one-start"),
    output:
        table("dp-ncb", "phase-one"),
    log:
        "logs/dp-ncb/table-phase-one.log",


# Ours: from which horizon on Phase I ends as written.
use rule tabulate as dp_ncb_table_extra_first_horizons with:
    input:
        results("dp-ncb", "first-horizons"),
    output:
        table("dp-ncb", "extra-first-horizons"),
    log:
        "logs/dp-ncb/table-extra-first-horizons.log",
