"""Recordings through the pipeline again.

`repeat.py` repeats our own recordings bit for bit; `replay.py` plays recordings of other programs, which `sources.py`
reads and for which `from_columns.py` can make a configuration. `aligned.py` and `delays.py` use alignment alone, to
align channels and to measure delays. `robot_runs.py` reads recordings of a whole robot.
"""
