"""A project folder: its config, what is built from what, and what it costs."""
