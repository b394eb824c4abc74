"""Processes that run tests, the copies of the tree in which they do, and what both begin with."""
