"""FLOPs and bytes of a step's operations: all of the model's, and the bytes really moved."""

from functools import partial
from math import prod

import pytest

from deepbench_ops.models.network_catalogue import NETWORKS
from deepbench_ops.problems.model import Model

torch = pytest.importorskip("torch")

from torch.nn import functional  # noqa: E402

from deepbench_ops.backends.torch_backend import operator_trace, operator_work  # noqa: E402
from deepbench_ops.backends.torch_backend.backend import TorchBackend  # noqa: E402
from deepbench_ops.models.training_steps import LOSSES  # noqa: E402

BATCH = 2
COUNTED = {"gemm", "convolution", "attention", "recurrent"}
"""Kinds of operations with FLOPs; normalisation, pooling, lookups and all others have none."""

STEM = 2 * 3 * 7 * 7 * 64 * 112 * 112
UNASKED = {
    **dict.fromkeys(("resnet34", "resnet50", "resnet50_v1p5", "resnet101"), BATCH * STEM),
    **dict.fromkeys(("densenet101", "googlenet"), BATCH * STEM),
    "mobilenet_v2": BATCH * 2 * 3 * 3 * 3 * 32 * 112 * 112,
    "lstm": BATCH * 2 * (2 * 500 * 300 * 400 + 4 * 100 * 400),
    "xlnet": 2 * 24 * 256 * 1024**2,
    "dlrm": BATCH * 2 * 512 * 512,
    "dlrm_1m": BATCH * 2 * 512 * 512,
    "mmoe": BATCH * 2 * 499 * (8 * 4 + 2 * 8),
    "vit_b16": BATCH * 2 * 768 * 768 * 14 * 14,
}
"""FLOPs that a step lacks to three forward passes: the gradient of a first layer's input, which is
not needed, in XLNet that of the distances in each layer, in the LSTM that of given vectors and of
the states that its layers begin with. Other vectors that are looked up have one."""


TRAINED = [name for name, known in NETWORKS.items() if not known.untrained]
PASSES = [(name, "forward") for name in NETWORKS] + [(name, "training_step") for name in TRAINED]


def masked(form, operation):
    """FLOPs of pairs that a causal mask hides, which are products like all others on paper."""
    return BATCH * form.masked * (3 if operation == "training_step" else 1)


def counted(step):
    """FLOPs of a step's operations; every one that counts is of a kind that is named."""
    found = operator_trace.operations(step)
    assert {op.kind for op in found if op.flops} <= COUNTED
    assert all(op.flops for op in found if op.kind in COUNTED)
    return sum(op.flops * op.calls for op in found)


def on_paper(name, operation, form):
    """A pass of a network that has no memory, whatever its size: everything is products there."""
    known = NETWORKS[name]
    with torch.device("meta"):
        module = known.make(form).train(operation == "training_step")
    given, aims = (
        [torch.from_numpy(values).to("meta") for values in drawn]
        for drawn in (form.inputs(BATCH), form.targets(BATCH))
    )
    if operation == "training_step":
        return lambda: LOSSES[known.loss](module(*given), *aims).backward()
    return lambda: torch.no_grad()(module)(*given)


@pytest.mark.parametrize("name", TRAINED)
def test_a_step_has_the_flops_of_three_passes_without_unneeded_gradients(name):
    problem = Model(name=name, batch=BATCH)
    assert 3 * problem.flops - UNASKED.get(name, 0) == problem.flops_of("training_step")


@pytest.mark.parametrize(("name", "operation"), [each for each in PASSES if each[0] != "lstm"])
def test_flops_of_a_models_operations_are_those_of_the_model(name, operation):
    """To the last one, in each network as large as it is, but for the LSTM, of thousands of
    products on paper; optimisers multiply no matrices."""
    form = NETWORKS[name].whole
    found = counted(on_paper(name, operation, form)) - masked(form, operation)
    assert Model(name=name, batch=BATCH).flops_of(operation) == found


@pytest.mark.parametrize("operation", Model.operations)
@pytest.mark.parametrize("name", ["lstm", "mobilenet_v2"])
def test_flops_of_operations_that_have_run_are_those_of_the_model(name, operation):
    """Of recurrent layers and of grouped convolutions, with the optimiser. oneDNN's LSTM makes
    the gradient of words that are given all the same."""
    problem = Model(name=name, batch=1)
    made = UNASKED[name] / BATCH if (name, operation) == ("lstm", "training_step") else 0
    found = counted(TorchBackend().build(problem, "float32", operation).run)
    assert problem.flops_of(operation) + made == found


@pytest.mark.parametrize(("name", "operation"), PASSES)
def test_a_twin_that_runs_has_the_flops_of_one_on_paper(name, operation):
    """Within 3 %, for all operations that the processor may have for it: attention's backward pass
    makes its scores again, and an LSTM's makes the gradient of words that are given."""
    built = TorchBackend().build(Model(name=name, batch=BATCH, whole=False), "float32", operation)
    form = NETWORKS[name].small
    assumed = counted(on_paper(name, operation, form)) - masked(form, operation)
    within = 0.03 if name != "lstm" or operation == "forward" else 0.2
    assert assumed == pytest.approx(counted(built.run), rel=within)


