"""Families and frameworks are named in their own files alone, so that others can be added."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from deepbench_ops.backends import framework_list
from deepbench_ops.problems import family_list

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "deepbench_ops"
OWN_FAMILIES = {
    each.name for each in family_list.found()[0].values() if each.package == family_list.OWN_PACKAGE
}
OWN_FRAMEWORKS = {each.name for each in framework_list.found()[0].values() if each.own}

WORD = "the field or key of that name in a table, a record or a file"
WHOLE_MODELS = "about whole models, which torch runs, or MindSpore as published"
OPENBLAS = "measures what a setting of OpenBLAS costs numpy"
TRANSPORT = "the message passing that a library itself has"
FORMAT = "operations that programs of others print in this format"
ONNX = "the field of that name in ONNX files"
PUBLISHED = "what the published workbooks say of this family alone"

REASONS = {
    ("analysis/missing_reasons.py", "mindspore"): WHOLE_MODELS,
    ("analysis/missing_reasons.py", "torch"): WHOLE_MODELS,
    ("analysis/model_latency_points.py", "model"): WORD,
    ("analysis/model_tables.py", "mindspore"): WHOLE_MODELS,
    ("analysis/model_tables.py", "torch"): WHOLE_MODELS,
    ("analysis/parquet_machines.py", "model"): WORD,
    ("analysis/published_model_figures.py", "mindspore"): WHOLE_MODELS,
    ("backends/onnx_models/runtime.py", "model"): ONNX,
    ("commands/latency.py", "model"): WORD,
    ("commands/latency.py", "onnxruntime"): "a way of running a network, in run_conditions.py",
    ("commands/noise.py", "numpy"): OPENBLAS,
    ("commands/ops.py", "model"): WORD,
    ("commands/table.py", "model"): WORD,
    ("commands/whole_model_setup.py", "torch"): WHOLE_MODELS,
    ("run_conditions.py", "onnxruntime"): "a way of running a network, not the framework",
    ("distributed/mpi4py_messages.py", "numpy"): TRANSPORT,
    ("distributed/torch_distributed_messages.py", "numpy"): TRANSPORT,
    ("distributed/torch_distributed_messages.py", "torch"): TRANSPORT,
    ("distributed/training/scaling_run.py", "model"): WORD,
    ("distributed/training/training_over_nodes.py", "torch"): WHOLE_MODELS,
    ("distributed/transports/gloo.py", "torch"): TRANSPORT,
    ("distributed/transports/nccl.py", "torch"): TRANSPORT,
    ("exchange/log_formats/benchdnn.py", "conv"): FORMAT,
    ("exchange/log_formats/benchdnn.py", "gemm"): FORMAT,
    ("exchange/log_formats/intel.py", "conv"): FORMAT,
    ("exchange/log_formats/intel.py", "gemm"): FORMAT,
    ("exchange/log_formats/intel.py", "sparse_gemm"): FORMAT,
    ("exchange/log_formats/libxsmm.py", "conv"): FORMAT,
    ("exchange/log_formats/log_lines.py", "all_reduce"): FORMAT,
    ("exchange/log_formats/program_tables.py", "gemm"): FORMAT,
    ("exchange/workbooks/workbook_timings.py", "conv"): PUBLISHED,
    ("exchange/workbooks/workbook_timings.py", "sparse_gemm"): PUBLISHED,
    ("fleet/planned_training.py", "torch"): WHOLE_MODELS,
    ("machine/memory_bandwidth.py", "torch"): "the library of the triad on an NVIDIA GPU",
    ("measure/blas_cost.py", "gemm"): OPENBLAS,
    ("measure/blas_cost.py", "numpy"): OPENBLAS,
    ("measure/fingerprint.py", "model"): "a line of /proc/cpuinfo",
    ("storage/input_digest.py", "numpy"): "the library whose version decides what is computed",
    ("models/mindspore/training_steps.py", "mindspore"): WHOLE_MODELS,
    ("models/network_catalogue.py", "model"): WORD,
    ("pages/model_data.py", "mindspore"): "the published table of that name",
    ("pages/model_data.py", "model"): WORD,
    ("releases/environment_install.py", "torch"): "its CUDA builds ask for what only a GPU needs",
    ("releases/installed_release.py", "numpy"): "every measured environment needs it",
    ("storage/model_run_fields.py", "model"): WORD,
    ("exchange/submissions/entry_conflicts.py", "model"): WORD,
}
"""Why a file may name a family or a framework."""


SOME = "some of them as examples"
PUBLISHED_FAMILIES = "facts of DeepBench, which has no further family"
EXPECTED = "what those named must answer; others need no entry"
LISTS_REASONS = {
    ("bench/cuda_builds.py", "KERNELS"): PUBLISHED_FAMILIES,
    ("tests/analysis/test_fastest_machine_by_kernel.py", "test_records_fall"): SOME,
    (
        "tests/analysis/test_machine_comparison.py",
        "test_an_id_of_no_possible_kernel_is_refused",
    ): SOME,
    ("tests/analysis/test_machine_comparison.py", "test_an_id_that_no_list_has"): SOME,
    ("tests/analysis/test_software_versions.py", "(OLD, NEW, OTHER)"): SOME,
    ("tests/asv_adapter/test_all_reduce_asv.py", "test_what_cannot_be_is_a_reason"): EXPECTED,
    ("tests/asv_adapter/test_release_repository.py", "test_ranges"): SOME,
    ("tests/backends/test_attention.py", "LACKING"): EXPECTED,
    ("tests/backends/test_attention.py", "WITHOUT_GRADIENT"): EXPECTED,
    (
        "tests/backends/test_attention.py",
        "test_any_mask_and_group_is_computed_right_by_libraries",
    ): SOME,
    ("tests/backends/test_backends.py", "NEVER_ON_CPU"): EXPECTED,
    ("tests/backends/test_backends.py", "test_int8_extremes_are_summed_without_saturation"): SOME,
    ("tests/backends/test_compiled_backends.py", "EVERY"): EXPECTED,
    ("tests/backends/test_compiled_backends.py", "HAS"): EXPECTED,
    ("tests/backends/test_compiled_backends.py", "PROBLEMS"): SOME,
    (
        "tests/backends/test_compiled_backends.py",
        "test_channels_last_is_the_same_convolution",
    ): EXPECTED,
    ("tests/backends/test_compiled_backends.py", "test_some_have_no_channels_last"): EXPECTED,
    ("tests/backends/test_conv.py", "LACKING"): EXPECTED,
    ("tests/backends/test_grouped_conv.py", "HAD"): EXPECTED,
    ("tests/backends/test_implementation_names.py", "test_a_real_product_names_its_code"): EXPECTED,
    ("tests/backends/test_layer_trace.py", "PRODUCTS"): EXPECTED,
    ("tests/backends/test_linear_attention.py", "test_every_kernel_passes_its_check"): EXPECTED,
    (
        "tests/backends/test_layer_trace.py",
        "test_a_step_calls_each_family_as_often_as_its_network_has_layers",
    ): EXPECTED,
    ("tests/backends/test_linear_layer.py", "LACKING"): EXPECTED,
    ("tests/backends/test_moe_layer.py", "LACKING"): EXPECTED,
    ("tests/backends/test_moe_layer.py", "NO_GRADIENTS"): EXPECTED,
    ("tests/backends/test_moe_layer.py", "WITHOUT"): EXPECTED,
    ("tests/backends/test_quantisation.py", "WITHOUT"): EXPECTED,
    ("tests/backends/test_quantised_linear.py", "HAD"): EXPECTED,
    ("tests/backends/test_rnn.py", "HAD"): EXPECTED,
    ("tests/backends/test_rnn.py", "test_what_cannot_be_done_is_refused_with_the_reason"): EXPECTED,
    ("tests/backends/test_sparse_gemm.py", "LACKING"): EXPECTED,
    ("tests/commands/test_problems_command.py", "test_conditions_narrow_the_list"): SOME,
    ("tests/commands/test_time_command.py", "SIZES"): SOME,
    (
        "tests/commands/test_time_command.py",
        "test_the_framework_is_the_first_that_has_the_family",
    ): SOME,
    ("tests/commands/test_time_command.py", "test_what_cannot_be_timed_is_one_line"): SOME,
    ("tests/exchange/test_export.py", "PRECISIONS"): PUBLISHED_FAMILIES,
    ("tests/fleet/test_plan_generation.py", "RELEASES"): SOME,
    ("tests/support/running_fleet.py", "FAMILIES"): SOME,
    ("tests/pages/test_frameworks_page.py", "ROWS"): SOME,
    ("tests/pages/test_index_page.py", "RATIOS"): SOME,
    ("tests/problems/test_problems.py", "COUNTS"): PUBLISHED_FAMILIES,
    (
        "tests/problems/test_problems.py",
        "test_what_only_workbooks_time_is_in_no_set",
    ): PUBLISHED_FAMILIES,
    ("tests/releases/test_release_table.py", "FEWEST"): EXPECTED,
    ("tests/releases/test_release_table.py", "releases"): SOME,
    ("tests/support/framework_table.py", "LISTED"): EXPECTED,
    ("tests/support/framework_table.py", "ONNX"): EXPECTED,
    ("tests/support/published_site.py", "RELEASES"): SOME,
    ("tests/test_gpu_check.py", "LISTS"): SOME,
}
"""Why a file outside the package may hold a list of families or frameworks."""

FOLDERS = ("backends", "distributed/collectives", "problems", "suite")
"""Folders in which the module named after a family is the family's own."""

