"""Joints that age: friction by speed, load and temperature with wear (`friction.py`), and years of it (`years.py`)."""
