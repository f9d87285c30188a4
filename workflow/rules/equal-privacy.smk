# Supplementary: the papers' regret algorithms side by side at one privacy budget.
# What is drawn and written is in config/comparisons/equal-privacy.yaml.


# Regret against epsilon on the Bernoulli arms of three papers.
use rule draw as equal_privacy_extra_equal_privacy with:
    input:
        results("equal-privacy", "ts-is-dp-arms", "dp-ts-ucb-arms", "dp-ncb-arms"),
    output:
        figure(
            "equal-privacy",
            "extra-equal-privacy-a",
            "extra-equal-privacy-b",
            "extra-equal-privacy-c",
            "extra-equal-privacy-d",
            "extra-equal-privacy-e",
            "extra-equal-privacy-f",
            "extra-equal-privacy-g",
            "extra-equal-privacy-h",
            "extra-equal-privacy-i",
            "extra-equal-privacy",
        ),
    log:
        "logs/equal-privacy/extra-equal-privacy.log",


# The numbers of the figure.
use rule tabulate as equal_privacy_table_extra_equal_privacy with:
    input:
        results("equal-privacy", "ts-is-dp-arms", "dp-ts-ucb-arms", "dp-ncb-arms"),
    output:
        table("equal-privacy", "extra-equal-privacy"),
    log:
        "logs/equal-privacy/table-extra-equal-privacy.log",


# Levels and tuned parameters.
use rule tabulate as equal_privacy_table_extra_tuning with:
    input:
        results("equal-privacy", "ts-is-dp-arms", "dp-ts-ucb-arms", "dp-ncb-arms"),
    output:
        table("equal-privacy", "extra-tuning"),
    log:
        "logs/equal-privacy/table-extra-tuning.log",
