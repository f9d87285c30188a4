"""The static site: every figure, claim and verdict to read, from the csv files that exist."""
