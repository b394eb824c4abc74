"""`jointwatch report`: a recording as one self-contained page."""
