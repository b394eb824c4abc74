"""The causes that compete: each in a file of its own, as base.py declares them, and listed in catalogue.py."""
