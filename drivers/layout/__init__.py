"""What is in a frame: frames of the configuration, of a DBC, or one of the ready layouts (ready/); checksums, counters.

Read frame.py first: each way to describe frames ends in its `FrameLayout`.
"""
