# Ours, in none of the papers: what each algorithm leaks, beside what is claimed.
# What is drawn and written is in config/comparisons/privacy-audit.yaml.


# Claimed bound against certified lower bound, every algorithm.
use rule draw as privacy_audit_extra_audit with:
    input:
        results(
            "privacy-audit",
            "releases",
            "decisions",
            "thompson",
            "thompson-long",
            "modified",
            "budgets",
            "black-box",
        ),
    output:
        figure("privacy-audit", "extra-audit"),
    log:
        "logs/privacy-audit/extra-audit.log",


# The audit ledger.
use rule tabulate as privacy_audit_table_extra_audit with:
    input:
        results(
            "privacy-audit",
            "releases",
            "decisions",
            "thompson",
            "thompson-long",
            "modified",
            "budgets",
            "black-box",
        ),
    output:
        table("privacy-audit", "extra-audit"),
    log:
        "logs/privacy-audit/table-extra-audit.log",


# How tight Theorem 3 of ts-is-dp is as T grows.
use rule draw as privacy_audit_extra_theorem_3 with:
    input:
        results("privacy-audit", "thompson", "thompson-long"),
    output:
        figure("privacy-audit", "extra-theorem-3"),
    log:
        "logs/privacy-audit/extra-theorem-3.log",


# Epsilon at delta over T.
use rule draw as privacy_audit_extra_epsilon with:
    input:
        results("privacy-audit", "thompson"),
    output:
        figure("privacy-audit", "extra-epsilon"),
    log:
        "logs/privacy-audit/extra-epsilon.log",


# Both errors at T = 100.
use rule draw as privacy_audit_extra_trade_off with:
    input:
        results("privacy-audit", "trade-off"),
    output:
        figure("privacy-audit", "extra-trade-off"),
    log:
        "logs/privacy-audit/extra-trade-off.log",


# Modified TS by the pre-pulls.
use rule draw as privacy_audit_extra_modified with:
    input:
        results("privacy-audit", "modified"),
    output:
        figure("privacy-audit", "extra-modified"),
    log:
        "logs/privacy-audit/extra-modified.log",


# DP-TS-UCB by alpha.
use rule draw as privacy_audit_extra_budgets with:
    input:
        results("privacy-audit", "budgets"),
    output:
        figure("privacy-audit", "extra-budgets"),
    log:
        "logs/privacy-audit/extra-budgets.log",


# GDP-NCB by T and by the rounds of alternation.
use rule draw as privacy_audit_extra_gdp_ncb with:
    input:
        results("privacy-audit", "releases", "alternation"),
    output:
        figure("privacy-audit", "extra-gdp-ncb"),
    log:
        "logs/privacy-audit/extra-gdp-ncb.log",


# DP-OD by the angle of the second arm.
use rule draw as privacy_audit_extra_dp_od with:
    input:
        results("privacy-audit", "angles"),
    output:
        figure("privacy-audit", "extra-dp-od"),
    log:
        "logs/privacy-audit/extra-dp-od.log",
