"""Changes of a joint: drift against a reference, and records that are kept until a person acknowledges them."""
