"""CAN buses: one driver (bus.py) on the adapter that the configuration names.

adapter.py opens any interface; socketcan.py, multicast.py and slcan.py read the three that are read in bulk by kernels
(take.py, recvmmsg.py, packed_frame.py), all others go through python-can. bus_errors.py counts what the bus reports.
"""
