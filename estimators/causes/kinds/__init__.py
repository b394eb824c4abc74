"""The causes, a file each: what it adds to torque and twist, and its remedy. The catalogue lists them."""
