"""What a joint's torque model leaves over, as learnt from the twist between its two encoders and its speed.

mixture.py     a mixture of Gaussians, and the mean that it gives
bases.py       radial basis functions: a kernel average, and ridge least squares
learned.py     either of them as a model file holds it
"""
