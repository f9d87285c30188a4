"""Thompson Sampling Itself is Differentially Private (Ou, Avella Medina, Cummings, 2024)."""
