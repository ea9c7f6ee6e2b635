"""Results in forms that other programs read."""
