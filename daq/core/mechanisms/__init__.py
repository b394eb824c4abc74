"""The pipeline of a mechanism with loops, and the code that it shares with the pipeline of a whole robot."""
