"""From a project folder to its results, figures, tables and verdicts."""
