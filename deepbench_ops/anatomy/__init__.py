"""A model taken apart: the operations of one step, each with its share of the time, and alone."""
