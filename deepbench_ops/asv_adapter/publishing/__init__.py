"""What `asv publish` is made to do otherwise: faster, self-contained, escaped."""
