"""Claims: sentences of papers as comparisons, the one function that decides, and the tables.

Entries are models of `config.claims`. `series` has the results, `measure` what a comparison makes
of them, `verdict.decide` decides, `judge` applies it, `tables` writes and counts the words.
"""
