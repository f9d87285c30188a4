"""Claims: sentences of papers as comparisons, the one function that decides, and the tables.

Entries are models of `config.claims`. `series` finds results, `measure` computes the numbers of a
comparison, `verdict.decide` decides it, `judge` judges each reading, `tables` writes the rows and
counts the verdicts.
"""
