"""CAN buses: one driver (bus.py), which uses the adapter named in the configuration.

adapter.py opens any interface. socketcan.py, multicast.py and slcan.py read three of them in bulk with kernels
(take.py, recvmmsg.py, packed_frame.py); all others are read with python-can. bus_errors.py counts the errors that the
bus reports.
"""
