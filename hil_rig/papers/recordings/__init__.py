"""Public recordings of real joints with published values, identified with the project's own parts.

`jointwatch reproduce emps` (emps_live.py, over a wire), `emps-laws` (emps.py), `xl330`, `sea`, `lost-motion`. Read
sea.py first, the shortest; readers.py knows where the recordings lie and fit.py fits a model to one.
"""
