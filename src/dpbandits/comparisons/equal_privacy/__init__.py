"""Ours, in none of the papers: their regret algorithms side by side at equal privacy."""
