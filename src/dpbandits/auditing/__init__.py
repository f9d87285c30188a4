"""The privacy audit: certified lower bounds on what each algorithm leaks.

``events`` has what an event shows, exactly or from counts. ``run`` audits an algorithm and
``functions`` any function as a black box: ``mechanisms`` makes outputs, ``statistics`` has the
events that are tried, ``blackbox`` chooses one of them on half of the runs and counts it on the
others. All else is exact: ``thompson``, ``lattice`` and ``likelihood`` for Gaussian Thompson
sampling; ``laplace``, ``best_arm``, ``gdp_ncb`` and ``index_policies`` for decisions between noisy
releases; ``support`` for outputs that one of two tables makes impossible. ``statements`` and
``thompson_statements`` make the rows (``rows``) of the audit table, ``curves`` what is drawn.
"""
