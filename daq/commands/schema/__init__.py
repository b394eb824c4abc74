"""`jointwatch schema`: the JSON Schema of the stream and of the configuration, and the stream's types made from it."""
