"""Measurements on many machines: a plan of jobs, which ReFrame gives to a scheduler."""
