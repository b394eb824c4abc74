"""Lost motion, stiffness and error of a gear between two encoders, live."""
