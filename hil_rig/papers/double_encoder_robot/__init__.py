"""Liu 2023 (Actuators 12, 454): a six-axis robot with two encoders on each joint, identified in three loops.

`jointwatch reproduce double-encoder-robot`. Read judge.py first: it makes the runs and compares the results.
identify.py is our identification.
"""
