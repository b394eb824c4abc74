"""Ding 2018 (J. Robotics, 8219123): the ER-16 arm, identified by cuckoo search and by variable projection.

`jointwatch reproduce er16`. Read judge.py first: it makes the runs and compares the results. identify.py is our
identification.
"""
