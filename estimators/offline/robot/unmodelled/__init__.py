"""What an identified model of a whole robot lacks: friction beyond its law, and the lag of a torque."""
