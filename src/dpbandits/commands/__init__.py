"""The commands, one file for each, that a rule or a user runs."""
