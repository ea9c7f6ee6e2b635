"""The parts of `gpu_check.py`: commands of a few minutes each that leave results."""

import re
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import NamedTuple

STEPS = {
    "machine": "peaks, bandwidth, clocks, driver",
    "check": "every kernel against float64, by family",
    "yardstick": "spread between rounds, a bare loop with events, launch-bound kernels",
    "headline": "the headline of every family, and the published sets",
    "modern": "modern operations",
    "ensembles": "a release against itself, and with 2 % more work",
    "more": "collectives of one machine, a model's step, its memory",
}

CHECKED = (0, 1, 3)
"""Exit statuses of a finished `deepbench check`: no errors, some errors, all skipped."""
MEASURED = (0, 2)
"""Exit statuses of a finished `asv run`; 2: some benchmark failed, as the results show."""

PRECISIONS = {"cuda": ("float32", "tf32", "float16", "bfloat16", "int8"), "cpu": ("float32",)}
MODERN = {
    "cuda": (
        *("bfloat16", "fp8_row", "fp8_block", "mxfp8", "mxfp4"),
        *("int8_row", "bfloat16_int4"),
    ),
    "cpu": ("float32",),
}
PUBLISHED = {"training": ("float32", "float16"), "inference-server": ("float32", "int8")}
"""Sets, and the precisions in which DeepBench published results of V100 and T4."""

SPREAD = (
    *("m35_n700_k2048_NN", "m1760_n64_k1760_NN", "m1760_n128_k1760_NN", "m2560_n64_k2560_NN"),
    *("m3072_n128_k1024_TN", "m5124_n700_k2048_NN", "m3072_n1_k1024_NN", "m3072_n4_k1024_NN"),
    *("m7680_n1_k2560_NN", "m8448_n4_k2816_NN"),
)
"""The ten GEMMs of bench/round_spread.py."""

BARE = ("m1760_n128_k1760_NN", "m5124_n700_k2048_NN", "m35_n700_k2048_NN")
SMALL = ("m3072_n1_k1024_NN", "m35_n700_k2048_NN", "softmax_batch4096_columns256")


class Families(NamedTuple):
    """Families of this project as the installed deepbench lists them.

    kernels: those that run in one process. published: those of them that are in DeepBench's
    workbooks. collectives: collective operations.
    """

    kernels: Sequence[str]
    published: Sequence[str]
    collectives: Sequence[str]


LISTED = """
import json
from deepbench_ops.distributed.collective_options import kinds
from deepbench_ops.problems import FAMILIES
from deepbench_ops.problems.problem_lists import TYPES
kernels = [name for name in FAMILIES if not TYPES[name].ranks]
published = [name for name in kernels if TYPES[name].sheets]
print(json.dumps([kernels, published, list(kinds())]))
"""
"""Program that prints the fields of `Families`."""


@dataclass(frozen=True)
class Target:
    """The installed release and the device to be tried.

    rounds: number of processes for each time. short: only the smallest work of each part, for a
    trial.
    """

    framework: str
    version: str
    device: str
    machine: str
    rounds: int = 2
    short: bool = False

    @property
    def release(self) -> str:
        """Name of the release, such as torch-2.11.0."""
        return f"{self.framework}-{self.version}"

    @classmethod
    def here(
        cls, framework: str, device: str, machine: str | None, rounds: int, short: bool
    ) -> "Target":
        """Return the target of this interpreter. Raises SystemExit if it lacks the framework."""
        try:
            version = metadata.version(framework).partition("+")[0]
        except metadata.PackageNotFoundError:
            raise SystemExit(
                f"{framework} is not installed for this interpreter: set PYTHON to the one that"
                " holds it, or name another --framework"
            ) from None
        return cls(framework, version, device, machine or _machine(device), rounds, short)


@dataclass(frozen=True)
class Part:
    """A command of one step.

    name: unique, part of file names. command: words of a shell command. endings: exit statuses of
    success. least_seconds: the part is not begun if less time is left. timed: whether it measures
    times, so that nothing else may run meanwhile.
    """

    step: str
    name: str
    command: str
    endings: tuple[int, ...] = (0,)
    least_seconds: float = 60
    timed: bool = True


def parts_of(target: Target, families: Families) -> list[Part]:
    """Return all parts, the most useful first."""
    if target.short:
        families = families._replace(kernels=("gemm", "softmax"))
    made = (_machine_parts, _checks, _yardstick, _headline, _modern, _ensembles, _more)
    found = [part for make in made for part in make(target, families)]
    return found


def _machine_parts(target: Target, families: Families) -> Iterator[Part]:
    command = f"deepbench machine --yes --name {target.machine} --framework {target.framework}"
    yield Part("machine", "machine", command)
    if target.device == "cuda":
        yield Part("machine", "nvidia-smi", "nvidia-smi -q", least_seconds=20)


