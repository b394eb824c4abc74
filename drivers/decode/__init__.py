"""From bits to readings in SI: extract.py has the kernel, decoder.py its tables and what is counted as lost."""
