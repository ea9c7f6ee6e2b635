"""A network as its users run it: eager, compiled by torch, or exported to ONNX Runtime."""

import inspect
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from deepbench_ops.backends.torch_backend import quantised
from deepbench_ops.backends.torch_backend.needed import BESIDE, needed
from deepbench_ops.errors import Unsupported


class Served(NamedTuple):
    """What is called with inputs, and what that runs, in words."""

    call: Callable[..., Any]
    route: str


def prepared(
    module: nn.Module,
    inputs: Sequence[Tensor],
    execution: str,
    threads: int,
    calibrating: Sequence[Tensor] | None = None,
) -> Served:
    """Return what is called with inputs like these on so many threads, compiled and run once.

    execution: one of conditions.EXECUTION's. calibrating: for int8, what shows how large numbers
    become on the way. Raises Unsupported where the execution asks for what is not there.
    """
    if execution == "compiled":
        with _on(threads):
            return _compiled(module, inputs, calibrating)
    if execution == "onnxruntime":
        return _exported(module, inputs, threads, calibrating)
    if calibrating is not None:
        raise Unsupported(
            "int8 needs a network compiled, or exported to ONNX Runtime"
            " (DEEPBENCH_EXECUTION, --by): torch runs nothing quantised eagerly"
        )
    return Served(module, "eager, inference_mode")


@contextmanager
def _on(threads: int) -> Iterator[None]:
    """Run on so many threads: compiled code is for as many as there were when it was made."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _compiled(
    module: nn.Module, inputs: Sequence[Tensor], calibrating: Sequence[Tensor] | None
) -> Served:
    """Compile for these very sizes: after a smaller twin, torch would leave them open."""
    weights: Any = nullcontext()
    route = "torch.compile"
    if calibrating is not None:
        module, weights = quantised.for_compiling(module, calibrating), quantised.packed()
        route = "quantised by torchao (PT2E, x86), torch.compile"
    torch.compiler.reset()  # what was compiled before counts against a limit, then all is eager
    before = _graphs()
    compiled = torch.compile(module, dynamic=False)
    try:
        with torch.inference_mode(), weights:
            compiled(*inputs)
    except RuntimeError as wrong:  # no compiler of C++, say
        reason = str(wrong).strip().splitlines()[0]
        raise Unsupported(f"torch.compile cannot compile the network here: {reason}") from None
    made = _graphs() - before
    if not made:
        raise Unsupported("torch.compile leaves all of the network eager")
    parts = "one graph" if made == 1 else f"{made} graphs, eager between them"
    return Served(compiled, f"{route} in {parts}, inference_mode")


def _graphs() -> int:
    """Return how many graphs torch has compiled in this process."""
    from torch._dynamo.utils import counters

    return int(counters["stats"]["unique_graphs"])


def _exported(
    module: nn.Module,
    inputs: Sequence[Tensor],
    threads: int,
    calibrating: Sequence[Tensor] | None,
) -> Served:
    weights = next(module.parameters())
    if weights.device.type != "cpu" or weights.dtype is torch.bfloat16:
        raise Unsupported("exported networks run on the cpu alone, in float32, float16 or int8")
    needed(*BESIDE["onnxruntime"])
    if "dynamo" not in inspect.signature(torch.onnx.export).parameters:
        raise Unsupported("this torch cannot export a network by tracing it (dynamo)")
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
    route = f"exported (dynamo), onnxruntime on {session.get_providers()[0]}"
    if calibrating is not None:
        route = f"quantised by onnxruntime ({quantised.kind(calibrating)}), {route}"

    def run(*given: Tensor) -> object:
        feeds = {name: each.numpy() for name, each in zip(names, given, strict=True)}
        made = [torch.from_numpy(each) for each in session.run(None, feeds)]
        return made[0] if len(made) == 1 else tuple(made)

    return Served(run, route)
