"""Ours, in none of the papers: which private bandit is the best for which question."""
