"""Statistics of seconds; `sample_interval` and `student_distribution` without numpy and scipy."""
