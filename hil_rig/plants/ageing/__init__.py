"""Joints that age: friction by speed, load, temperature and wear (`friction.py`), simulated over years (`years.py`)."""
