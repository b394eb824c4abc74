"""Whether a row may teach, a joint rests, a value is valid and a model fits."""
