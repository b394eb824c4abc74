"""The causes by where they are: what each adds to torque and twist, and its remedy. The catalogue lists them."""
