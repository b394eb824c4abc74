"""Trials of random arms with four to seven axes: their disturbances, and the findings that are reported."""
