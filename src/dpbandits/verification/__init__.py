"""Recompute a stated random sample of what stands in the results, and hold both side by side."""
