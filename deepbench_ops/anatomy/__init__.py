"""A model's step beside its operations: each one's share of the time, and what it takes alone."""
