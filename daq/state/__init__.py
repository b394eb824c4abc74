"""Files that outlive a restart.

`files.py` says where they are and replaces them as a whole; `baselines.py`, `checkpoint_file.py` and `robot_model.py`
are the files, `history/` is the one of years; `toml_text.py` writes readable TOML.
"""
