"""Changes of `asv publish`: our own pages, sound values, and speed-ups."""
