"""The history file: values of joints over years, by minute, hour and day, in one SQLite file for each robot.

`tables.py` has its tables, `interval.py` the content of one minute, `file.py` writes, `reading.py` reads.
"""
