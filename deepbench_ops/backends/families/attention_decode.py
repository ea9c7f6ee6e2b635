"""Attention of a decoding step, with a cache of keys: operands and reference from `attention`."""

from dataclasses import replace

from deepbench_ops.backends.families import attention
from deepbench_ops.backends.families.attention import AttentionInputs
from deepbench_ops.backends.families.attention_reference import OutputReference
from deepbench_ops.problems.attention_decode import AttentionDecode

TWIN_TOKENS = 131
"""Largest number of tokens in the cache of a small twin."""

inputs, reference_name = attention.inputs, attention.reference_name


def small(problem: AttentionDecode) -> AttentionDecode:
    """Return the small twin for the check: as many queries, and a smaller cache of the same
    kind."""
    kv = min(problem.hkv, attention.TWIN_KEY_HEADS)
    group = min(problem.hq // problem.hkv, attention.TWIN_GROUP)
    sizes = {
        name: min(getattr(problem, name), most)
        for name, most in attention.SMALL_TWIN_LIMITS.items()
    }
    if problem.dv == problem.d:
        sizes["dv"] = sizes["d"]
    return replace(problem, hq=kv * group, hkv=kv, skv=min(problem.skv, TWIN_TOKENS), **sizes)


def probe(problem: AttentionDecode, times: int = 1) -> AttentionDecode:
    """Return the twin for an estimate: a batch of one and a part of the cache."""
    return replace(problem, b=1, skv=min(problem.skv, attention.PROBE_TOKENS * times))


def reference(
    problem: AttentionDecode, drawn: AttentionInputs, precision: str, operation: str
) -> OutputReference:
    """Return the reference of the output, by any implementation."""
    return OutputReference(drawn, precision)
