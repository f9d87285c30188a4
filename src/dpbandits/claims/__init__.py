"""Claims: statements of a paper as comparisons, the one verdict function, and the ledger.

`claims_of` and `findings_of` check `claims.yaml` and `findings.yaml` of `config/papers/PAPER/`;
`Evidence` gives the results; `judge` comes to the verdicts; `ledger`, `comparisons` and `explain`
write them down. This module imports none of them, so that a workflow reads what claims read alone.
"""
