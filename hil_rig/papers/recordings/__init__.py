"""Public recordings of real joints with published values, identified with the project's own parts."""
