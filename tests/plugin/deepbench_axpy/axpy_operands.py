"""Operands and true output of y = a x + y."""

from dataclasses import dataclass, field

import numpy as np

from deepbench_ops.random_operands import floats

SMALL = {"elements": 100}
PROBE = {"elements": 1000}
A = 0.5


@dataclass(frozen=True)
class Vectors:
    x: np.ndarray
    y: np.ndarray
    notes: dict = field(default_factory=lambda: {"inputs": "uniform in [-1, 1)"})


@dataclass(frozen=True)
class Sum:
    vectors: Vectors

    @property
    def shape(self):
        return self.vectors.y.shape

    def everywhere(self):
        x, y = (v.astype(np.float64) for v in (self.vectors.x, self.vectors.y))
        allowed = 2 * np.finfo(np.float32).eps * (abs(A * x) + abs(y))
        return A * x + y, allowed

    def at(self, index):
        expected, allowed = self.everywhere()
        return expected[index], allowed[index]


def inputs(problem, precision, seed=0):
    shape = (problem.elements,)
    return Vectors(*(floats(shape, "float32", 1.0, seed, stream) for stream in range(2)))


def reference(problem, drawn, precision, operation):
    return Sum(drawn)
