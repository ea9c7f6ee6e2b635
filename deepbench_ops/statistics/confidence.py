"""The confidence of all intervals and verdicts, unless a module says otherwise."""

CONFIDENCE = 0.99
"""Share of intervals that hold the true value."""
