"""From bits to readings in SI: extract.py contains the kernel, decoder.py its tables and the counters of losses."""
