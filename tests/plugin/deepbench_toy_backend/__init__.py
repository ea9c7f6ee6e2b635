"""A framework of another distribution, and the device that it brings."""

POSITION = 90
VARIABLES = ("TOY_",)
DEVICES = {"toy0": "toy0_yardstick"}
