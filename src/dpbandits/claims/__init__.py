"""Claims: sentences of papers as comparisons, the one function that decides, and the tables.

Entries are models of `config.claims`. `series` has the results, `measure` what a comparison makes
of them, `judge` comes to the words, `tables` writes and counts them.
"""
