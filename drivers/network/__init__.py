"""Sources on a network: controllers and middlewares that publish what their robot does."""
