"""Plausibility: what a measured signal cannot be, whatever the joint."""
