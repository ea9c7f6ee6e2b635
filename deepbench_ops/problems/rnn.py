"""Recurrent layers: their recurrent part, with given input products, and a framework's own
layer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from deepbench_ops.problems.precision import precision
from deepbench_ops.problems.problem import Problem, Sheets, Table, computed
from deepbench_ops.problems.suggestions import unknown

GATES = {"vanilla": 1, "lstm": 4, "gru": 3}


@dataclass(frozen=True)
class Rnn(Problem):
    """One layer of `hidden` units over `timesteps` steps of a batch of `batch` sequences.

    cell is vanilla, lstm or gru; any other raises DeepbenchError.
    """

    family: ClassVar[str] = "rnn"
    heading: ClassVar[str] = "recurrent layers"
    title_names_operation: ClassVar[bool] = False
    operations: ClassVar[tuple[str, ...]] = (
        "forward",
        "backward",
        "fused_forward",
        "fused_backward",
    )
    """The published passes over the recurrent part, and those of a vendor's whole layer."""
    training_operations: ClassVar[tuple[str, ...]] = ("backward", "fused_backward")
    position: ClassVar[int] = 30
    id_pattern: ClassVar[str] = (
        r"(?P<cell>vanilla|lstm|gru)_h(?P<hidden>\d+)_n(?P<batch>\d+)_t(?P<timesteps>\d+)"
    )
    # The gradient of the weights was published only from 2018 on, and is in no total.
    totalled: ClassVar[tuple[str, ...]] = ("forward", "backward_data")
    headline: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "training": (
            "vanilla_h1760_n16_t50",
            "vanilla_h2560_n32_t50",
            "lstm_h1024_n128_t25",
            "gru_h2816_n32_t1500",
        ),
        "inference_server": (
            "lstm_h1536_n4_t50",
            "lstm_h256_n4_t150",
            "gru_h2816_n1_t1500",
            "gru_h2560_n2_t375",
        ),
    }
    headline_reason: ClassVar[str] = "the rows of DeepBench's README"
    sheets: ClassVar[Sheets] = Sheets(
        tables=tuple(
            Table(f"Recurrent Layers - {title}", f"recurrent layers - {cell}", {"cell": cell})
            for title, cell in (("Vanilla", "vanilla"), ("LSTM", "lstm"), ("GRU", "gru"))
        ),
        sizes={
            "hidden units": "hidden",
            "input": "hidden",
            "n": "batch",
            "timesteps": "timesteps",
        },
        times={
            "time forward": "forward",
            # The programs of these years timed only the backward pass through the steps.
            "time backward": "backward_data",
            "time backward wrt inputs": "backward_data",
            "time backward wrt weights": "backward_weights",
            "time backward total": "backward",  # this and the following only in our exports
            "time fused forward": "fused_forward",
            "time fused backward": "fused_backward",
        },
    )
    words: ClassVar[Mapping[str, tuple[str, ...]]] = {"cell": tuple(GATES)}

    cell: Annotated[str, "kind of cell"]
    hidden: Annotated[int, "hidden units"]
    batch: Annotated[int, "sequences in the batch"]
    timesteps: Annotated[int, "steps of a sequence"]

    def __post_init__(self) -> None:
        if self.cell not in GATES:
            raise unknown("recurrent cell", self.cell, GATES)

    @property
    def id(self) -> str:
        """Id such as lstm_h1024_n64_t25: cell, hidden units, batch, time steps."""
        return f"{self.cell}_h{self.hidden}_n{self.batch}_t{self.timesteps}"

    @property
    def title(self) -> str:
        """Title such as "LSTM of 1024, 25 steps, batch 128": cell, hidden units, timesteps."""
        cell = "vanilla" if self.cell == "vanilla" else self.cell.upper()
        return f"{cell} of {self.hidden}, {self.timesteps} steps, batch {self.batch}"

    @property
    def gates(self) -> int:
        """Number of gates, each with a recurrent product: 1 for vanilla, 4 for lstm, 3 for gru."""
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
        """Forward: the least traffic of a layer that keeps its weights and state on the chip.

        Read once: the recurrent weights, the input products of every gate and step, the
        first hidden state (and the LSTM's first cell state). Written once: the hidden state
        of every step (and the LSTM's last cell state).
        """
        state = self.batch * self.hidden
        cell_state = state if self.cell == "lstm" else 0
        products = self.gates * self.timesteps * state
        read = self._weights + products + state + cell_state
        return read, self.timesteps * state + cell_state

    def flops_of(self, operation: str) -> float:
        """`flops` for forward and backward, twice that for a framework's own layer.

        DeepBench counts a backward pass like a forward pass. The real work is twice as much: each
        step has a product for the gradient of the state and one for that of the weights.

        A framework's own layer also computes the input products: 2·gates·T·N·(H·I + H²) operations,
        with I = H, since the lists have no size of the input. Its backward pass counts like its
        forward pass; it really multiplies 1.5 times as much, since the gradient of the input is not
        computed.
        """
        return 2 * self.flops if operation.startswith("fused") else super().flops_of(operation)

    def bytes_of(self, name: str, operation: str) -> float:
        """Bytes of every operand read once and every result written once; see `traffic` for
        forward.

        backward: reads the weights, the gradient of every hidden state, and values of every step of
        the forward pass: the hidden states (of T+1 steps for vanilla, which show its ReLU), and for
        the other cells the gates, the LSTM's cell states (T+1), and the GRU's recurrent product of
        the output gate. It writes the gradient of the weights.

        fused_forward: reads the layer's inputs instead of the input products, and also the input
        weights and both biases. fused_backward: as backward; it also reads the inputs and writes
        the gradients of input weights and biases.
        """
        if computed(operation) == "forward":
            return self.bytes(name)
        weight = precision(name)
        state = self.batch * self.hidden
        steps = self.timesteps * state
        layer = 2 * self._weights + 2 * self.gates * self.hidden
        cell_state = state if self.cell == "lstm" else 0
        if operation == "fused_forward":
            read, written = layer + steps + state + cell_state, steps + cell_state
        else:
            kept = {
                "vanilla": steps + state,
                "lstm": 6 * steps + state,
                "gru": 5 * steps,
            }[self.cell]
            read, written = self._weights + steps + kept, self._weights
            if operation == "fused_backward":
                read, written = read + steps, layer
        return read * weight.input_bytes + written * weight.output_bytes

    @property
    def _weights(self) -> int:
        return self.gates * self.hidden**2
