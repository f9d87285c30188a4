"""Ours, in none of the papers: lower bounds on the privacy loss of every algorithm."""
