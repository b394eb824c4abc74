"""Robots whose joints pull on each other: one simulation, an axis a joint."""
