"""Many recordings of many robots: `addresses.py` finds them, `examine.py` identifies the joints of each
recording, `verdict.py` compares each robot with its siblings, `parquet.py` writes the results."""
