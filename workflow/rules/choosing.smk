# Ours, in none of the papers: which private bandit is the best for which question.
# What is drawn and written is in config/comparisons/choosing.yaml.


# Map of winners over epsilon and T.
use rule draw as choosing_extra_map with:
    input:
        results("choosing", "regret", "logarithms"),
    output:
        figure("choosing", "extra-map"),
    log:
        "logs/choosing/extra-map.log",


# Regret and the price of privacy over epsilon.
use rule draw as choosing_extra_price with:
    input:
        results("choosing", "regret"),
    output:
        figure("choosing", "extra-price"),
    log:
        "logs/choosing/extra-price.log",


# Worst family of instances beside the mean.
use rule draw as choosing_extra_worst with:
    input:
        results("choosing", "regret"),
    output:
        figure("choosing", "extra-worst"),
    log:
        "logs/choosing/extra-worst.log",


# Gain by tuning.
use rule draw as choosing_extra_tuning with:
    input:
        results("choosing", "regret", "untuned"),
    output:
        figure("choosing", "extra-tuning"),
    log:
        "logs/choosing/extra-tuning.log",


# Success over epsilon and pulls.
use rule draw as choosing_extra_best_arm with:
    input:
        results("choosing", "best-arm"),
    output:
        figure("choosing", "extra-best-arm"),
    log:
        "logs/choosing/extra-best-arm.log",


# Map of winners of best arms.
use rule draw as choosing_extra_best_arm_map with:
    input:
        results("choosing", "best-arm"),
    output:
        figure("choosing", "extra-best-arm-map"),
    log:
        "logs/choosing/extra-best-arm-map.log",


# Regret of every algorithm at every setting, which `dpbandits choose` reads.
use rule tabulate as choosing_table_extra_regret with:
    input:
        results("choosing", "regret", "logarithms"),
    output:
        table("choosing", "extra-regret"),
    log:
        "logs/choosing/table-extra-regret.log",


# Winners and ties of the map.
use rule tabulate as choosing_table_extra_winners with:
    input:
        results("choosing", "regret", "logarithms"),
    output:
        table("choosing", "extra-winners"),
    log:
        "logs/choosing/table-extra-winners.log",


# Tuned parameters and what they gain.
use rule tabulate as choosing_table_extra_tuning with:
    input:
        results("choosing", "regret", "untuned"),
    output:
        table("choosing", "extra-tuning"),
    log:
        "logs/choosing/table-extra-tuning.log",


# Success of every algorithm at every setting.
use rule tabulate as choosing_table_extra_best_arm with:
    input:
        results("choosing", "best-arm"),
    output:
        table("choosing", "extra-best-arm"),
    log:
        "logs/choosing/table-extra-best-arm.log",


# Winners and ties of the map of best arms.
use rule tabulate as choosing_table_extra_best_arm_winners with:
    input:
        results("choosing", "best-arm"),
    output:
        table("choosing", "extra-best-arm-winners"),
    log:
        "logs/choosing/table-extra-best-arm-winners.log",
