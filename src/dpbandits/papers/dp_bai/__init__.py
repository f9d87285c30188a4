"""Fixed-Budget Differentially Private Best Arm Identification (Chen, Karthik, Chee, Tan, 2024)."""
