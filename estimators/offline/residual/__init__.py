"""What a robot's model leaves over, from the twist between its two encoders: learnt models, their watch, a column."""
