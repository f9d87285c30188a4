# "Thompson Sampling Itself is Differentially Private": one rule per figure or table.
# What each draws is in config/papers/ts-is-dp/experiments.yaml under figures:.


# Figure 1: epsilon against delta: Theorem 4 with b or c away from (0, 1).
use rule draw as ts_is_dp_fig1 with:
    input:
        results("ts-is-dp", "privacy-by-b-and-c"),
    output:
        figure("ts-is-dp", "fig1a", "fig1b", "fig1"),
    log:
        "logs/ts-is-dp/fig1.log",


# Figure 2: regret over time, Bernoulli arms.
use rule draw as ts_is_dp_fig2 with:
    input:
        results("ts-is-dp", "bernoulli-curves"),
    output:
        figure("ts-is-dp", "fig2a", "fig2b", "fig2c", "fig2"),
    log:
        "logs/ts-is-dp/fig2.log",


# Figure 3: final regret against eta, Bernoulli arms.
use rule draw as ts_is_dp_fig3 with:
    input:
        results("ts-is-dp", "bernoulli-curves"),
    output:
        figure("ts-is-dp", "fig3"),
    log:
        "logs/ts-is-dp/fig3.log",


# Figure 4: regret over time, truncated exponential arms.
use rule draw as ts_is_dp_fig4 with:
    input:
        results("ts-is-dp", "truncated-exponential-curves"),
    output:
        figure("ts-is-dp", "fig4a", "fig4b", "fig4c", "fig4"),
    log:
        "logs/ts-is-dp/fig4.log",


# Figure 5: final regret against eta, truncated exponential arms.
use rule draw as ts_is_dp_fig5 with:
    input:
        results("ts-is-dp", "truncated-exponential-curves"),
    output:
        figure("ts-is-dp", "fig5"),
    log:
        "logs/ts-is-dp/fig5.log",


# Figure 6: epsilon against delta by three analyses.
use rule draw as ts_is_dp_fig6 with:
    input:
        results("ts-is-dp", "privacy-by-analysis"),
    output:
        figure("ts-is-dp", "fig6a", "fig6b", "fig6"),
    log:
        "logs/ts-is-dp/fig6.log",


# Figure 7: epsilon against delta by two analyses.
use rule draw as ts_is_dp_fig7 with:
    input:
        results("ts-is-dp", "privacy-by-analysis"),
    output:
        figure("ts-is-dp", "fig7a", "fig7b", "fig7"),
    log:
        "logs/ts-is-dp/fig7.log",


# Figure 8: the tuned algorithm against DP-SE and Anytime-Lazy-UCB.
use rule draw as ts_is_dp_fig8 with:
    input:
        results("ts-is-dp", "comparison-curves"),
    output:
        figure("ts-is-dp", "fig8a", "fig8b", "fig8c", "fig8"),
    log:
        "logs/ts-is-dp/fig8.log",


# Supplementary: Figure 1 over a linear delta axis.
use rule draw as ts_is_dp_extra_fig1_linear with:
    input:
        results("ts-is-dp", "privacy-by-b-and-c"),
    output:
        figure(
            "ts-is-dp",
            "extra-fig1-linear-a",
            "extra-fig1-linear-b",
            "extra-fig1-linear",
        ),
    log:
        "logs/ts-is-dp/extra-fig1-linear.log",


# Supplementary: Figure 2 with pseudo-regret in place of realised regret.
use rule draw as ts_is_dp_extra_fig2_pseudo with:
    input:
        results("ts-is-dp", "bernoulli-curves"),
    output:
        figure(
            "ts-is-dp",
            "extra-fig2-pseudo-a",
            "extra-fig2-pseudo-b",
            "extra-fig2-pseudo-c",
            "extra-fig2-pseudo",
        ),
    log:
        "logs/ts-is-dp/extra-fig2-pseudo.log",


# Supplementary: Figure 6 with the corrected standard-DP curve.
use rule draw as ts_is_dp_extra_fig6_composition with:
    input:
        results("ts-is-dp", "privacy-by-analysis"),
    output:
        figure("ts-is-dp", "extra-fig6-composition"),
    log:
        "logs/ts-is-dp/extra-fig6-composition.log",


# Supplementary: Figure 7 with one order for the whole Renyi curve, and in delta.
use rule draw as ts_is_dp_extra_fig7_order with:
    input:
        results("ts-is-dp", "privacy-by-analysis", "delta-by-analysis"),
    output:
        figure(
            "ts-is-dp", "extra-fig7-order-a", "extra-fig7-order-b", "extra-fig7-order"
        ),
    log:
        "logs/ts-is-dp/extra-fig7-order.log",


# Supplementary: Figures 3 and 5 in pseudo-regret with the point that tunes b alone.
use rule draw as ts_is_dp_extra_fig3_b_alone with:
    input:
        results("ts-is-dp", "bernoulli-verdicts", "truncated-exponential-verdicts"),
    output:
        figure(
            "ts-is-dp",
            "extra-fig3-b-alone-a",
            "extra-fig3-b-alone-b",
            "extra-fig3-b-alone",
        ),
    log:
        "logs/ts-is-dp/extra-fig3-b-alone.log",


# Supplementary: standard error of a mean over ten runs.
use rule draw as ts_is_dp_extra_ten_runs with:
    input:
        results("ts-is-dp", "bernoulli-verdicts", "truncated-exponential-verdicts"),
    output:
        figure("ts-is-dp", "extra-ten-runs"),
    log:
        "logs/ts-is-dp/extra-ten-runs.log",


# Supplementary: regret of the best pair over that of (0, 1), by level.
use rule draw as ts_is_dp_extra_price_of_levels with:
    input:
        results("ts-is-dp", "comparison-verdicts", "price-of-privacy", "small-steps"),
    output:
        figure("ts-is-dp", "extra-price-of-levels"),
    log:
        "logs/ts-is-dp/extra-price-of-levels.log",


# Supplementary: realised level of plain Thompson sampling, by horizon.
use rule draw as ts_is_dp_extra_realised_level with:
    input:
        results("ts-is-dp", "plain-levels"),
    output:
        figure("ts-is-dp", "extra-realised-level"),
    log:
        "logs/ts-is-dp/extra-realised-level.log",


# Supplementary: true over claimed delta of report-noisy-max.
use rule draw as ts_is_dp_extra_report_noisy_max with:
    input:
        results("ts-is-dp", "report-noisy-max"),
    output:
        figure("ts-is-dp", "extra-report-noisy-max"),
    log:
        "logs/ts-is-dp/extra-report-noisy-max.log",


# Supplementary: the verdicts as a table.
use rule tabulate as ts_is_dp_table_claims with:
    input:
        results("ts-is-dp", "claims", suffix="csv"),
    output:
        table("ts-is-dp", "claims"),
    log:
        "logs/ts-is-dp/table-claims.log",


# Supplementary: epsilon by analysis and delta.
use rule tabulate as ts_is_dp_table_privacy with:
    input:
        results("ts-is-dp", "privacy-by-analysis"),
    output:
        table("ts-is-dp", "privacy"),
    log:
        "logs/ts-is-dp/table-privacy.log",
