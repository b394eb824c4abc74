"""The pipeline of a mechanism with loops, and what it shares with that of a whole robot: several joints as one."""
