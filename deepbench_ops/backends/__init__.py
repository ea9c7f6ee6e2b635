"""How an operation is run: one module per framework behind one small interface.

A framework is imported when its backend is loaded and never before, so that a process
measuring one of them neither pays for nor is disturbed by the threads of another, and so that
the list of backends can be read where none is installed.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from deepbench_ops.conditions import DEVICE
from deepbench_ops.errors import DeepbenchError

if TYPE_CHECKING:
    from deepbench_ops.backends.base import Backend

_CLASSES = {
    "numpy": ("deepbench_ops.backends.numpy_backend", "NumpyBackend"),
    "torch": ("deepbench_ops.backends.torch_backend", "TorchBackend"),
    "jax": ("deepbench_ops.backends.jax_backend", "JaxBackend"),
    "onnxruntime": ("deepbench_ops.backends.onnxruntime_backend", "OnnxRuntimeBackend"),
    "openvino": ("deepbench_ops.backends.openvino_backend", "OpenVinoBackend"),
    "tensorflow": ("deepbench_ops.backends.tensorflow_backend", "TensorFlowBackend"),
    "mindspore": ("deepbench_ops.backends.mindspore_backend", "MindSporeBackend"),
}
NAMES = tuple(_CLASSES)
COMPANIONS = {"onnxruntime": ("onnx",), "openvino": ("onnx",), "jax": ("jaxlib",)}
"""What a backend cannot do without beside its framework."""

DEVICES = DEVICE.values


def load(name: str, device: str = "cpu") -> "Backend":
    """Return the backend called `name` (one of NAMES) on `device` (one of DEVICES).

    Raises DeepbenchError for an unknown name or device or a framework that is not installed,
    Unsupported (with the reason) where the framework cannot use that device here.
    """
    if device not in DEVICES:
        raise DeepbenchError(f"unknown device {device!r}: choose one of {', '.join(DEVICES)}")
    preload(name)
    module_name, class_name = _CLASSES[name]
    backend: Backend = getattr(import_module(module_name), class_name)(device)
    return backend


def preload(name: str) -> None:
    """Import the framework called `name` and nothing more: no operation, no device context.

    For a process that will fork its workers. Raises DeepbenchError as `load` does.
    """
    if name not in _CLASSES:
        raise DeepbenchError(f"unknown framework {name!r}: choose one of {', '.join(NAMES)}")
    try:
        import_module(_CLASSES[name][0])
    except ModuleNotFoundError as missing:
        if missing.name not in (name, *COMPANIONS.get(name, ())):
            raise
        raise DeepbenchError(
            f"{missing.name} is not installed in this environment: install it with 'pip install"
            f" {missing.name}'"
        ) from None
