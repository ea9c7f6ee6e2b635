"""A data-parallel training that a job of a plan measures over all ranks of its nodes."""

from dataclasses import dataclass

from deepbench_ops.distributed.training.training_request import TrainingRequest

FRAMEWORK = "torch"
"""The framework whose releases train whole networks."""

BATCH = 8
"""Items of each rank unless given, as of `deepbench scaling`."""

RUNS = 2
"""Times of a training: of one rank alone and of all ranks."""

SECONDS = 60.0
"""Expected of a training: 10 s for each time, and the start of the ranks."""


@dataclass(frozen=True)
class PlannedTraining:
    """A network, the items of each rank, a precision, and whether tables are split over the ranks.

    Raises DeepbenchError for a network that is unknown or not trained, a batch below 1, a precision
    without training steps, and for a network without tables to split.
    """

    network: str
    batch: int = BATCH
    precision: str = "float32"
    split: bool = False

    def __post_init__(self) -> None:
        self.request("cpu")

    @property
    def name(self) -> str:
        """Name in tables, such as resnet50 float32, batch 8."""
        split = ", split" if self.split else ""
        return f"{self.network} {self.precision}, batch {self.batch}{split}"

    def request(self, device: str) -> TrainingRequest:
        """Return the request for the ranks, which get their number of threads on their node."""
        return TrainingRequest(self.network, self.batch, self.precision, device, split=self.split)
