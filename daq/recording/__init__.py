"""Recordings.

Writing: `process.py` is the recorder; `mcap_file.py`, `json_channels.py` and `mcap_index.py` write a file, and
`folder.py` keeps the folder within its limits. Reading: `reader.py` reads our own recordings, `columns.py` reads
recordings in columns, and `ros_bag.py` and `ros_messages.py` read ROS 2 bags. `proposal` proposes a table of columns,
with `questions.py`.
"""
