"""A fleet while it runs: `collector.py` subscribes to many services, `writer.py` writes what they say into a lake.

`lake.py` is the folder of Parquet files, `roll_up.py` makes minutes, hours and days of it, `standing.py` compares the
robots by what is in it.
"""
