"""What is told of an estimate."""
