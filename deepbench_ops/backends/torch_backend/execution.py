"""A network as its users run it: eager, compiled by torch, or exported to ONNX Runtime."""

import tempfile
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from deepbench_ops.backends.torch_backend import quantised
from deepbench_ops.backends.torch_backend.needed import needed
from deepbench_ops.errors import Unsupported

Call = Callable[..., Any]


def prepared(
    module: nn.Module,
    inputs: Sequence[Tensor],
    way: str,
    threads: int,
    calibrating: Sequence[Tensor] | None = None,
) -> Call:
    """Return what is called with inputs like these, by one of WAYS, on so many threads.

    calibrating: for int8, what shows how large numbers become on the way. Raises Unsupported where
    the way asks for what is not there.
    """
    if way == "compiled":
        return _compiled(module, inputs, calibrating)
    if way == "onnxruntime":
        return _exported(module, inputs, threads, calibrating)
    if calibrating is not None:
        raise Unsupported("int8 needs a network compiled, or exported to ONNX Runtime")
    return module


def _compiled(
    module: nn.Module, inputs: Sequence[Tensor], calibrating: Sequence[Tensor] | None
) -> Call:
    weights: Any = nullcontext()
    if calibrating is not None:
        module, weights = quantised.for_compiling(module, calibrating), quantised.packed()
    compiled: Call = torch.compile(module)
    try:
        with torch.inference_mode(), weights:
            compiled(*inputs)
    except RuntimeError as wrong:  # no compiler of C++, say
        reason = str(wrong).strip().splitlines()[0]
        raise Unsupported(f"torch.compile cannot compile the network here: {reason}") from None
    return compiled


def _exported(
    module: nn.Module,
    inputs: Sequence[Tensor],
    threads: int,
    calibrating: Sequence[Tensor] | None,
) -> Call:
    weights = next(module.parameters())
    if weights.device.type != "cpu" or weights.dtype is torch.bfloat16:
        raise Unsupported("exported networks run on the cpu alone, in float32, float16 or int8")
    needed("onnxruntime", "onnx", "onnxscript")
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "network.onnx"  # weights beside it: a model holds 2 GB at most
        with torch.no_grad():
            program = torch.onnx.export(module, tuple(inputs), dynamo=True, verbose=False)
        assert program is not None
        program.save(str(path), external_data=True)
        if calibrating is not None:
            path = quantised.of_file(path, calibrating)
        session = onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"]
        )
    names = [each.name for each in session.get_inputs()]

    def run(*given: Tensor) -> object:
        feeds = {name: each.numpy() for name, each in zip(names, given, strict=True)}
        made = [torch.from_numpy(each) for each in session.run(None, feeds)]
        return made[0] if len(made) == 1 else tuple(made)

    return run
