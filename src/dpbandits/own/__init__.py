"""Users' code: policies, arms, and the check of an algorithm."""
