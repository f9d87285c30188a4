"""The privacy audit: certified lower bounds on what each algorithm leaks.

``events`` has what an event shows, exactly or from counts. ``blackbox`` audits any
function by runs: ``statistics`` has the events that are tried, of which one is chosen on half of
the runs and counted on the others. ``run`` audits an algorithm so, whose outputs ``mechanisms``
makes. All else is exact but for the simulated outputs that ``thompson`` counts: ``thompson``
and ``lattice`` for Gaussian Thompson sampling; ``best_arm``, ``gdp_ncb`` and ``index_policies`` for
decisions between noisy releases, by the chances of ``laplace``; ``support`` for outputs that one of
two tables makes impossible; ``statements`` for local reports. Each makes the rows (``rows``) of the
audit table from its events; ``statements`` also says which, at which parameters. What is audited by
runs is the field ``audit`` of each algorithm. ``comparisons.privacy_audit`` gathers
both and decides which bounds of its table are counterexamples; ``claims`` decide on the same bounds
as on all other numbers.
"""
