"""Shared parts of the commands that run a whole model: torch, the model's problem, results."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import click

from deepbench_ops import project
from deepbench_ops.backends.backend_interface import Backend
from deepbench_ops.commands.options import measure_alone, say_settings
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.problems.kernel_demands import demand_precision
from deepbench_ops.problems.model import Model, network_size


def torch_version() -> str:
    """Return the version of torch that is installed here; DeepbenchError where none is."""
    try:
        return version("torch")
    except PackageNotFoundError:
        raise DeepbenchError(
            "whole models need torch, which is missing here: 'make models' installs it in the"
            " .venv of a checkout, 'pip install torch' elsewhere"
        ) from None


def demand(option: str, value: int) -> None:
    """Raise DeepbenchError unless an option's value is 1 or more."""
    if value < 1:
        raise DeepbenchError(f"{option} is {value}: give 1 or more")


def prepared_model(
    name: str, batch: int, precision: str, operation: str, device: str, threads: int = 1
) -> tuple[Backend, Model]:
    """Return torch on the device, with the processors' threads, and the problem.

    The command is the only one that measures in the project from here on.

    Raises DeepbenchError for an unknown model, a precision that models lack, a batch that needs
    more memory than there is, and where another command measures already.
    """
    network_size(name)
    demand_precision(Model, precision)
    torch_version()
    from deepbench_ops.measure import kernel_measurement
    from deepbench_ops.measure import threads as processors

    measure_alone()
    say_settings()
    count = processors.fix()  # read by the framework when it is imported
    from deepbench_ops import backends

    backend = backends.load("torch", device)
    if device == "cpu":
        backend.set_threads(count)
    problem = Model(name=name, batch=batch, threads=threads)
    try:
        kernel_measurement.demand_memory(backend, problem, precision, operation)
    except Unsupported as reason:
        raise DeepbenchError(f"{reason}: give a smaller --batch") from None
    return backend, problem


def run_recorder(
    results: Path | None, versions: dict[str, str], threads: int
) -> Callable[[Sequence[Mapping[str, Any]]], None]:
    """Return a function that stores runs of this machine in `results`, with their conditions.

    versions: of torch and other libraries, by name. To be called before anything is measured.
    Raises DeepbenchError where this machine has no name, or the name of another one.
    """
    from deepbench_ops.asv_adapter import machine_entry, result_files
    from deepbench_ops.machine import machine_profile
    from deepbench_ops.measure import fingerprint
    from deepbench_ops.storage import model_runs

    results = project.results() if results is None else results
    machine = machine_entry.demand_entry()
    machine_profile.refuse_another(machine_profile.read(results, machine), fingerprint.silicon())
    known = {
        "release": f"torch-{torch_version().partition('+')[0]}",
        "day": datetime.now(UTC).date().isoformat(),
        "conditions": fingerprint.stable(versions, threads),
    }

    def keep(runs: Sequence[Mapping[str, Any]]) -> None:
        described = results / machine / "machine.json"
        if not described.exists():
            result_files.write_machine(described, machine_entry.entries()[machine])
        path = model_runs.add(results / machine, [{**run, **known} for run in runs])
        click.echo(f"kept in {path}", err=True)

    return keep