def _checks(target: Target, families: Families) -> Iterator[Part]:
    for family in families.kernels:
        asked = f"--release {target.release} --device {target.device} --family {family}"
        command = f"deepbench check {asked} --format csv"
        yield Part("check", f"{target.release}-check-{family}", command, CHECKED, timed=False)


def _yardstick(target: Target, families: Families) -> Iterator[Part]:
    framework, rounds = target.framework, 3 if target.short else 10
    problems = " ".join(f"--problem {each}" for each in (SPREAD[:1] if target.short else SPREAD))
    command = (
        f"python bench/round_spread.py --framework {framework} --device {target.device}"
        f" --rounds {rounds} {problems} --json $RESULTS/spread-{target.release}.json"
    )
    yield Part("yardstick", f"{target.release}-spread", command, least_seconds=120)
    if framework in ("torch", "numpy"):
        for problem in BARE[:1] if target.short else BARE:
            command = (
                f"python bench/bare_loop.py --framework {framework} --device {target.device}"
                f" --problem {problem} --pairs {20 if target.short else 200}"
            )
            yield Part("yardstick", f"{target.release}-bare-{problem}", command, least_seconds=30)
    for problem in SMALL[:1] if target.short else SMALL:
        asked = f"--release {target.release} --device {target.device} --format json"
        command = f"deepbench time {problem} {asked}"
        yield Part("yardstick", f"{target.release}-time-{problem}", command, least_seconds=30)


def _headline(target: Target, families: Families) -> Iterator[Part]:
    for precision in PRECISIONS[target.device][: 1 if target.short else None]:
        yield _run(target, "headline", "headline", precision, families.kernels)
    for name, precisions in PUBLISHED.items() if not target.short else ():
        for precision in precisions if target.device == "cuda" else ("float32",):
            yield _run(target, "headline", name, precision, families.published)


def _modern(target: Target, families: Families) -> Iterator[Part]:
    for precision in MODERN[target.device][: 1 if target.short else None]:
        yield _run(target, "modern", "modern", precision, families.kernels)


def _run(
    target: Target, step: str, selection: str, precision: str, families: Sequence[str]
) -> Part:
    """Return a run of all problems of some families in a selection.

    An interrupted run is continued by its journal.
    """
    chosen = " ".join(f"--family {family}" for family in families)
    pick = f"deepbench select {selection} {chosen} --precision {precision}"
    command = (
        f'if bench="$({pick})"; then python -m asv run --show-stderr'
        f' --attribute rounds={target.rounds} --bench "$bench" {target.release}^!;'
        f" else echo nothing in {precision}; fi"
    )
    name = f"{target.release}-{selection}-{precision}"
    return Part(step, name, command, MEASURED, least_seconds=60)


def _ensembles(target: Target, families: Families) -> Iterator[Part]:
    problems = SPREAD[:1] if target.short else SPREAD[1:5]
    for extra in (0, 0.02):
        for problem in problems:
            command = (
                f"python bench/detection_on_kernels.py --framework {target.framework}"
                f" --device {target.device} --extra {extra} --problem {problem}"
                f" --rounds {3 if target.short else 10} --json $RESULTS/pairs-{target.release}.json"
            )
            name = f"{target.release}-pairs-{extra:g}-{problem}"
            yield Part("ensembles", name, command, least_seconds=120)


def _more(target: Target, families: Families) -> Iterator[Part]:
    transport, ranks = ("nccl", 1) if target.device == "cuda" else ("gloo", 2)
    if target.framework != "torch":
        return
    for name in families.collectives[:1] if target.short else families.collectives:
        command = f"deepbench collective {name} --transport {transport} --ranks {ranks}"
        yield Part("more", f"{target.release}-{name}", command + " --elements 1000000")
    for way in ("forward", "training_step"):
        asked = f"--batch 8 --pass {way} --device {target.device} --format json"
        yield Part("more", f"{target.release}-ops-{way}", f"deepbench ops resnet50 {asked}")
    for way in ("forward", "training_step"):
        command = f"python bench/model_memory.py --device {target.device} --pass {way} resnet50_b16"
        yield Part("more", f"{target.release}-memory-{way}", command)


def _machine(device: str) -> str:
    """Return a name for this machine, made from the name of its GPU."""
    if device != "cuda":
        return "trial"
    asked = shlex.split("nvidia-smi --query-gpu=name --format=csv,noheader")
    try:
        said = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        raise SystemExit("nvidia-smi names no GPU here: --device cpu tries without") from None
    return re.sub(r"[^a-z0-9]+", "-", said.splitlines()[0].lower()).strip("-")
