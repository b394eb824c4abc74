"""Sun 2021 (Robotics 10, 36): a pointing mechanism whose joint has clearance, identified by a bee colony.

`jointwatch reproduce pointing | clearance`. Read pointing.py first; clearance.py shows where clearance models help.
"""
