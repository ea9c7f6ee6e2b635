"""Stores in which the rounds of a history are kept and filed, for all that measure ensembles."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deepbench_ops.analysis.history_filing import UNSUPPORTED
from deepbench_ops.analysis.verdict import FEWEST_ROUNDS
from deepbench_ops.errors import DeepbenchError, Interrupted

if TYPE_CHECKING:
    from deepbench_ops.analysis.history_filing import Filing
    from deepbench_ops.measure.ensemble_sweeps import SweptYardstick
    from deepbench_ops.measure.kernel_identity import KernelIdentity
    from deepbench_ops.measure.unfinished_rounds import RoundStore
    from deepbench_ops.measure.worker_control import Launch
    from deepbench_ops.releases.release_table import Release


@dataclass
class OpenHistory:
    """Rounds so far, and how new ones are filed.

    filing: None where nothing is to be filed. reference: the yardstick that takes part.
    """

    store: RoundStore
    reference: SweptYardstick
    filing: Filing | None

    def file(self) -> None:
        """File the journal's rounds of these conditions.

        Raises DeepbenchError; the journal keeps all then.
        """
        if self.filing is not None:
            self.filing.file()

    @contextmanager
    def filing_at_the_end(self) -> Iterator[None]:
        """File when the block ends, also early.

        Ctrl-C becomes Interrupted, and a file that cannot be written a DeepbenchError; both name
        the file that keeps the rounds.
        """
        try:
            try:
                yield
            except BaseException:
                self.file()
                raise
            self.file()
        except KeyboardInterrupt:
            raise Interrupted(
                f"{self._kept()} keeps all rounds: the same command goes on"
            ) from None
        except BrokenPipeError:
            raise
        except OSError as error:
            raise DeepbenchError(
                f"{error.filename}: {error.strerror}; {self._kept()} keeps the rounds before that:"
                " mend it, and the same command goes on"
            ) from None

    def settles(self, task: KernelIdentity, name: str) -> bool:
        """Whether a kernel's rounds give a release a result, or the reason why it has none."""
        from deepbench_ops.measure import preferred_state

        rounds = self.store.of(task)
        measured = sum(name in each.names for each in preferred_state.select(rounds).rounds)
        lacks = any(each.reasons.get(name, "").startswith(UNSUPPORTED) for each in rounds)
        return measured >= FEWEST_ROUNDS or lacks

    def remarks(self) -> list[str]:
        """Return lines about the filed results."""
        if self.filing is None:
            return [f"not filed: {self.store.path} keeps the rounds"]
        count = len(self.filing.kernels)
        return (
            [f"filed in {self.filing.target.folder}: results of {count} kernels"] if count else []
        )

    def _kept(self) -> str:
        """Return the file that keeps the rounds: the journal until they are filed."""
        filed = self.store.filed
        return str(filed if filed is not None and not self.store.unfiled() else self.store.path)


def member() -> Launch:
    """Return how to start the yardstick that takes part in the sweeps."""
    from deepbench_ops.measure.worker_control import Launch

    return Launch(sys.executable, {}, ("-m", "deepbench_ops.measure.yardstick_member"))


def journal_of(name: str) -> Path:
    """Return the path of the journal of a history on this machine, given the name of its file.

    Machines of one kind may share a project folder. A journal of earlier versions, which does not
    name its machine, becomes that of this one.
    """
    from deepbench_ops import project
    from deepbench_ops.asv_adapter import machine_entry

    folder = project.histories()
    found, earlier = (
        folder / f"{each}.jsonl" for each in (f"{name}@{machine_entry.default_name()}", name)
    )
    if earlier.exists() and not found.exists():
        earlier.rename(found)
    return found


def open_history(
    name: str, releases: Sequence[Release], save: bool, say: Callable[[str], object]
) -> OpenHistory:
    """Return the rounds of a history so far, and where its results are filed.

    name: of its file. releases: those that can be measured, oldest first. save: whether to file.
    Raises DeepbenchError where results cannot be filed under this machine's name.
    """
    from deepbench_ops import project
    from deepbench_ops.analysis.history_filing import Filing
    from deepbench_ops.asv_adapter import filing_target, machine_entry
    from deepbench_ops.machine import machine_profile
    from deepbench_ops.measure import yardstick
    from deepbench_ops.measure.ensemble_sweeps import SweptYardstick
    from deepbench_ops.measure.nominal_readings import NominalReadings
    from deepbench_ops.measure.unfinished_rounds import RoundStore
    from deepbench_ops.releases import table_location
    from deepbench_ops.storage import ensemble_round_files

    journal = journal_of(name)
    names = [release.name for release in releases]
    launch = member()
    if not save:
        known = machine_profile.read(project.results(), machine_entry.default_name())
        store = RoundStore(journal, names, levels=known.latencies if known else ())
        nominal = known.nominal_readings(yardstick.VERSION) if known else NominalReadings()
        return OpenHistory(store, SweptYardstick(launch, nominal), None)
    target = filing_target.find(releases[-1], say)
    path = ensemble_round_files.path_of(target.folder, name)
    store = RoundStore(journal, names, path, target.levels)
    table = {release.name: release for release in table_location.load(target.results)}
    return OpenHistory(store, SweptYardstick(launch, target.nominal), Filing(store, target, table))
