"""The parts of multilevel coordinate search, each compiled with the one kernel in sweeps.py."""
