"""The published systems and public recordings that jointwatch reproduces: a folder each, with the published figures.

All use figures.py for their figures, the table, JSON and the command line. `jointwatch reproduce NAME` runs a program
in a folder; hil_rig/commands/reproduce.py lists the programs.
"""
