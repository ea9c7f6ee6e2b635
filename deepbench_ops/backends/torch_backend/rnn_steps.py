"""The published recurrences as loops over torch's operations, for TorchScript or plain Python.

All views are made before and passed as lists with an entry for each step, and all results go into
buffers. A step only calls its operations: two for vanilla, seven for an LSTM, six for a GRU.
`bench/rnn_steps.py` compares them with other forms.

In a backward pass all factors that do not depend on the arriving gradient are computed for a block
of steps at once, in the buffer for the gradients of the products. A step then multiplies this
buffer by the gradient. The data of a block fit into the cache of a core.

The gates of a state are blocks of H columns in rows of G·H columns, in the order of
`rnn_cells.ORDER`.
"""

import torch
from torch import Tensor


def vanilla_forward(x: list[Tensor], h: list[Tensor], r: Tensor) -> None:
    """Compute h[t + 1] = ReLU(x[t] + h[t]·R) for all steps."""
    for t in range(len(x)):
        torch.addmm(x[t], h[t], r, out=h[t + 1])
        h[t + 1].relu_()


def lstm_forward(
    x: list[Tensor],
    h: list[Tensor],
    r: Tensor,
    first: Tensor,
    a: Tensor,
    oif: Tensor,
    gates: list[Tensor],
    c: Tensor,
    squashed: Tensor,
) -> None:
    """Compute c = f c + i g and h[t + 1] = o tanh(c) for all steps.

    a: buffer (N, 4H) for x[t] + h[t]·R, with its views `oif` and `gates`. first: cell state before
    the first step.
    """
    o, i, f, g = gates[0], gates[1], gates[2], gates[3]
    before = first
    for t in range(len(x)):
        torch.addmm(x[t], h[t], r, out=a)
        oif.sigmoid_()
        g.tanh_()
        torch.mul(f, before, out=c)
        c.addcmul_(i, g)
        torch.tanh(c, out=squashed)
        torch.mul(o, squashed, out=h[t + 1])
        before = c


def gru_forward(
    x_rz: list[Tensor],
    x_n: list[Tensor],
    h: list[Tensor],
    r: Tensor,
    a: Tensor,
    rz: Tensor,
    gates: list[Tensor],
    n: Tensor,
) -> None:
    """Compute h[t + 1] = n + z (h[t] - n) for all steps.

    a: buffer (N, 3H) for h[t]·R, with its views `rz` and `gates`.
    """
    reset, update, product = gates[0], gates[1], gates[2]
    for t in range(len(x_n)):
        torch.mm(h[t], r, out=a)
        rz.add_(x_rz[t]).sigmoid_()
        torch.addcmul(x_n[t], reset, product, out=n)
        n.relu_()
        torch.lerp(n, h[t], update, out=h[t + 1])


def vanilla_backward(
    dy: list[Tensor],
    h: Tensor,
    turned: Tensor,
    dg: Tensor,
    dgs: list[Tensor],
    dr: Tensor,
    block: int,
) -> None:
    """Write the gradients of the products to `dg`, (T, N, H), and of R to `dr`; h is (T + 1, N, H).

    turned: the transposed R. dgs: views of `dg` by step. block: number of steps in a block.
    """
    steps = len(dy)
    dh = torch.empty_like(dy[0])
    end = steps
    while end > 0:
        start = max(end - block, 0)
        torch.sign(h[start + 1 : end + 1], out=dg[start:end])
        for t in range(end - 1, start - 1, -1):
            if t == steps - 1:
                dgs[t].mul_(dy[t])
            else:
                torch.addmm(dy[t], dgs[t + 1], turned, out=dh)
                dgs[t].mul_(dh)
        end = start
    torch.mm(h[:steps].flatten(0, 1).t(), dg.flatten(0, 1), out=dr)


