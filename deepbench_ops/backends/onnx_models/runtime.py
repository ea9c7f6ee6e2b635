"""Common code of the frameworks that execute ONNX models."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from deepbench_ops.backends.backend_interface import Builder
from deepbench_ops.backends.functional import Call, CpuBackend, Function, builder
from deepbench_ops.backends.onnx_models.graph import OnnxModel


class Runtime(CpuBackend):
    """A framework that compiles a model and runs it on its inputs."""

    lacking_layouts: ClassVar[Mapping[str, str]] = {
        "channels_last": "ONNX describes convolutions in NCHW only; a runtime has its own layout"
    }
    notes: ClassVar[Mapping[str, str]] = {}
    """Notes on the outputs, for a runtime whose calls do not return new ones."""

    @classmethod
    def builder_in(cls, module: ModuleType) -> Builder:
        """Return the builder of kernels that a module defines, by its `model` where it has one.

        OTHERWISE in the module has models, by runtime, for releases that cannot read `model`, and
        OWN those that a runtime takes in all releases instead of `model`.
        """
        if cls.name in getattr(module, "OWN", {}):
            return builder(partial(function, module.OWN[cls.name]))
        if cls.name in getattr(module, "OTHERWISE", {}):
            return builder(partial(readable, (module.model, module.OTHERWISE[cls.name])))
        if hasattr(module, "model"):
            return builder(partial(function, module.model))
        return super().builder_in(module)

    @abstractmethod
    def loaded(self, model: OnnxModel) -> Call:
        """Compile a model, and return a call that runs it once on its inputs."""

    def refuse(self, model: OnnxModel) -> None:
        """Raise Unsupported for a model that the runtime would compute in another precision."""

    @abstractmethod
    def arrays(self, output: Any) -> Sequence[np.ndarray]:
        """Return the outputs of such a call as numpy arrays. output: result of the call."""


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
    """Return an operation that is executed as the model that `make` returns."""
    model = make(problem, drawn, precision, operation)
    if precision == "bfloat16":
        model = replace(model, bfloat16=True)
    backend.refuse(model)
    return Function(
        compile=partial(backend.loaded, model),
        read=lambda output: model.read(backend.arrays(output)),
        notes={**model.notes, **backend.notes},
        further={
            name: partial(_read, backend, function) for name, function in model.further.items()
        },
    )


def readable(
    makes: tuple[Callable[..., OnnxModel], Callable[..., OnnxModel]],
    backend: Runtime,
    problem: Any,
    drawn: Any,
    precision: str,
    operation: str,
) -> Function:
    """Return an operation as the first of two models, or as the second where this release cannot
    read the first. The route in the notes is that of the model."""
    first, second = (
        partial(function, make, backend, problem, drawn, precision, operation) for make in makes
    )
    try:
        found = first()
        found.compile()
    except Exception as error:
        if not backend.lacks(error):
            raise
        return second()
    return found
