"""Figures and tables, drawn from results as the experiments file says."""
