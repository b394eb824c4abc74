"""What has changed of a joint: drift against a reference, and records until a person acknowledges them."""
