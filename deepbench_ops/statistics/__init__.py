"""Statistics of seconds.

`confidence`, `median_interval` and `student_distribution` work without numpy and scipy.
"""
