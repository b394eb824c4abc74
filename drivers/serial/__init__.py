"""Serial lines: port.py is the driver, deframer.py finds packets among bytes, packets.py says what is in them."""
