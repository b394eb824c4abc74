"""The configuration file.

`sections.py` has every table and key; `load.py` reads and checks a file; `checks.py` and `physics.py` check across
tables; `routes.py` makes the table of channels from it; `words.py` and `toml_lines.py` put mistakes into words with
their line; `robots/` reads the models of whole robots and mechanisms.
"""
