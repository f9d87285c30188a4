"""One archive to cite and to run, and the description of the run that it holds."""
