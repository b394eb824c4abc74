"""Ding 2018 (J. Robotics, 8219123): the ER-16 arm, its parameters by cuckoo search and by variable projection.

`jointwatch reproduce er16`. Read judge.py first: it makes the runs and compares; identify.py is ours.
"""
