"""Named parts of the lists: what to run when the whole would take too long.

`headline` holds the problems that DeepBench's own README shows in its tables of results; the three
sets of the lists are selections too. Of whole models there is one batch of each network, for
training and for inference. A problem can be in two sets, and each is its own benchmark, so a
selection holds pairs of set and problem.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from deepbench_ops.problems.model import Model
from deepbench_ops.problems.nearest import unknown
from deepbench_ops.problems.precision import precision
from deepbench_ops.problems.problem import APART, FIRST_CALL, Problem
from deepbench_ops.problems.tables import FAMILIES, SETS, family_name, find, load

HEADLINE = {
    ("gemm", "training"): (
        "m1760_n128_k1760_NN",
        "m7680_n64_k2560_NN",
        "m2560_n64_k2560_NN",
        "m5124_n9124_k2560_TN",
        "m3072_n128_k1024_TN",
    ),
    ("gemm", "inference_server"): (
        "m5124_n700_k2048_NN",
        "m35_n700_k2048_NN",
        "m3072_n3000_k1024_NN",
        "m512_n6000_k2816_NN",
    ),
    ("gemm", "inference_device"): (
        "m5124_n700_k2048_NN",
        "m35_n700_k2048_NN",
        "m3072_n1500_k1024_NN",
    ),
    ("rnn", "training"): (
        "vanilla_h1760_n16_t50",
        "vanilla_h2560_n32_t50",
        "lstm_h1024_n128_t25",
        "gru_h2816_n32_t1500",
    ),
    ("rnn", "inference_server"): (
        "lstm_h1536_n4_t50",
        "lstm_h256_n4_t150",
        "gru_h2816_n1_t1500",
        "gru_h2560_n2_t375",
    ),
    ("sparse_gemm", "inference_server"): (
        "m7680_n1_k2560_NN_sparsity0.95",
        "m7860_n2_k2560_NN_sparsity0.95",  # printed as 7680: see the problem's note
        "m7680_n1500_k2560_NN_sparsity0.95",
        "m10752_n1_k3584_NN_sparsity0.9",
    ),
    ("sparse_gemm", "inference_device"): (
        "m7680_n1_k2560_NN_sparsity0.95",
        "m7680_n1500_k2560_NN_sparsity0.95",
        "m7680_n1_k2560_NN_sparsity0.9",
    ),
    ("conv", "training"): (
        "w700_h161_c1_n32_k32_r5_s20_pad0_0_stride2_2",
        "w54_h54_c64_n8_k64_r3_s3_pad1_1_stride1_1",
        "w224_h224_c3_n16_k64_r3_s3_pad1_1_stride1_1",
        "w7_h7_c512_n16_k512_r3_s3_pad1_1_stride1_1",
        "w28_h28_c192_n16_k32_r5_s5_pad2_2_stride1_1",
    ),
    ("conv", "inference_server"): (
        "w341_h79_c32_n4_k32_r5_s10_pad0_0_stride2_2",
        "w224_h224_c3_n1_k64_r7_s7_pad3_3_stride2_2",
        "w56_h56_c256_n1_k128_r1_s1_pad0_0_stride2_2",
        "w7_h7_c512_n2_k2048_r1_s1_pad0_0_stride1_1",
    ),
    ("conv", "inference_device"): (
        "w112_h112_c64_n1_k64_r1_s1_pad0_0_stride1_1",
        "w56_h56_c256_n1_k128_r1_s1_pad0_0_stride2_2",
        "w7_h7_c512_n1_k2048_r1_s1_pad0_0_stride1_1",
    ),
    ("all_reduce", "training"): (
        "n16777217",  # printed as 16777216: see the problem's note
        "n64500000",
    ),
}
HEADLINE_RANKS = (8, 16, 32)
"""Participants in the README's all-reduces."""

MODELS = {"models-training": "training", "models-inference": "inference_server"}
"""Selections of whole models, and the set from which each takes one batch of every network."""

SELECTIONS = ("headline", *(name.replace("_", "-") for name in SETS), *MODELS)
CLASSES = {
    "training": "Training",
    "inference_server": "InferenceServer",
    "inference_device": "InferenceDevice",
}


class Selected(NamedTuple):
    """One problem in one of the sets that list it; of an all-reduce, on these numbers of ranks.

    ranks: () for all there are, and for what runs in one process.
    """

    set: str
    problem: Problem
    ranks: tuple[int, ...] = ()


def select(name: str, family: str | None = None) -> tuple[Selected, ...]:
    """The members of a selection, of all families of kernels or of one.

    DeepbenchError for a name that is not in SELECTIONS (dashes or underscores), or a family
    that does not exist. A family of which the selection has nothing gives ().
    """
    wanted = selection_name(name)
    if wanted in MODELS:
        whole = family is None or family_name(family) == Model.family
        return _one_batch_each(MODELS[wanted]) if whole else ()
    families = FAMILIES if family is None else (family_name(family),)
    if wanted != "headline":
        listed = wanted.replace("-", "_")
        return tuple(Selected(listed, p) for each in families for p in load(each, listed))
    return tuple(
        Selected(listed, find(each, id), HEADLINE_RANKS if each == "all_reduce" else ())
        for (each, listed), ids in HEADLINE.items()
        if each in families
        for id in ids
    )


def _one_batch_each(listed: str) -> tuple[Selected, ...]:
    """Every network of a set once: its smallest batch of more than one item, on one thread.

    A single item is taken where nothing else is listed; elsewhere it would be a latency.
    """
    found: dict[str, Model] = {}
    for problem in load(Model.family, listed):
        assert isinstance(problem, Model)
        if problem.threads == 1:
            known = found.get(problem.name, problem)
            found[problem.name] = min(known, problem, key=lambda one: (one.batch == 1, one.batch))
    return tuple(Selected(listed, problem) for problem in found.values())


def selection_name(name: str) -> str:
    """The selection's name as spelt in SELECTIONS; DeepbenchError when there is none."""
    spelt = name.replace("_", "-")
    if spelt not in SELECTIONS:
        raise unknown("selection", name, SELECTIONS)
    return spelt


def bench_regex(
    selected: Sequence[Selected],
    precisions: Sequence[str] = (),
    fused: bool = True,
    first_call: bool = True,
    apart: bool = True,
) -> str:
    """A regular expression for `asv run --bench` that picks exactly these members.

    asv searches it in `gemm.Training.kernel_forward('m1760_n128_k1760_NN', 'float32')`: the
    benchmark's name, then the repr of each parameter. Every pass of a problem is picked, a
    framework's own fused layers where `fused`, compiling where `first_call`, what its operations
    take alone where `apart`, and every precision when none is named. It never picks the same id in
    another set.
    """
    asked = (("fused", fused), (FIRST_CALL, first_call), (rf"\w+{APART}", apart))
    out = [word for word, kept in asked if not kept]
    passes = rf"kernel_(?!{'|'.join(out)})\w+" if out else r"kernel_\w+"
    kinds = "|".join(re.escape(precision(name).name) for name in precisions) or r"\w+"
    ids: dict[tuple[str, str], list[str]] = {}
    for listed, problem, ranks in selected:
        place = rf"{problem.family}\.{CLASSES[listed]}"
        end = rf", (?:{'|'.join(map(str, ranks))})\)" if ranks else "[,)]"
        ids.setdefault((place, end), []).append(re.escape(problem.id))
    if not ids:
        return "(?!)"
    places = "|".join(
        rf"{place}\.{passes}\('(?:{'|'.join(names)})', '(?:{kinds})'{end}"
        for (place, end), names in ids.items()
    )
    return rf"^(?:{places})"
