"""A family of another distribution: y = a x + y."""
