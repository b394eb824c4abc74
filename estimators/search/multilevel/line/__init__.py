"""Line searches: the line in the box, its steps, the search."""
