"""Recordings.

Writing: `process.py` is the recorder; `mcap_file.py`, `json_channels.py` and `mcap_index.py` write a file, `folder.py`
keeps the folder within its limits. Reading: `reader.py` reads our own recordings, `columns.py` tables of columns,
`ros_bag.py` and `ros_messages.py` ROS 2 bags; `proposal` proposes a table of columns, with `questions.py`.
"""
