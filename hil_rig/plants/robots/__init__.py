"""Robots with dynamically coupled joints: one simulation, in which each axis is a joint."""
