"""Recordings and logs as drivers: player.py plays any of them at its own pace, the others read a format each."""
