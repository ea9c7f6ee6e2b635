"""A framework of another distribution: numpy under another name."""

POSITION = 90
