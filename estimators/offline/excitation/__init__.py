"""Trajectories that tell much: periodic motion, its limits, its criteria."""
