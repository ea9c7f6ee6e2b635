"""A framework of another distribution, and the device that it brings."""

POSITION = 90
DEVICES = {"toy0": "toy0_yardstick"}