SCRIPTS = ("asv_bench_deepbench", "bench", "benchmarks", "scripts", "tests")
FRAMEWORKS, FAMILIES = 2, 3
"""Number of frameworks, or of families, from which on a constant or decorator is a list: two
families are often an example."""


def texts(node: ast.AST) -> set[str]:
    """Return the names of families and frameworks that are texts in a piece of code."""
    values = {each.value for each in ast.walk(node) if isinstance(each, ast.Constant)}
    return {name for name in OWN_FAMILIES | OWN_FRAMEWORKS if name in values}


def is_own(path: Path) -> bool:
    """Return whether a file of the package is a family's, or lies in a framework's folder."""
    place = path.relative_to(PACKAGE)
    if any(part.removesuffix("_backend") in OWN_FRAMEWORKS for part in place.parts[1:-1]):
        return place.parts[0] == "backends"
    return path.stem in OWN_FAMILIES and place.as_posix().startswith(FOLDERS)


def named() -> Iterator[tuple[str, str]]:
    """Yield each file outside of their own that holds a family's or framework's name as a text."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if not is_own(path):
            for name in texts(ast.parse(path.read_text(encoding="utf-8"))):
                yield path.relative_to(PACKAGE).as_posix(), name


def lists(path: Path) -> Iterator[str]:
    """Yield the name of each constant, and of each decorated function, with a list of frameworks or
    families."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    pieces: list[tuple[str, ast.AST]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            pieces += [(node.name, decorator) for decorator in node.decorator_list]
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            pieces.append((ast.unparse(target), node))
    for name, piece in pieces:
        found = texts(piece)
        if len(found & OWN_FRAMEWORKS) >= FRAMEWORKS or len(found & OWN_FAMILIES) >= FAMILIES:
            yield name


