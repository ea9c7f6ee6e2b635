"""Attention of a decoding step: operands and reference of `attention`, with a cache of keys."""

from dataclasses import replace

from deepbench_ops.backends.families import attention
from deepbench_ops.backends.families.attention import AttentionInputs
from deepbench_ops.backends.families.attention_reference import OutputReference
from deepbench_ops.problems.attention_decode import AttentionDecode

MOST_TOKENS = 131
"""Tokens in the cache of a small twin, at most."""

inputs = attention.inputs


def small(problem: AttentionDecode) -> AttentionDecode:
    """Return the twin for the check, of as many queries and of the same kind of cache."""
    kv = min(problem.hkv, attention.MOST_KV)
    group = min(problem.hq // problem.hkv, attention.MOST_GROUP)
    sizes = {name: min(getattr(problem, name), most) for name, most in attention.MOST.items()}
    if problem.dv == problem.d:
        sizes["dv"] = sizes["d"]
    return replace(problem, hq=kv * group, hkv=kv, skv=min(problem.skv, MOST_TOKENS), **sizes)


def probe(problem: AttentionDecode, times: int = 1) -> AttentionDecode:
    """Return the twin for an estimate: a batch of one and a part of the cache."""
    return replace(problem, b=1, skv=min(problem.skv, attention.PROBE_TOKENS * times))


def reference(
    problem: AttentionDecode, drawn: AttentionInputs, precision: str, operation: str
) -> OutputReference:
    """Return the reference of the one operation there is, ``forward``."""
    return OutputReference(drawn, precision)
