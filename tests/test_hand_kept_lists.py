"""Families and frameworks are named in their own files alone, so that others can be added."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from deepbench_ops.backends import framework_list
from deepbench_ops.problems import family_list

PACKAGE = Path(__file__).resolve().parents[1] / "deepbench_ops"
OWN_FAMILIES = {
    each.name for each in family_list.found()[0].values() if each.package == family_list.OWN_PACKAGE
}
OWN_FRAMEWORKS = {each.name for each in framework_list.found()[0].values() if each.own}

ELSEWHERE = ("backends", "models", "exchange/log_formats")
"""Folders of frameworks' kernels, of whole networks, and of readers of one format each."""

WORD = "the field or key of that name in a table, a record or a file"
WHOLE_MODELS = "about whole models, which torch runs, or MindSpore as published"
OPENBLAS = "measures what a setting of OpenBLAS costs numpy"
TRANSPORT = "the message passing that a library itself has"
PUBLISHED = "what the published workbooks say of this family alone"

REASONS = {
    ("analysis/missing_reasons.py", "mindspore"): WHOLE_MODELS,
    ("analysis/missing_reasons.py", "torch"): WHOLE_MODELS,
    ("analysis/model_tables.py", "mindspore"): WHOLE_MODELS,
    ("analysis/model_tables.py", "torch"): WHOLE_MODELS,
    ("analysis/published_model_figures.py", "mindspore"): WHOLE_MODELS,
    ("commands/latency.py", "model"): WORD,
    ("commands/latency.py", "onnxruntime"): "a way of running a network, in conditions.py",
    ("commands/noise.py", "numpy"): OPENBLAS,
    ("commands/ops.py", "model"): WORD,
    ("commands/scaling.py", "model"): WORD,
    ("commands/table.py", "model"): WORD,
    ("commands/whole_model_setup.py", "torch"): WHOLE_MODELS,
    ("conditions.py", "onnxruntime"): "a way of running a network, not the framework",
    ("distributed/mpi_transport.py", "numpy"): TRANSPORT,
    ("distributed/prepared_ranks.py", "numpy"): TRANSPORT,
    ("distributed/prepared_ranks.py", "torch"): TRANSPORT,
    ("distributed/torch_transport.py", "numpy"): TRANSPORT,
    ("distributed/torch_transport.py", "torch"): TRANSPORT,
    ("distributed/transport.py", "torch"): TRANSPORT,
    ("exchange/workbook_timings.py", "conv"): PUBLISHED,
    ("exchange/workbook_timings.py", "sparse_gemm"): PUBLISHED,
    ("machine/peak_rates.py", "torch"): "the library of the triad on an NVIDIA GPU",
    ("measure/blas_cost.py", "gemm"): OPENBLAS,
    ("measure/blas_cost.py", "numpy"): OPENBLAS,
    ("measure/fingerprint.py", "model"): "a line of /proc/cpuinfo",
    ("storage/input_digest.py", "numpy"): "the library whose version decides what is computed",
    ("pages/model_data.py", "mindspore"): "the published table of that name",
    ("pages/model_data.py", "model"): WORD,
    ("releases/environment_install.py", "torch"): "its CUDA builds ask for what only a GPU needs",
    ("releases/installed_release.py", "numpy"): "every measured environment needs it",
    ("storage/model_runs.py", "model"): WORD,
}
"""Why a file may name a family or a framework."""


def named() -> Iterator[tuple[str, str]]:
    """Yield each file outside of their own that holds a family's or framework's name as a text."""
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE).as_posix()
        own = path.stem in OWN_FAMILIES and path.parent.name in ("problems", "suite")
        if own or place.startswith(ELSEWHERE):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and node.value in OWN_FAMILIES | OWN_FRAMEWORKS:
                yield place, str(node.value)


def test_no_list_of_families_or_frameworks_is_kept_by_hand():
    """Each name in another place has its reason, and each reason is still needed."""
    assert set(REASONS) == set(named())


@pytest.mark.parametrize("script", sorted((PACKAGE / "pages" / "assets" / "site").glob("*.js")))
def test_the_pages_scripts_name_no_family_and_no_framework(script):
    """Their names come from the data."""
    text = script.read_text(encoding="utf-8")
    titles = {"model"}  # the title of a column, as well
    names = sorted((OWN_FAMILIES | OWN_FRAMEWORKS) - titles)
    assert [] == [name for name in names if f"'{name}'" in text or f"families.{name}" in text]
