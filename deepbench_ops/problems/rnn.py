"""Recurrent layers, their recurrent part only: the input products are made beforehand."""

from dataclasses import dataclass
from typing import ClassVar

from deepbench_ops.problems.nearest import unknown
from deepbench_ops.problems.problem import Problem

GATES = {"vanilla": 1, "lstm": 4, "gru": 3}


@dataclass(frozen=True)
class Rnn(Problem):
    """One layer of `hidden` units over `timesteps` steps of a batch of `batch` sequences.

    cell is vanilla, lstm or gru; any other raises DeepbenchError.
    """

    family: ClassVar[str] = "rnn"

    cell: str
    hidden: int
    batch: int
    timesteps: int

    def __post_init__(self) -> None:
        if self.cell not in GATES:
            raise unknown("recurrent cell", self.cell, GATES)

    @property
    def id(self) -> str:
        """Like lstm_h1024_n64_t25: cell, hidden units, batch, time steps."""
        return f"{self.cell}_h{self.hidden}_n{self.batch}_t{self.timesteps}"

    @property
    def gates(self) -> int:
        """Recurrent products in a step: 1 for vanilla, 4 for lstm, 3 for gru."""
        return GATES[self.cell]

    @property
    def flops(self) -> int:
        """2·T·N·H² for vanilla, 8 for LSTM, 6 for GRU, as DeepBench counts one pass.

        Products only; some published sheets add T·N·H for the elementwise part.
        """
        return 2 * self.gates * self.timesteps * self.batch * self.hidden**2

    @property
    def items(self) -> int:
        """Batch times time steps: the steps of all sequences (tokens, frames)."""
        return self.batch * self.timesteps

    def traffic(self) -> tuple[int, int]:
        """Forward: what a layer that keeps its weights and state on the chip must move.

        Read once: the recurrent weights, the input products of every gate and step, the
        first hidden state (and the LSTM's first cell state). Written once: the hidden state
        of every step (and the LSTM's last cell state).
        """
        state = self.batch * self.hidden
        cell_state = state if self.cell == "lstm" else 0
        weights = self.gates * self.hidden**2
        products = self.gates * self.timesteps * state
        return weights + products + state + cell_state, self.timesteps * state + cell_state
