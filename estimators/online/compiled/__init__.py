"""What runs for every row: compiled, and without a decision."""
