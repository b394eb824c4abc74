"""Pipelines of what bearings carry and how much room they have: a mechanism with loops, and a bearing's clearance."""