def lstm_backward(
    dy: list[Tensor],
    h: Tensor,
    c: Tensor,
    gates: Tensor,
    f: list[Tensor],
    turned: Tensor,
    dg: Tensor,
    dgs: list[Tensor],
    dgs_o: list[Tensor],
    dgs_ifg: list[Tensor],
    dr: Tensor,
    block: int,
) -> None:
    """As `vanilla_backward`, for the LSTM: h and c are (T + 1, N, H), gates and dg (T, N, 4H).

    dgs_ifg: views (N, 3, H) of the gates that use the gradient of the cell state.
    """
    steps = len(dy)
    shown = torch.empty_like(c[:block])
    into_c = torch.empty_like(shown)
    dh, dc, left = torch.empty_like(dy[0]), torch.empty_like(dy[0]), torch.empty_like(dy[0])
    shared = dc.unsqueeze(1)
    end = steps
    while end > 0:
        start = max(end - block, 0)
        some = end - start
        o, i, forget, g = gates[start:end].chunk(4, 2)
        for_o, for_i, for_f, for_g = dg[start:end].chunk(4, 2)
        squashed, to_c = shown[:some], into_c[:some]
        torch.tanh(c[start + 1 : end + 1], out=squashed)
        torch.mul(o, squashed, out=for_o)
        torch.addcmul(o, for_o, squashed, value=-1, out=to_c)
        torch.addcmul(for_o, for_o, o, value=-1, out=for_o)
        torch.mul(i, g, out=for_i)
        torch.addcmul(i, for_i, g, value=-1, out=for_g)
        torch.addcmul(for_i, for_i, i, value=-1, out=for_i)
        torch.mul(c[start:end], forget, out=for_f)
        torch.addcmul(for_f, for_f, forget, value=-1, out=for_f)
        for t in range(end - 1, start - 1, -1):
            if t == steps - 1:
                dh.copy_(dy[t])
                torch.mul(dh, to_c[t - start], out=dc)
            else:
                torch.addmm(dy[t], dgs[t + 1], turned, out=dh)
                torch.addcmul(left, dh, to_c[t - start], out=dc)
            dgs_o[t].mul_(dh)
            dgs_ifg[t].mul_(shared)
            torch.mul(dc, f[t], out=left)
        end = start
    torch.mm(h[:steps].flatten(0, 1).t(), dg.flatten(0, 1), out=dr)


def gru_backward(
    dy: list[Tensor],
    h: Tensor,
    gates: Tensor,
    product: Tensor,
    z: list[Tensor],
    turned: Tensor,
    dg: Tensor,
    dgs: list[Tensor],
    dgs_each: list[Tensor],
    dr: Tensor,
    block: int,
) -> None:
    """As `vanilla_backward`, for the GRU: gates and dg are (T, N, 3H), product is (T, N, H).

    dgs_each: views (N, 3, H) of `dg` by step.
    """
    steps = len(dy)
    dh, arriving = torch.empty_like(dy[0]), torch.empty_like(dy[0])
    shared = dh.unsqueeze(1)
    scratch = torch.empty_like(product[:block])
    end = steps
    while end > 0:
        start = max(end - block, 0)
        reset, update, n = gates[start:end].chunk(3, 2)
        for_r, for_z, for_n = dg[start:end].chunk(3, 2)
        slope = scratch[: end - start]
        torch.sign(n, out=slope)
        torch.addcmul(slope, slope, update, value=-1, out=slope)
        torch.mul(slope, reset, out=for_n)
        torch.mul(for_n, product[start:end], out=for_r)
        torch.addcmul(for_r, for_r, reset, value=-1, out=for_r)
        torch.sub(h[start:end], n, out=for_z)
        for_z.mul_(update)
        torch.addcmul(for_z, for_z, update, value=-1, out=for_z)
        for t in range(end - 1, start - 1, -1):
            if t == steps - 1:
                dh.copy_(dy[t])
            else:
                torch.addcmul(dy[t], dh, z[t + 1], out=arriving)
                torch.addmm(arriving, dgs[t + 1], turned, out=dh)
            dgs_each[t].mul_(shared)
        end = start
    torch.mm(h[:steps].flatten(0, 1).t(), dg.flatten(0, 1), out=dr)
