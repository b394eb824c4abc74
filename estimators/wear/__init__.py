"""Wear: how much a joint has been used, how much its friction has grown, and how long it takes to its limit.

`use_counts.py` counts a joint's motion, which is the clock of wear. `dry_wear.py` separates wear from heat and load,
with the temperature of `warmth.py` and `thermal_state.py` and the surface of `friction_surface.py`, from the hours of
`friction_hours.py`. `time_to_limit.py` says how much use is left, since the last repair (`repairs.py`).
"""
