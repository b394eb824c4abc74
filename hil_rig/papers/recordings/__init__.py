"""Public recordings of real joints with published values, identified by this project.

`jointwatch reproduce emps` (emps_live.py, over a wire), `emps-laws` (emps.py), `xl330`, `sea`, `lost-motion`. Read
sea.py first, the shortest; readers.py finds and reads the recordings, and fit.py fits a model to one.
"""
