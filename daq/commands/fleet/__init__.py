"""Many recordings at once."""
