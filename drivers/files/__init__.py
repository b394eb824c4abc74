"""Recordings and logs as drivers: player.py plays any of them at the recorded speed; each other file reads one
format."""
