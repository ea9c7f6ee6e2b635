"""Execution of a network: eager, compiled by torch, or exported to ONNX Runtime."""

import inspect
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from deepbench_ops.backends.free_memory import available
from deepbench_ops.backends.torch_backend import int8_networks, known_warnings
from deepbench_ops.backends.torch_backend.int8_networks import Batches
from deepbench_ops.backends.torch_backend.optional_packages import NEEDED, require
from deepbench_ops.errors import BeyondLimits, Unsupported

ONNX_INTER_OP = 1
"""Threads between operations in a session of ONNX Runtime, which runs them one after the other."""


class Served(NamedTuple):
    """Functions that run a network, one for each simultaneous batch.

    route: description for the record.
    """

    calls: Sequence[Callable[..., Any]]
    route: str


def prepared(
    module: nn.Module,
    inputs: Sequence[Tensor],
    execution: str,
    threads: int,
    at_once: int = 1,
    calibrating: Batches | None = None,
) -> Served:
    """Return functions that run the network on inputs like these; compiled ones have run once.

    execution: one of the values of conditions.EXECUTION. threads: number for each call. at_once:
    number of simultaneous calls. calibrating: for int8, batches that show the range of intermediate
    numbers. Raises Unsupported where the execution needs something that is not installed, or does
    not fit the device or the precision.
    """
    known_warnings.silence()
    if execution == "compiled":
        with _on(threads):
            called, route = _compiled(module, inputs, calibrating)
        return Served([called] * at_once, route)
    if execution == "onnxruntime":
        return _exported(module, inputs, threads, at_once, calibrating)
    if calibrating is not None:
        raise Unsupported(
            "int8 needs a network compiled, or exported to ONNX Runtime"
            " (DEEPBENCH_EXECUTION, --by): torch has no int8 networks in eager mode"
        )
    return Served([module] * at_once, "eager, inference_mode")


@contextmanager
def _on(threads: int) -> Iterator[None]:
    """Context with `threads` threads; compiled code uses the number at the time of compilation."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _compiled(
    module: nn.Module, inputs: Sequence[Tensor], calibrating: Batches | None
) -> tuple[Callable[..., Any], str]:
    """Compile the network for the sizes of these inputs, and run it once.

    Returns the compiled network and its description. dynamic=False is needed because torch would
    otherwise compile for any size after a smaller twin.
    """
    weights: Any = nullcontext()
    route = "torch.compile"
    if calibrating is not None:
        module, weights = int8_networks.for_compiling(module, calibrating), int8_networks.packed()
        route = f"quantised by torchao (PT2E, x86, {int8_networks.bits()}), torch.compile"
    torch.compiler.reset()  # after too many compilations torch would run eagerly
    before = _graphs()
    compiled = torch.compile(module, dynamic=False)
    try:
        with torch.inference_mode(), weights:
            compiled(*inputs)
    except RuntimeError as wrong:  # for example without a C++ compiler
        reason = str(wrong).strip().splitlines()[0]
        raise Unsupported(f"torch.compile cannot compile the network here: {reason}") from None
    made = _graphs() - before
    if not made:
        raise Unsupported("torch.compile compiles no part of the network")
    parts = "one graph" if made == 1 else f"{made} graphs, eager between them"
    return compiled, f"{route} in {parts}, inference_mode"


def _graphs() -> int:
    """Return the number of graphs that torch has compiled in this process."""
    from torch._dynamo.utils import counters

    return int(counters["stats"]["unique_graphs"])


def _exported(
    module: nn.Module,
    inputs: Sequence[Tensor],
    threads: int,
    at_once: int,
    calibrating: Batches | None,
) -> Served:
    """Export the network to ONNX Runtime, with a session for each simultaneous call.

    A session has `threads` threads, that of the caller included, and a copy of the weights of its
    own in the layout of its kernels.
    """
    weights = next(module.parameters())
    if weights.device.type != "cpu" or weights.dtype is torch.bfloat16:
        raise Unsupported("exported networks run on the cpu only, in float32, float16 or int8")
    require(*NEEDED["onnxruntime"])
    if "dynamo" not in inspect.signature(torch.onnx.export).parameters:
        raise Unsupported("this release of torch cannot export a network by tracing it (dynamo)")
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, ONNX_INTER_OP
    options.log_severity_level = 3
    with tempfile.TemporaryDirectory() as folder:
        # The weights are in a second file, because a model file has at most 2 GB.
        path = Path(folder) / "network.onnx"
        with torch.no_grad():
            program = torch.onnx.export(module, tuple(inputs), dynamo=True, verbose=False)
        assert program is not None
        program.save(str(path), external_data=True)
        if calibrating is not None:
            path, kind = int8_networks.of_file(path, calibrating)
        _demand_room(path, at_once)
        sessions = [
            onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
            for _ in range(at_once)
        ]
    route = f"exported (dynamo), onnxruntime on {sessions[0].get_providers()[0]}"
    if at_once > 1:
        route += f", {at_once} sessions"
    if calibrating is not None:
        route = f"quantised by onnxruntime ({kind}, {int8_networks.bits()}), {route}"
    return Served([_of(session) for session in sessions], route)


def _demand_room(network: Path, sessions: int) -> None:
    """Raise BeyondLimits where the weights of all sessions but the first do not fit in memory.

    The estimate before a kernel is built includes the weights of the first session.
    """
    weights = network.with_name(f"{network.name}.data")
    size = sum(file.stat().st_size for file in (network, weights) if file.exists())
    if (sessions - 1) * size > available():
        raise BeyondLimits(
            f"{sessions} sessions of ONNX Runtime, of {size:.3g} bytes of weights each, do not fit"
            f" in memory: {available():.3g} bytes are available"
        )


def _of(session: Any) -> Callable[..., Any]:
    """Return a function that takes and returns tensors and runs a session of ONNX Runtime."""
    names = [each.name for each in session.get_inputs()]

    def run(*given: Tensor) -> object:
        feeds = {name: each.numpy() for name, each in zip(names, given, strict=True)}
        made = [torch.from_numpy(each) for each in session.run(None, feeds)]
        return made[0] if len(made) == 1 else tuple(made)

    return run
