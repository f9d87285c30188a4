# "Fixed-Budget Differentially Private Best Arm Identification": one rule per figure or table.
# What each draws is in config/papers/dp-bai/experiments.yaml under figures: and tables:.


# Figure 1: success against the budget and against epsilon, 30 arms in the plane.
use rule draw as dp_bai_fig1 with:
    input:
        results("dp-bai", "fig1-budget", "fig1-epsilon"),
    output:
        figure("dp-bai", "fig1a", "fig1b", "fig1"),
    log:
        "logs/dp-bai/fig1.log",


# Figure 2: success against the budget for four ratios of two arms' lengths.
use rule draw as dp_bai_fig2 with:
    input:
        results("dp-bai", "fig2"),
    output:
        figure("dp-bai", "fig2a", "fig2b", "fig2c", "fig2d", "fig2"),
    log:
        "logs/dp-bai/fig2.log",


# Ours: success against the ratio of the lengths.
use rule draw as dp_bai_extra_ratios with:
    input:
        results("dp-bai", "fig2", "ratios"),
    output:
        figure("dp-bai", "extra-ratios"),
    log:
        "logs/dp-bai/extra-ratios.log",


# Ours: success where T epsilon is below 10.
use rule draw as dp_bai_extra_corner with:
    input:
        results("dp-bai", "corner", "verdicts-budget"),
    output:
        figure("dp-bai", "extra-corner"),
    log:
        "logs/dp-bai/extra-corner.log",


# Ours: DP-BAI-Gauss beside DP-BAI.
use rule draw as dp_bai_extra_gauss with:
    input:
        results("dp-bai", "fig1-budget", "gauss-section5", "gauss-two-armed"),
    output:
        figure(
            "dp-bai",
            "extra-gauss-a",
            "extra-gauss-b",
            "extra-gauss-c",
            "extra-gauss-d",
            "extra-gauss",
        ),
    log:
        "logs/dp-bai/extra-gauss.log",


# Ours: instances that take several phases.
use rule draw as dp_bai_extra_phases with:
    input:
        results("dp-bai", "phases-basis", "verdicts-sphere"),
    output:
        figure("dp-bai", "extra-phases-a", "extra-phases-b", "extra-phases"),
    log:
        "logs/dp-bai/extra-phases.log",


# Ours: success over fifty draws of the omegas.
use rule draw as dp_bai_extra_omega with:
    input:
        results("dp-bai", "omega-draws"),
    output:
        figure("dp-bai", "extra-omega"),
    log:
        "logs/dp-bai/extra-omega.log",


# Ours: Table 1 as a map.
use rule draw as dp_bai_extra_regimes with:
    input:
        results("dp-bai", "regimes"),
    output:
        figure("dp-bai", "extra-regimes"),
    log:
        "logs/dp-bai/extra-regimes.log",


# Ours: budgets needed against rho/epsilon.
use rule draw as dp_bai_extra_budgets_ratio with:
    input:
        results("dp-bai", "budgets-ratio"),
    output:
        figure("dp-bai", "extra-budgets-ratio"),
    log:
        "logs/dp-bai/extra-budgets-ratio.log",


# Ours: budgets needed against epsilon and Delta.
use rule draw as dp_bai_extra_budgets_hardness with:
    input:
        results("dp-bai", "budgets-hardness"),
    output:
        figure("dp-bai", "extra-budgets-hardness"),
    log:
        "logs/dp-bai/extra-budgets-hardness.log",


# Ours: the error beside its bound.
use rule draw as dp_bai_extra_bound with:
    input:
        results(
            "dp-bai",
            "verdicts-budget",
            "verdicts-fig2",
            "verdicts-far-section5",
            "verdicts-far-two-armed",
            "bounds",
        ),
    output:
        figure("dp-bai", "extra-bound"),
    log:
        "logs/dp-bai/extra-bound.log",


# Ours: the log error against T.
use rule draw as dp_bai_extra_log_error with:
    input:
        results("dp-bai", "rare-errors"),
    output:
        figure("dp-bai", "extra-log-error"),
    log:
        "logs/dp-bai/extra-log-error.log",


# Ours: the delta that DP-BAI-Gauss needs.
use rule draw as dp_bai_extra_gauss_delta with:
    input:
        results("dp-bai", "gauss-privacy"),
    output:
        figure("dp-bai", "extra-gauss-delta"),
    log:
        "logs/dp-bai/extra-gauss-delta.log",


# Table 1: which of two bounds is the tighter one, with the cases counted that bear it out.
use rule tabulate as dp_bai_table_table1 with:
    input:
        results("dp-bai", "regimes", "table1-grid"),
    output:
        table("dp-bai", "table1"),
    log:
        "logs/dp-bai/table-table1.log",


# The example of Appendix B, printed and computed.
use rule tabulate as dp_bai_table_appendix_b with:
    input:
        results("dp-bai", "appendix-b"),
    output:
        table("dp-bai", "appendix-b"),
    log:
        "logs/dp-bai/table-appendix-b.log",


# Ours: what one changed interpretation does to the success rate.
use rule tabulate as dp_bai_table_extra_interpretations with:
    input:
        results("dp-bai", "interpretations-section5", "interpretations-two-armed"),
    output:
        table("dp-bai", "extra-interpretations"),
    log:
        "logs/dp-bai/table-extra-interpretations.log",


# Ours: pulls beyond the budget.
use rule tabulate as dp_bai_table_extra_overshoot with:
    input:
        results("dp-bai", "overshoot"),
    output:
        table("dp-bai", "extra-overshoot"),
    log:
        "logs/dp-bai/table-extra-overshoot.log",


# Ours: the verdicts as a table.
use rule tabulate as dp_bai_table_claims with:
    input:
        results("dp-bai", "claims", suffix="csv"),
    output:
        table("dp-bai", "claims"),
    log:
        "logs/dp-bai/table-claims.log",
