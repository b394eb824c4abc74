"""Faults that no cause of the estimators knows, a file each: the answer to them is that the cause is unknown."""
