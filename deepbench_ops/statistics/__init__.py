"""Statistics of seconds. `sample_interval` and `student` need no more than the standard library."""
