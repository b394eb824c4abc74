"""Whether a model leaves out something, and what: scores of columns that the model does not have."""