def test_attention_is_two_products_and_five_backward():
    """The first one makes the scores again; heads of different widths, lengths that differ."""
    query, key = torch.rand(2, 3, 7, 8, requires_grad=True), torch.rand(2, 3, 5, 8)
    found = operator_trace.operations(
        lambda: functional.scaled_dot_product_attention(query, key, key).sum().backward()
    )
    one = 2 * 2 * 3 * 7 * 5 * 8
    assert [2 * one, 5 * one] == [op.flops for op in found if op.kind == "attention"]


def test_recurrent_layers_of_a_gpu_count_like_those_of_the_cpu():
    """Two layers in one operation there; the gradient of the weights where it is wanted."""
    given = torch.empty(11, 3, 7, device="meta")
    shapes = ((20, 7), (20, 5), (20,), (20,), (20, 5), (20, 5), (20,), (20,))
    weights = [torch.empty(shape, device="meta") for shape in shapes]
    forward = 2 * 11 * 3 * sum(prod(shape) for shape in shapes if len(shape) == 2)
    aten = torch.ops.aten
    assert forward == operator_work.flops(aten._cudnn_rnn.default, (given, weights, 4), {}, None)
    for wanted in (False, True):
        masked = (given, weights, 4, [True, True, True, wanted])
        passes = operator_work.flops(aten._cudnn_rnn_backward.default, masked, {}, None) / forward
        assert passes == 1 + wanted


def moved(name, call):
    """Bytes of the one operation of that name, as numbers of four."""
    (found,) = (op for op in operator_trace.operations(call) if op.name == name)
    return found.bytes / 4


TABLE, ROWS = torch.rand(1000, 16), torch.arange(12).reshape(3, 4)
INDICES = 2 * ROWS.numel()


@pytest.mark.parametrize(
    ("name", "call", "numbers"),
    [
        ("embedding", partial(functional.embedding, ROWS, TABLE), 2 * 12 * 16 + INDICES),
        ("embedding", partial(functional.embedding, ROWS % 2, TABLE[:2]), (2 + 12) * 16 + INDICES),
        ("index_select", lambda: TABLE.index_select(0, ROWS[0]), 2 * 4 * 16 + 2 * 4),
        ("index", lambda: TABLE[ROWS], 2 * 12 * 16 + INDICES),
        ("gather", lambda: TABLE.gather(1, ROWS), 2 * 12 + INDICES),
    ],
)
def test_of_a_table_only_the_rows_are_read_that_are_looked_up(name, call, numbers):
    """And their indices; all rows once where they are looked up more often."""
    assert numbers == moved(name, call)


def test_a_bag_reads_its_rows_and_writes_their_sum():
    """And its own bookkeeping: offsets, and for each index its bag, each bag's size and more."""
    summed = partial(functional.embedding_bag, ROWS, TABLE, mode="sum")
    found = moved("_embedding_bag_forward_only", summed)
    assert 12 * 16 + 3 * 16 + INDICES == pytest.approx(found, abs=2 * (12 + 4 * 3))


@pytest.mark.parametrize("sparse", [False, True])
def test_a_tables_gradient_is_what_is_written_of_it(sparse):
    """All of a dense one; of a sparse one the rows, and the descent then changes these alone."""
    table = TABLE.clone().requires_grad_()

    def step():
        functional.embedding(ROWS, table, sparse=sparse).backward(torch.ones(3, 4, 16))
        with torch.no_grad():
            table.add_(table.grad, alpha=-0.1)

    found = {op.name: op.bytes / 4 for op in operator_trace.operations(step)}
    if sparse:
        assert 12 * 16 + INDICES + 2 * 12 * 16 == found["add_"]
    else:
        assert 12 * 16 + INDICES + 1000 * 16 == found["embedding_dense_backward"]
        assert 3 * 1000 * 16 == found["add_"]


@pytest.mark.parametrize(
    ("name", "call", "numbers"),
    [
        ("add", lambda: TABLE + TABLE[0], 2 * 16000 + 16),
        ("mul", lambda: TABLE * TABLE[:, :1].expand(-1, 16), 2 * 16000 + 1000),
        ("mul_", lambda: TABLE.mul_(1.0), 2 * 16000),
        ("copy_", lambda: torch.empty(1000, 16).copy_(TABLE), 2 * 16000),
        ("zero_", lambda: torch.empty(1000, 16).zero_(), 16000),
        ("ones_like", lambda: torch.ones_like(TABLE), 16000),
        ("new_zeros", lambda: TABLE.new_zeros(5), 5),
        ("empty_like", lambda: torch.empty_like(TABLE), 0),
        ("t", TABLE.t, 0),
        ("_foreach_add_", lambda: torch._foreach_add_([TABLE, TABLE[0]], 0.0), 2 * (16000 + 16)),
    ],
)
def test_bytes_are_those_that_are_read_and_those_that_are_written(name, call, numbers):
    """An overwritten operand is not read, and a repeated one is in memory once."""
    assert numbers == moved(name, call)
