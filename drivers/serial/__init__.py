"""Serial lines: port.py is the driver, deframer.py finds packets in the bytes, packets.py describes their contents."""
