"""Assembling kernels: label, work, notes, references and widened outputs."""

import ast
from pathlib import Path

import numpy as np
import pytest
from installed_frameworks import loaded, needed

import deepbench_ops
from deepbench_ops.backends import NAMES, families
from deepbench_ops.backends.kernel import widened
from deepbench_ops.backends.kernel_assembly import Prepared, assemble
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.gemm import Gemm
from deepbench_ops.problems.problem import FIRST_CALL
from deepbench_ops.problems.problem_lists import TYPES

PACKAGE = Path(deepbench_ops.__file__).parent
PROBLEM = Gemm(3, 4, 5)
ONE_PROCESS = [name for name, kind in TYPES.items() if not kind.ranks and not kind.whole_models]


def called(path):
    """Return the names that a module's text calls as functions."""
    nodes = ast.walk(ast.parse(path.read_text()))
    return {n.func.id for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}


def test_one_module_makes_kernels():
    """No other module of the package calls `Kernel`."""
    makers = [path.name for path in PACKAGE.rglob("*.py") if "Kernel" in called(path)]
    assert ["kernel_assembly.py"] == makers


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("float16", "float64"),
        ("float32", "float64"),
        ("float64", "float64"),
        ("int8", "int64"),
        ("int32", "int64"),
        ("uint8", "int64"),
    ],
)
def test_outputs_are_widened_to_a_copy(kind, expected):
    """Integers become int64 and all else float64, in memory of their own."""
    values = np.ones(3, kind)
    wide = widened(values)

    assert expected == wide.dtype
    assert not np.shares_memory(values, wide)


def gemm(**more):
    """Return a kernel that is assembled from a zero matrix, and its operands."""
    drawn = families.module_of(PROBLEM).inputs(PROBLEM, "float32", 0)
    output = np.zeros((3, 4), np.float32)
    notes = {"padding": "m 3 to 8", "route": "by hand"}
    given = {"run": object, "reset": object, "output": lambda: output, "notes": notes, **more}
    operation = given.pop("operation", "forward")
    prepared = Prepared(**given)
    return assemble(loaded("numpy"), PROBLEM, "float32", operation, drawn, prepared), drawn


@pytest.mark.parametrize("operation", ["forward", FIRST_CALL])
def test_label_work_and_traffic_are_the_problems(operation):
    """A first call counts the FLOPs of the forward pass, which choose its yardstick."""
    kernel, _ = gemm(operation=operation)

    assert f"numpy cpu float32 {operation} {PROBLEM.id}" == kernel.label
    assert (PROBLEM.flops, PROBLEM.bytes("float32")) == (kernel.flops, kernel.bytes)


def test_notes_are_the_operands_and_the_frameworks():
    """Notes of the framework's module replace those on the operands of the same name."""
    kernel, drawn = gemm()

    assert {**drawn.notes, "padding": "m 3 to 8", "route": "by hand"} == kernel.notes


def test_further_outputs_have_references_by_name(monkeypatch):
    """Each output is read by its own function and compared with the reference of its name."""
    judges = {"": "first judge", "gradient": "second judge"}
    monkeypatch.setattr(families.module_of(PROBLEM), "reference", lambda *given: judges)
    kernel, _ = gemm(further={"gradient": lambda: np.arange(4, dtype=np.int32)})

    assert judges == {name: output.reference for name, output in kernel.outputs.items()}
    assert 3 == kernel.outputs["gradient"].peek((np.array([3]),))[0]
    assert "int64" == kernel.outputs["gradient"].result().dtype


def test_references_may_start_from_the_kernels_own_values(monkeypatch):
    """A family's hook `reference_from` gets functions that read outputs and intermediate values."""
    seen = {}

    def reference_from(problem, drawn, precision, operation, own):
        seen.update({name: read(()).tolist() for name, read in own.items()})
        return "judge"

    monkeypatch.setattr(
        families.module_of(PROBLEM), "reference_from", reference_from, raising=False
    )
    kernel, _ = gemm(output=lambda: np.zeros(1), intermediate={"states": lambda: np.ones(2)})

    assert {"": [0.0], "states": [1.0, 1.0]} == seen
    assert "judge" == kernel.reference
    assert [""] == list(kernel.outputs)


def test_a_family_refuses_for_all_frameworks(monkeypatch):
    """The hook `refuse` is asked before any framework's module."""

    def refuse(problem, precision, operation):
        raise Unsupported(f"no {precision} {operation}")

    monkeypatch.setattr(families.module_of(PROBLEM), "refuse", refuse, raising=False)
    with pytest.raises(Unsupported, match="no float32 forward"):
        loaded("numpy").build(PROBLEM, "float32")


@pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")
@pytest.mark.parametrize("family", ONE_PROCESS)
@pytest.mark.parametrize("name", NAMES)
def test_every_kernel_says_how_it_was_set_up(name, family):
    """A record has inputs, layout, padding and route."""
    needed(name)
    backend = loaded(name)
    if backend.builder(family) is None:
        pytest.skip(f"this project has no {family} kernels for {name}")
    small = families.kinds(family)[0]
    try:
        kernel = backend.build(small, small.precisions[0], small.operations[0])
    except Unsupported as reason:
        pytest.skip(str(reason))

    assert {"inputs", "layout", "padding", "route"} <= set(kernel.notes)
    label = f"{name} cpu {small.precisions[0]} {small.operations[0]} {small.id}"
    assert label == kernel.label
