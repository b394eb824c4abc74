"""What an encoder's steps do to rows and to what is learnt from them, for one joint and for a whole robot."""
