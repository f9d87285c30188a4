"""Comparisons across the papers."""
