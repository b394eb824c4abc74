"""A whole robot from recordings: rows, the recipe, the law, how far each value is to be trusted."""
