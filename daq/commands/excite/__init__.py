"""`jointwatch excite`: finds the most informative trajectory within a robot's limits, or judges one."""
