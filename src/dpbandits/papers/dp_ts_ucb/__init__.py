"""Connecting Thompson Sampling and UCB (Hu, Huang, Zhang, Lecuyer, Hegde, ICML 2025)."""
