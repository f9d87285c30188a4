"""Generated documents, from published results and config."""
