"""Ranks of one machine: the group that starts them, their program, and forks of one import."""
