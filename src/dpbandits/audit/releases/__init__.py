"""Exact privacy losses of decisions that compare Laplace (or Gaussian) releases.

`laplace` has the formulas, `losses` the largest loss over neighbouring tables. `best_arm`, `dp_od`
and `gaussian_means` are the algorithms for best-arm identification, `stop_test`, `phase_two` and
`carried_means` GDP-NCB, `elimination` DP-SE, `tree` every transcript of an episodic index policy
with two arms. Functions named `..._rows` return the rows of the audit table.
"""
