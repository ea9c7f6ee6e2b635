"""Collective operations between real processes: right results, and wrong ones that are found."""

import os
import re

import pytest
from installed_frameworks import needed

from deepbench_ops.backends import output_check
from deepbench_ops.backends.backend_check_table import SKIPPED
from deepbench_ops.distributed import (
    collective_check_table,
    collective_kernel,
    collective_options,
    collective_timing,
    prepared_ranks,
)
from deepbench_ops.distributed.one_machine.rank_group import RankGroup
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.problems.all_gather import AllGather
from deepbench_ops.problems.all_reduce import AllReduce
from deepbench_ops.problems.all_to_all import AllToAll
from deepbench_ops.problems.reduce_scatter import ReduceScatter

TIMEOUT = 120.0
KINDS = (AllGather, ReduceScatter, AllToAll)


pytestmark = pytest.mark.usefixtures("none_left")


def gpus():
    """Number of GPUs that torch finds."""
    needed("torch")
    import torch

    return torch.cuda.device_count() if torch.cuda.is_available() else 0


def group(name, size):
    """A group of ranks; skips with the reason where the transport cannot be had."""
    needed(*("mpi4py", "mpirun") if name == "mpi" else ("torch",))
    if name == "nccl" and gpus() < size:
        pytest.skip(f"nccl needs a GPU for each of {size} ranks, and {gpus()} are here")
    return RankGroup(name, size, timeout=TIMEOUT)


@pytest.mark.parametrize(
    ("name", "size"), [("gloo", 2), ("gloo", 3), ("mpi", 2), ("nccl", 1), ("nccl", 2)]
)
def test_every_rank_ends_with_its_result(name, size):
    """Both precisions of each operation are exact on every rank, before and after timing."""
    with group(name, size) as ranks:
        for kind in KINDS:
            for precision in kind.precisions:
                problem = kind(elements=1000 * size)
                if name == "mpi" and (kind, precision) == (ReduceScatter, "bfloat16"):
                    with pytest.raises(Unsupported, match="mpi has no type for bfloat16"):
                        collective_kernel.build(problem, ranks, precision)
                    continue
                kernel = collective_kernel.prepare(problem, ranks, precision)
                assert kernel.clock(3) > 0
                assert output_check.spot_check(kernel).ok
                assert problem.bytes(precision) == kernel.bytes
                converted = "type in messages" in kernel.notes
                assert (name == "mpi" and precision == "bfloat16") == converted


FAULTS = {
    "an output that is never written": "right(dist, operand, result.clone())",
    "parts in the wrong order": "lambda: (call(), result.copy_(result.flip(0)))",
    "a part missing": "lambda: (call(), result[-1:].zero_())",
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_operation_is_found(kind, fault, monkeypatch, tmp_path):
    """Rank 1 alone computes wrongly: it is named, with entry and value, and nothing is timed."""
    (tmp_path / "sitecustomize.py").write_text(
        f"from deepbench_ops.distributed.collectives import {kind.family} as module\n"
        "right = module.over_torch\n"
        "def wrong(dist, operand, result):\n"
        "    call = right(dist, operand, result)\n"
        f"    return ({FAULTS[fault]}) if dist.get_rank() == 1 else call\n"
        "module.over_torch = wrong\n"
    )
    path = [str(tmp_path), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, path)))
    wrong = pytest.raises(DeepbenchError, match=r"rank 1 of 2 holds a wrong .*entry \d+ of")
    with group("gloo", 2) as ranks, wrong:
        collective_kernel.prepare(kind(elements=8), ranks)


def test_the_table_has_both_bandwidths():
    """Bytes are those of the whole vector, and the bus has (p - 1)/p of them."""
    asked = collective_options.request(
        [], ["4000"], "6", "60", collective_options.kind("all-to-all"), "bfloat16"
    )
    with group("gloo", 2) as ranks:
        title, header, line = collective_timing.lines(ranks, asked)
    assert title.startswith("# all-to-all, bfloat16, 2 ranks over gloo")
    assert header.split()[:3] == ["problem", "bytes", "ranks"]
    cells = line.split()
    assert ["all_to_all_n4000", "8000", "2", "6"] == cells[:4]
    milliseconds, algorithm, bus = (float(cells[place]) for place in (4, 6, 7))
    assert algorithm == pytest.approx(8000 / milliseconds / 1e6, rel=1e-3)
    assert bus == pytest.approx(algorithm / 2, rel=1e-3)


