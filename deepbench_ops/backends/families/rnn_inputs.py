"""The operands of a recurrent layer, each drawn at its first use.

Matrices are column-major, as in DeepBench's programs and in its list of matrix products, which has
the recurrent products of these layers: weights R of G·H x H (G gates) and states of H x N. A step
forward is then the product NN, a step back is TN and the gradient of the weights is NT. As
C-contiguous numpy arrays R is (H, G·H) and states are (N, H), after the axis of steps. A
framework's own layer gets its weights in the order and layout that it requires.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deepbench_ops.problems.rnn import Rnn
from deepbench_ops.random_operands import floats, round_to


@dataclass(frozen=True)
class RnnInputs:
    """The operands of a layer, each drawn at its first use; C-contiguous and 64-byte aligned.

    H hidden units, G gates, N sequences, T steps. In a precision that numpy lacks (tf32, bfloat16)
    the arrays are float32 with values of that precision.

    Weights have the variance 2/(3H) and so a spectral radius of about 0.8: over 1500 steps neither
    the state of a ReLU nor a gradient overflows or vanishes. Input products are uniform in
    +-sqrt(3), with unit variance. A backward pass has operands of its own, in the ranges of the
    results of a forward pass. It is then the same operation on the same numbers in every framework,
    however this framework rounds a forward pass.
    """

    problem: Rnn
    precision: str
    seed: int

    def _floats(self, shape: tuple[int, ...], half_width: float, stream: int) -> np.ndarray:
        return floats(shape, self.precision, half_width, self.seed, stream)

    def _shifted(self, shape: tuple[int, ...], stream: int) -> np.ndarray:
        """Return float32 numbers, uniform in [0, 1)."""
        values = floats(shape, "float32", 0.5, self.seed, stream)
        values += np.float32(0.5)
        return values

    @property
    def _sizes(self) -> tuple[int, int, int, int]:
        p = self.problem
        return p.timesteps, p.batch, p.hidden, p.gates * p.hidden

    @cached_property
    def recurrent(self) -> np.ndarray:
        """Recurrent weights R, (H, G·H), gates in the order of `rnn_cells.ORDER`."""
        _, _, h, gh = self._sizes
        return self._floats((h, gh), (2 / h) ** 0.5, 0)

    @cached_property
    def products(self) -> np.ndarray:
        """Input products W·x of every step, (T, N, G·H)."""
        t, n, _, gh = self._sizes
        return self._floats((t, n, gh), 3**0.5, 1)

    @cached_property
    def first_hidden(self) -> np.ndarray:
        """Hidden state before the first step, (N, H), uniform in +-1."""
        return self._floats(self._sizes[1:3], 1.0, 2)

    @cached_property
    def first_cell(self) -> np.ndarray:
        """Cell state of the LSTM before the first step, (N, H), uniform in +-1."""
        return self._floats(self._sizes[1:3], 1.0, 3)

    @cached_property
    def upstream(self) -> np.ndarray:
        """Gradient of the hidden state after every step, (T, N, H), uniform in +-1."""
        return self._floats(self._sizes[:3], 1.0, 4)

    @cached_property
    def hidden(self) -> np.ndarray:
        """Hidden states, for the backward pass, (T + 1, N, H), with the one before the first step.

        Uniform in +-1; for vanilla negative ones are 0, as after a ReLU.
        """
        t, n, h, _ = self._sizes
        values = self._floats((t + 1, n, h), 1.0, 5)
        return np.maximum(values, 0, out=values) if self.problem.cell == "vanilla" else values

    @cached_property
    def gates(self) -> np.ndarray:
        """Gates, for the backward pass, (T, N, G·H), in the order of `rnn_cells.ORDER`.

        Sigmoids are uniform in [0, 1), the LSTM's g in +-1. Half of the GRU's n are 0, the others
        uniform in [0, 1).
        """
        t, n, h, gh = self._sizes
        values = self._shifted((t, n, gh), 6)
        last = values[:, :, gh - h :]
        np.subtract(np.multiply(last, np.float32(2), out=last), np.float32(1), out=last)
        if self.problem.cell == "gru":
            np.maximum(last, 0, out=last)
        return round_to(values, self.precision)

    @cached_property
    def cells(self) -> np.ndarray:
        """Cell states of the LSTM, for the backward pass, (T + 1, N, H), uniform in +-1."""
        t, n, h, _ = self._sizes
        return self._floats((t + 1, n, h), 1.0, 7)

    @cached_property
    def output_products(self) -> np.ndarray:
        """Recurrent products of the GRU's output gate, (T, N, H), uniform in +-1."""
        return self._floats(self._sizes[:3], 1.0, 8)

    @cached_property
    def sequence(self) -> np.ndarray:
        """Inputs of a framework's own layer, (T, N, H), of unit variance."""
        return self._floats(self._sizes[:3], 3**0.5, 9)

    @cached_property
    def layer(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """(input weights, recurrent weights, input bias, recurrent bias) of a framework's own
        layer.

        Weights are (G·H, H), gates in the order of `rnn_cells.FUSED_ORDER`. Input weights have the
        variance 1/H, which gives input products unit variance. Biases are in +-0.1.
        """
        _, _, h, gh = self._sizes
        return (
            self._floats((gh, h), (3 / h) ** 0.5, 10),
            self._floats((gh, h), (2 / h) ** 0.5, 11),
            self._floats((gh,), 0.1, 12),
            self._floats((gh,), 0.1, 13),
        )

    def notes(self, operation: str) -> dict[str, str]:
        """Return the notes for the record on the operands of `operation`."""
        drawn = {
            "forward": "R in +-sqrt(2/H), input products in +-sqrt(3), first states in +-1",
            "backward": "R in +-sqrt(2/H), gradients, states and g in +-1, gates in 0..1, half of"
            " what left a ReLU 0",
        }.get(
            operation,
            "W in +-sqrt(3/H), R in +-sqrt(2/H), biases in +-0.1, inputs in +-sqrt(3), first"
            " states and gradients in +-1",
        )
        layout = (
            "weights (G·H, H) row-major, states N x H row-major"
            if operation.startswith("fused")
            else "column-major, R stored G·H x H, states H x N; gates in the order "
            + {"vanilla": "h", "lstm": "o i f g", "gru": "r z n"}[self.problem.cell]
        )
        return {
            "inputs": f"uniform, {drawn}; raw bits of SFC64, seed {self.seed}",
            "layout": layout,
            "padding": "none",
        }
