"""The benchmark type of this project, in the place where asv_runner looks for one.

asv_runner's own timing type runs a benchmark's setup before every timed call, or makes every
sample a single call. This type hands the prepared kernel to `deepbench_ops.measure` instead:
setup once per process, slices between those of a yardstick, samples back in seconds.
"""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from asv_runner.benchmarks.time import TimeBenchmark

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure import kernel_measurement

_made: dict[tuple[type, str, Callable[..., Any]], dict[str, Any]] = {}
"""Attributes of the benchmarks made so far, by type, name and function."""


class KernelBenchmark(TimeBenchmark):
    """Times the kernel that a ``kernel_*`` method prepares, once per process, and returns.

    asv_runner makes all benchmarks of the suite, and reads their text, in each process that
    measures one of them. These processes are forks of one that has made them already, so they copy
    its findings, each with a list of its own of the sources of attributes: asv_runner inserts the
    parameters of a run there.
    """

    # asv_runner asks its built-in types first, so the prefix must be none of theirs.
    name_regex = re.compile("^(Kernel[A-Z_].+)|(kernel_.+)$")
    _setup_isolates_timed_calls = False

    def __init__(self, name: str, func: Callable[..., Any], attr_sources: Sequence[Any]) -> None:
        made = type(self), name, getattr(func, "__func__", func)
        if made not in _made:
            super().__init__(name, func, attr_sources)
            _made[made] = dict(vars(self))
        sources = list(_made[made]["_attr_sources"])
        self.__dict__.update({**_made[made], "_attr_sources": sources})

    def do_setup(self) -> bool:
        """Prepare the kernel; return whether it is skipped, leaving the reason on record."""
        if tuple(self._current_params) in self._skip_tuples:
            return True
        started = time.monotonic()
        try:
            with self._faults_on_record(self._current_params):
                for setup in self._setups:
                    setup(*self._build_params())
                self._prepared = self.func(*self._build_params())
        except NotImplementedError as reason:
            kernel_measurement.skipped(self.name, self._current_params, str(reason))
            print(f"asv: skipped: {reason}")
            return True
        self._preparing = time.monotonic() - started
        self._load_vars()
        return False

    def run(self, *param: Any) -> dict[str, object]:
        """Return ``{"samples": [...], "number": n}`` for one problem and precision."""
        quick = self.repeat == 1  # what `asv run --quick` asks for
        with self._faults_on_record(param):
            return kernel_measurement.timed(
                self._prepared, self.name, param, quick, self._preparing
            )

    @contextmanager
    def _faults_on_record(self, params: Sequence[str]) -> Iterator[None]:
        """Record the reason why a kernel fails, such as a wrong output; asv only prints it."""
        try:
            yield
        except DeepbenchError as fault:
            kernel_measurement.skipped(self.name, params, str(fault))
            raise

    def do_profile(self, filename: str | None = None) -> None:
        """Profile one call of the kernel, not the method that only hands it over."""
        import cProfile

        kernel = self._prepared.kernel
        profile = cProfile.Profile()
        profile.runcall(kernel.run)
        kernel.synchronise()
        if filename is not None:
            profile.dump_stats(filename)


export_as_benchmark = [KernelBenchmark]
