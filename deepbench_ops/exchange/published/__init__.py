"""Published results filed as those of machines: which machine and which problem each is of."""
