"""DP-NCB: Privacy Preserving Fair Bandits (Sarkar, Pandey, Ray Chowdhury, AAAI 2026)."""
