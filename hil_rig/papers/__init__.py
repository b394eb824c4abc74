"""The published systems and public recordings that jointwatch reproduces: a folder each, with the published figures.

All share figures.py: figures, their table and JSON, the command line. `jointwatch reproduce NAME` runs a program of a
folder; hil_rig/commands/reproduce.py lists them.
"""