def test_long_figures_stay_apart():
    """A figure that is wider than its column moves those behind it."""
    cells = ["all_to_all_n4000", *["123456789012"] * (len(collective_timing.COLUMNS) - 1)]
    assert cells == collective_timing.aligned(cells, 16).split()


def test_asv_prepares_the_ranks_of_a_listed_problem(monkeypatch):
    """The suite's own preparation starts ranks, checks a smaller result and returns a kernel."""
    needed("torch")
    monkeypatch.setenv("DEEPBENCH_FRAMEWORK", "torch")
    prepared = prepared_ranks.prepare("reduce_scatter", "reduce_scatter_n32768", "bfloat16", 2)
    try:
        assert prepared.kernel.clock(2) > 0
        assert output_check.spot_check(prepared.kernel).ok
    finally:
        prepared.close()


@pytest.mark.parametrize("kind", KINDS)
def test_nccl_without_gpus_is_one_clear_line(kind, monkeypatch):
    """asv's skip reason names nccl, and the GPUs or the part of torch that is missing."""
    ranks = gpus() + 2
    monkeypatch.setenv("DEEPBENCH_FRAMEWORK", "torch")
    monkeypatch.setenv("DEEPBENCH_DEVICE", "cuda")
    with pytest.raises(Unsupported) as refused:
        prepared_ranks.prepare(kind.family, f"{kind.family}_n32768", "float32", ranks)
    without_gpus = f"nccl needs a GPU for each of the {ranks} ranks and finds {gpus()}"
    assert re.fullmatch(rf"{without_gpus}|torch \S+ is built without nccl", str(refused.value))


def test_the_check_of_nccl_without_gpus_skips_with_that_reason():
    """A row for each operation and precision, skipped and not wrong."""
    if gpus():
        pytest.skip("this machine has a GPU")
    families = [kind.family for kind in KINDS]
    found = list(collective_check_table.rows(families, ["torch"], ["cuda"], ["float32"]))
    assert families == [row.family for row in found]
    assert {(SKIPPED, True)} == {(row.verdict, "nccl" in row.reason) for row in found}


@pytest.mark.parametrize(
    ("problem", "precision", "ranks", "name", "reason"),
    [
        (AllGather(7), "float32", 2, "gloo", "all_gather_n7 cannot be shared by 2 ranks"),
        (AllToAll(8), "int8", 2, "gloo", "float32 and bfloat16, not in int8"),
        (ReduceScatter(8), "bfloat16", 2, "mpi", "mpi has no type for bfloat16"),
        (ReduceScatter(64), "bfloat16", 64, "gloo", "not exact and cannot be checked"),
        (AllReduce(8), "bfloat16", 2, "gloo", "in float32, not in bfloat16"),
    ],
)
def test_what_cannot_be_is_a_reason(problem, precision, ranks, name, reason):
    """Known before anything is started."""
    with pytest.raises(Unsupported, match=reason):
        collective_kernel.demand(problem, precision, ranks, name)


@pytest.mark.parametrize(
    ("kind", "name", "gib"),
    [(AllGather, "nccl", "36.5"), (ReduceScatter, "gloo", "68.5"), (AllToAll, "mpi", "96.5")],
)
def test_memory_is_that_of_both_buffers_and_of_the_library(kind, name, gib, monkeypatch):
    """Of the largest published size on eight ranks: a vector of 4 GiB, and parts of 0.5 GiB."""
    monkeypatch.setattr(collective_kernel.free_memory, "available", lambda: 2**30)
    with pytest.raises(Unsupported, match=f"8 ranks of 1073741824 elements need about {gib} GiB"):
        collective_kernel.demand_memory(kind(2**30), "float32", 8, 8, name)
