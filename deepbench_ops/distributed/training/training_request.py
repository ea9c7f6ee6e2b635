"""Request of a training, as the text that each rank gets."""

import json
import math
from dataclasses import asdict, dataclass

from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.models.network_catalogue import network
from deepbench_ops.problems.kernel_demands import demand_precision
from deepbench_ops.problems.model import Model

MEETING_VARIABLE = "DEEPBENCH_RANKS_MEET"
"""Environment variable with the path of the file over which the ranks of one machine connect; not
set under torchrun."""

FEWEST_STEPS, MOST_STEPS = 3, 200
"""Measured steps, however long or short they are."""

MARGIN_SECONDS = 900.0
"""Limit of a training beyond its measurement: for the start, the first steps and the check."""

TRAINED = ("float32", "tf32", "bfloat16", "float16")
"""Precisions with training steps; networks in int8 compute answers alone."""

SPLIT = ("wide_deep",)
"""Networks whose tables can be split over the ranks."""


@dataclass(frozen=True)
class TrainingRequest:
    """A training over several ranks.

    batch: number of inputs of each rank. threads: number of threads of each rank. split: whether
    tables are split over the ranks instead of copied. seconds: approximate duration of the
    measurement. whole: whether the network has its published size instead of that of the small
    twin.
    """

    network: str
    batch: int
    precision: str = "float32"
    device: str = "cpu"
    threads: int = 1
    split: bool = False
    seconds: float = 10.0
    whole: bool = True

    def __post_init__(self) -> None:
        try:
            network(self.network).demand_trained()
        except Unsupported as reason:
            raise DeepbenchError(str(reason)) from None
        demand_precision(Model, self.precision)
        if self.precision not in TRAINED:
            raise DeepbenchError(
                f"{self.precision} has no training steps: give --precision"
                f" {', '.join(TRAINED[:-1])} or {TRAINED[-1]}"
            )
        if self.batch < 1:
            raise DeepbenchError(f"batch is {self.batch}: give 1 or more")
        if not 0 < self.seconds < math.inf:
            raise DeepbenchError(
                f"seconds is {self.seconds:g}: give a number above 0 that is not infinite"
            )
        if self.split and self.network not in SPLIT:
            raise DeepbenchError(
                f"{self.network} has no tables to split; those that have: {', '.join(SPLIT)}"
            )

    @property
    def limit(self) -> float:
        """Seconds after which the ranks are ended."""
        return self.seconds + MARGIN_SECONDS

    def too_long(self, ranks: int, limit: float) -> DeepbenchError:
        """Return the error of a training that took longer than `limit` seconds."""
        return DeepbenchError(
            f"{ranks} ranks of {self.network} took longer than {limit:g} s: give a smaller batch,"
            " or fewer seconds"
        )

    def text(self) -> str:
        """Return the request as text for a command line."""
        return json.dumps(asdict(self))


def parsed(text: str) -> TrainingRequest:
    """Return the request from its text; raise DeepbenchError for any other text."""
    try:
        return TrainingRequest(**json.loads(text))
    except (ValueError, TypeError) as wrong:
        raise DeepbenchError(f"{text!r} is no request for a training: {wrong}") from None
