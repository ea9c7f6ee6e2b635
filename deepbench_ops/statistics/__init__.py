"""Statistics of seconds. `intervals` and `student` need no more than the standard library."""
