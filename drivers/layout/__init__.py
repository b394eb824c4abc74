"""The contents of frames: described in the configuration, in a DBC, or by a ready layout (ready/); checksums, counters.

Read frame.py first: every description of frames is converted to its `FrameLayout`.
"""
