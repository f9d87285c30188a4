"""What the algorithms for best-arm identification share."""