def lists_outside() -> Iterator[tuple[str, str]]:
    """Yield each list in tests, scripts and benchmarks, a family's own tests included: a new
    framework must need no entry there."""
    for path in sorted(path for folder in SCRIPTS for path in (ROOT / folder).rglob("*.py")):
        if path != Path(__file__):
            for name in lists(path):
                yield path.relative_to(ROOT).as_posix(), name


def test_no_list_of_families_or_frameworks_is_kept_by_hand():
    """Each name in another place has its reason, and each reason is still needed."""
    assert set(REASONS) == set(named())


def test_no_list_is_kept_in_tests_and_scripts():
    """Each has its reason why a new family or framework needs no entry, and is still there."""
    assert set(LISTS_REASONS) == set(lists_outside())


def test_a_list_is_found(tmp_path):
    """In a constant and in a decorator; a single name is none."""
    path = tmp_path / "module.py"
    path.write_text(
        'PLACES = [("numpy", "cpu"), ("torch", "cuda")]\nONE = "numpy"\n'
        'COUNTS: dict = {"gemm": 1, "conv": 2, "rnn": 3}\n'
        '@mark(["jax", "torch"])\ndef test_it(): pass\n'
    )
    assert {"PLACES", "COUNTS", "test_it"} == set(lists(path))


PAGES = PACKAGE / "pages"


@pytest.mark.parametrize(
    "script",
    sorted(
        [*PAGES.glob("assets/*.js"), *PAGES.glob("assets/site/*.js"), *PAGES.glob("templates/*")]
    ),
    ids=lambda path: path.name,
)
def test_the_pages_scripts_name_no_family_and_no_framework(script):
    """Their names come from the data."""
    text = script.read_text(encoding="utf-8")
    titles = {"model"}  # the title of a column, as well
    names = sorted((OWN_FAMILIES | OWN_FRAMEWORKS) - titles)
    written = ("'{}'", '"{}"', ">{}<", "families.{}")
    assert [] == [name for name in names if any(each.format(name) in text for each in written)]
