# "Connecting Thompson Sampling and UCB: Towards More Efficient Trade-offs Between Privacy and Regret": one rule per
# figure or table. What each draws is in config/papers/dp-ts-ucb/experiments.yaml under figures:.


# Figure 1: how the algorithm draws, in a real run.
use rule draw as dp_ts_ucb_fig1 with:
    input:
        results("dp-ts-ucb", "trace"),
    output:
        figure("dp-ts-ucb", "fig1"),
    log:
        "logs/dp-ts-ucb/fig1.log",


# Figure 2: how the algorithm batches, in the same run.
use rule draw as dp_ts_ucb_fig2 with:
    input:
        results("dp-ts-ucb", "trace"),
    output:
        figure("dp-ts-ucb", "fig2"),
    log:
        "logs/dp-ts-ucb/fig2.log",


# Figure 3: final regret and privacy against the horizon.
use rule draw as dp_ts_ucb_fig3 with:
    input:
        results("dp-ts-ucb", "final-regret", "privacy-by-horizon"),
    output:
        figure("dp-ts-ucb", "fig3a", "fig3b", "fig3"),
    log:
        "logs/dp-ts-ucb/fig3.log",


# Figure 4: final regret and privacy against alpha, at equal regret bounds.
use rule draw as dp_ts_ucb_fig4 with:
    input:
        results("dp-ts-ucb", "final-regret", "privacy-by-alpha"),
    output:
        figure("dp-ts-ucb", "fig4a", "fig4b", "fig4"),
    log:
        "logs/dp-ts-ucb/fig4.log",


# Figure 5: regret over time at equal Gaussian DP.
use rule draw as dp_ts_ucb_fig5 with:
    input:
        results("dp-ts-ucb", "curves"),
    output:
        figure("dp-ts-ucb", "fig5a", "fig5b", "fig5"),
    log:
        "logs/dp-ts-ucb/fig5.log",


# Figure 6: M-TS-Gaussian by the number of pre-pulls.
use rule draw as dp_ts_ucb_fig6 with:
    input:
        results("dp-ts-ucb", "curves"),
    output:
        figure("dp-ts-ucb", "fig6a", "fig6b", "fig6"),
    log:
        "logs/dp-ts-ucb/fig6.log",


# Figure 7: Figure 5 with the pure epsilon-DP baselines.
use rule draw as dp_ts_ucb_fig7 with:
    input:
        results("dp-ts-ucb", "curves"),
    output:
        figure("dp-ts-ucb", "fig7a", "fig7b", "fig7"),
    log:
        "logs/dp-ts-ucb/fig7.log",


# Ours: Figure 3a up to ten million rounds.
use rule draw as dp_ts_ucb_extra_fig3_long with:
    input:
        results("dp-ts-ucb", "final-regret", "long-horizon"),
    output:
        figure("dp-ts-ucb", "extra-fig3-long"),
    log:
        "logs/dp-ts-ucb/extra-fig3-long.log",


# Ours: Figure 4b with the tight level and that of Theorem 4.6.
use rule draw as dp_ts_ucb_extra_fig4_tight with:
    input:
        results("dp-ts-ucb", "privacy-by-alpha"),
    output:
        figure("dp-ts-ucb", "extra-fig4-tight"),
    log:
        "logs/dp-ts-ucb/extra-fig4-tight.log",


# Ours: from which horizon on the guarantee is better than Thompson sampling's.
use rule draw as dp_ts_ucb_extra_crossover with:
    input:
        results("dp-ts-ucb", "crossover"),
    output:
        figure("dp-ts-ucb", "extra-crossover"),
    log:
        "logs/dp-ts-ucb/extra-crossover.log",


# Ours: the chance that every draw misses the mean (Lemma 4.1).
use rule draw as dp_ts_ucb_extra_lemma_4_1 with:
    input:
        results("dp-ts-ucb", "lemma-4-1"),
    output:
        figure(
            "dp-ts-ucb",
            "extra-lemma-4-1-a",
            "extra-lemma-4-1-b",
            "extra-lemma-4-1-c",
            "extra-lemma-4-1",
        ),
    log:
        "logs/dp-ts-ucb/extra-lemma-4-1.log",


# Ours: the expectation of Lemma C.1.
use rule draw as dp_ts_ucb_extra_lemma_c1 with:
    input:
        results("dp-ts-ucb", "lemma-c1"),
    output:
        figure("dp-ts-ucb", "extra-lemma-c1-a", "extra-lemma-c1-b", "extra-lemma-c1"),
    log:
        "logs/dp-ts-ucb/extra-lemma-c1.log",


# Ours: final regret against b, on a finer grid.
use rule draw as dp_ts_ucb_extra_tuning with:
    input:
        results("dp-ts-ucb", "tuning"),
    output:
        figure("dp-ts-ucb", "extra-tuning-a", "extra-tuning-b", "extra-tuning"),
    log:
        "logs/dp-ts-ucb/extra-tuning.log",


# Table 1: what is proved, with levels of privacy beside it.
use rule tabulate as dp_ts_ucb_table_table1 with:
    input:
        results("dp-ts-ucb", "summary"),
    output:
        table("dp-ts-ucb", "table1"),
    log:
        "logs/dp-ts-ucb/table-table1.log",


# Ours: levels of privacy by theorem, alpha and horizon.
use rule tabulate as dp_ts_ucb_table_privacy with:
    input:
        results("dp-ts-ucb", "privacy-conversion"),
    output:
        table("dp-ts-ucb", "privacy"),
    log:
        "logs/dp-ts-ucb/table-privacy.log",


# Ours: the baselines beside published curves.
use rule tabulate as dp_ts_ucb_table_calibration with:
    input:
        results("dp-ts-ucb", "calibration"),
    output:
        table("dp-ts-ucb", "calibration"),
    log:
        "logs/dp-ts-ucb/table-calibration.log",


# Ours: the verdicts as a table.
use rule tabulate as dp_ts_ucb_table_claims with:
    input:
        results("dp-ts-ucb", "claims", suffix="csv"),
    output:
        table("dp-ts-ucb", "claims"),
    log:
        "logs/dp-ts-ucb/table-claims.log",
