"""Changes of `asv publish`: faster, self-contained, escaped."""
