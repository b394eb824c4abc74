"""Wear: how much a joint has been used, and how long a drifting quantity takes to its limit.

`use_counts.py` counts a joint's motion, which is the clock of wear; `time_to_limit.py` says how much use is left.
"""
