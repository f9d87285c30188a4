"""Users' code: policies, arms, the loading and identity of both, and checks."""
