"""The history file: what joints were like over years, by minute, hour and day, in one SQLite file a robot.

`tables.py` has its tables, `interval.py` what is written of one minute, `file.py` writes, `reading.py` reads.
"""
