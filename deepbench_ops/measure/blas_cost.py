"""Cost of a setting of OpenBLAS for numpy here: three products with it and without it.

Where nothing is set, the cost of the setting that hosts and images have most often.
"""

import math
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure import ensemble_sweeps, library_variables
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.measure.library_variables import BLAS, Settings
from deepbench_ops.measure.worker_control import Launch

KERNELS = ("m35_n700_k2048_NN", "m3072_n128_k1024_TN", "m1760_n128_k1760_NN")
ROUNDS = 3
SWEEPS = 6
"""Few, since most of the time goes into starting the processes of a round."""

WITHOUT, WITH = "without the setting", "with it"

OFTEN_SET = (("OPENBLAS_CORETYPE", "Haswell"),)

CORE = """
from deepbench_ops.backends.numpy_backend import loaded_blas
found = loaded_blas.of_numpy()
print(found.core() if found and found.name == "openblas" else "")
"""


@dataclass(frozen=True)
class Cost:
    """A setting of OpenBLAS against none.

    set_here: whether the environment has it. chosen, under: the code path without it and with it.
    ratios: seconds with it over seconds without, of each round by kernel; {} where both paths are
    one.
    """

    setting: Settings
    set_here: bool
    chosen: str
    under: str
    ratios: Mapping[str, Sequence[float]]

    @property
    def lines(self) -> list[str]:
        """The report for the user: the setting, and numpy's relative time of each product."""
        text = library_variables.text(self.setting)
        if self.set_here:
            first = f"OpenBLAS runs {self.under} as {text} asks; by itself it chooses {self.chosen}"
        else:
            first = f"nothing is set for OpenBLAS, which chooses {self.chosen}; with {text}"
        if not self.ratios:
            return [f"{first}: the same code"]
        return [
            f"{first}, numpy's time is:",
            *(
                f"  {kernel}: {median(found):.2f} times"
                f" ({min(found):.2f} to {max(found):.2f} in {len(found)} rounds)"
                for kernel, found in self.ratios.items()
            ),
        ]


def cost(python: str = sys.executable) -> Cost | None:
    """Measure the setting's cost for the numpy of an interpreter; None where it has no OpenBLAS."""
    own = tuple(pair for pair in library_variables.of_this_process() if pair[0].startswith(BLAS))
    setting = own or OFTEN_SET
    without, with_it = _launch(python, ()), _launch(python, setting)
    chosen, under = _core(without), _core(with_it)
    if not chosen or not under:
        return None
    ratios: dict[str, list[float]] = {}
    if own or chosen != under:
        tasks = [KernelIdentity("gemm", kernel, "float32") for kernel in KERNELS]
        launches = {WITHOUT: without, WITH: with_it}
        found = ensemble_sweeps.run_rounds(launches, tasks, ROUNDS, SWEEPS)
        ratios = {
            task.problem: [math.exp(each.difference(WITHOUT, WITH)[0]) for each in rounds]
            for task, rounds in found.items()
        }
    return Cost(setting, bool(own), chosen, under, ratios)


def lines(python: str = sys.executable) -> list[str]:
    """Return the report for the user; the reason where the cost cannot be measured."""
    try:
        found = cost(python)
    except DeepbenchError as reason:
        return [f"the cost of a setting of OpenBLAS is not measured: {reason}"]
    return found.lines if found else ["numpy has no OpenBLAS of its own here that could be set"]


def _launch(python: str, setting: Settings) -> Launch:
    """Return a worker of numpy with these variables of OpenBLAS and no others."""
    names = [name for name in os.environ if name.startswith(BLAS)]
    less = [word for name in names for word in ("-u", name)]
    program = (*less, *(f"{name}={value}" for name, value in setting), python)
    environ = {"DEEPBENCH_FRAMEWORK": "numpy", "DEEPBENCH_DEVICE": "cpu"}
    return Launch("env", environ, (*program, "-m", "deepbench_ops.measure.worker_program"))


def _core(launch: Launch) -> str:
    """Return the code path of a worker's OpenBLAS, "" where it has none."""
    command = [launch.python, *launch.program[:-2], "-c", CORE]
    environ = {**os.environ, **launch.environ}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    return done.stdout.strip()
