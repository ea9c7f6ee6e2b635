"""Run conditions of a kernel: device, cache state, layout and execution.

asv sets each as an environment variable, so that every value makes lines of its own. Readers of
results distinguish lines by all of them, and take the usual value for one that is not set.
"""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from deepbench_ops.errors import DeepbenchError

VALUE = re.compile("[a-z][a-z0-9_]*")
"""Of any condition: it becomes part of the names of result files."""


@dataclass(frozen=True)
class Condition:
    """One of them: its name in tables and pages, its variable, its values, the usual one first.

    on_request: whether asv's configuration leaves it out unless another value is asked for.
    """

    name: str
    variable: str
    values: tuple[str, ...]
    on_request: bool = False

    @property
    def usual(self) -> str:
        """Its value where it is not set."""
        return self.values[0]

    def of(self, variables: Mapping[str, str]) -> str:
        """Return its value among environment variables."""
        return variables.get(self.variable) or self.usual

    def asked(self) -> str:
        """Return its value in this process; DeepbenchError for one that it does not have."""
        wanted = self.of(os.environ)
        if wanted not in self.values:
            raise DeepbenchError(f"{self.variable} is {wanted!r}: one of {', '.join(self.values)}")
        return wanted


DEVICE = Condition("device", "DEEPBENCH_DEVICE", ("cpu",))
"""Frameworks declare further devices: `backends/framework_list.py`."""
CACHE = Condition("cache", "DEEPBENCH_CACHE", ("warm", "cold"))
LAYOUT = Condition("layout", "DEEPBENCH_LAYOUT", ("published", "channels_last"), on_request=True)
EXECUTION = Condition(
    "execution", "DEEPBENCH_EXECUTION", ("eager", "compiled", "onnxruntime"), on_request=True
)
"""The program that runs a network: its framework as it is, compiled, or ONNX Runtime, to which it
is exported. Of everything else, and of training, "eager" is the framework's own way."""

CONDITIONS = (DEVICE, CACHE, LAYOUT, EXECUTION)


def demand_usual(conditions: Iterable[Condition], reason: str) -> None:
    """Raise DeepbenchError where an environment variable asks for an unusual condition.

    reason: the end of the message: why the command cannot measure so, and the mend.
    """
    for one in conditions:
        if one.of(os.environ) != one.usual:
            raise DeepbenchError(f"{one.variable} is {one.of(os.environ)}: {reason}")


def demand_warm() -> None:
    """Raise DeepbenchError where cold caches are asked for: live processes have warm ones."""
    demand_usual([CACHE], "this command measures with warm caches alone; unset it, or use asv run")
