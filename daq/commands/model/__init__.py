"""`jointwatch model`: shows, compares and exports the model of a whole robot that `jointwatch identify` wrote."""
