"""Exact likelihoods of Gaussian Thompson sampling on pull-indexed reward tables.

On such a table the law of a decision is a function of the numbers of pulls alone. `scores` holds
the centres and variances of each algorithm, `choice` the chance of each arm, `lattice` and
`lattice_many` the exact law of the log-likelihood ratio, `tradeoff` the bounds that follow from it,
`far_tail` one transcript at any horizon, `sampled` simulated outputs with exact likelihood ratios,
`competitor` the best that the first epoch of DP-TS-UCB can leak, `one_round` single decisions.
`statements` and `curves` put them together; `agreement` compares with the registered kernels.

In every array of tables the first axis is the input: 0 is x, 1 is x'.
"""
