"""Frameworks that execute ONNX models: everything that their backends share."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from deepbench_ops.backends.base import Builder
from deepbench_ops.backends.functional import Call, CpuBackend, Function, builder
from deepbench_ops.backends.onnx_models.graph import OnnxModel


class Runtime(CpuBackend):
    """A framework that compiles a model, and runs it on what it is fed."""

    nchw_alone = "ONNX describes convolutions of NCHW alone: a runtime lays out by itself"
    notes: ClassVar[Mapping[str, str]] = {}
    """Note on the outputs, where they are not new in every call."""

    @classmethod
    def builder_in(cls, module: ModuleType) -> Builder:
        """Return a module's builder of kernels: from its ONNX `model` where it has one."""
        if hasattr(module, "model"):
            return builder(partial(function, module.model))
        return super().builder_in(module)

    @abstractmethod
    def loaded(self, model: OnnxModel) -> Call:
        """Compile a model, and return what runs it once on its feeds."""

    @abstractmethod
    def arrays(self, output: Any) -> Sequence[np.ndarray]:
        """Return what such a call returned, as arrays of numpy."""


def _read(backend: Runtime, read: Callable[..., np.ndarray], output: Any) -> np.ndarray:
    return read(backend.arrays(output))


def function(
    make: Callable[..., OnnxModel],
    backend: Runtime,
    problem: Any,
    drawn: Any,
    precision: str,
    operation: str,
) -> Function:
    """Return an operation as the model that `make` makes of it."""
    model = make(problem, drawn, precision, operation)
    return Function(
        compile=partial(backend.loaded, model),
        read=lambda output: model.read(backend.arrays(output)),
        notes={**model.notes, **backend.notes},
        further={
            name: partial(_read, backend, function) for name, function in model.further.items()
        },
    )
