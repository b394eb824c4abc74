"""What a configuration says of a whole robot: its model, or its mechanism."""
