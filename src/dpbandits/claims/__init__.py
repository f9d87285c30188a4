"""Claims: sentences of papers as comparisons, the one function that decides, and the tables.

Entries are models of `config.claims`. `Evidence` (measure) gives the results, `judge` comes to the
words, `tables` writes and counts them. This module imports none of them, so that a workflow reads
what claims read alone.
"""
