"""oneDNN's benchdnn in mode P: plain convolutions and products, average times in milliseconds."""

import re
from collections.abc import Iterator, Mapping, Sequence

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.log_formats.log_lines import (
    OutputLine,
    TimingOrUnread,
    problem_of,
    timing_of,
)
from deepbench_ops.exchange.workbooks.workbook_timings import Unread

SIGN = r"Output template: perf,"

_DIRECTIONS = {
    **dict.fromkeys(("FWD_B", "FWD_D", "FWD_I"), "forward"),
    "BWD_D": "backward_data",
    **dict.fromkeys(("BWD_W", "BWD_WB"), "backward_weights"),
}
_TYPES = {"f32": "float32", "bf16": "bfloat16", "f16": "float16", "s8": "int8", "u8": "int8"}
_MULTIPLIED = {"forward": (0, 1), "backward_data": (1, 2), "backward_weights": (0, 2)}
"""Which two of source, weights and destination a direction multiplies."""

_PLAIN = {
    *("conv", "matmul", "mode", "engine", "dir", "dt", "cfg", "stag", "wtag", "dtag", "alg"),
    *("mb", "match", "canonical", "skip-impl", "impl", "attr-scratchpad", "mode-modifier"),
    *("memory-kind", "fix-times-per-prb", "max-ms-per-prb", "cpu-isa-hints"),
    *("allow-enum-tags-only", "fast-ref", "fast-ref-gpu", "attr-fpmath=strict"),
}
"""Options that do not change the kernel; any other makes it another one."""

_LAYOUTS = {
    "stag": {"any", "abx", "abcd", "nchw"},
    "wtag": {"any", "abx", "abcd", "oihw"},
    "dtag": {"any", "abx", "abcd", "nchw"},
}
"""The tags of a convolution in the plain layout, or in the one that the library likes best."""


def read(lines: Sequence[str]) -> Iterator[TimingOrUnread]:
    """Yield timings of the rows below a template that names problem and average time.

    Raises DeepbenchError naming the line for a row that does not fit its template.
    """
    template: list[str] = []
    for number, line in enumerate(lines, 1):
        if line.startswith("perf,") and not template:
            yield Unread(OutputLine(number), line, "stands above its template")
        elif line.startswith("Output template:"):
            template = line.removeprefix("Output template:").strip().split(",")
        elif line.startswith("perf,"):
            cells = line.split(",")
            # Only the problem may hold commas, in its attributes.
            more = len(cells) - len(template)
            at = template.index("%prb%") if "%prb%" in template else -1
            if at < 0 or "%0time%" not in template or more < 0:
                raise DeepbenchError(f"line {number}: the template needs %prb% and %0time%")
            cells[at : at + more + 1] = [",".join(cells[at : at + more + 1])]
            row = dict(zip(template, cells, strict=True))
            yield _primitive(OutputLine(number), row["%prb%"], row["%0time%"])


def _primitive(place: OutputLine, problem: str, milliseconds: str) -> TimingOrUnread:
    options = dict(re.findall(r"--([\w-]+)(?:=(\S+))?", problem))
    conv = "conv" in options
    if not conv and "matmul" not in options:
        return Unread(place, problem, "is neither of --conv nor of --matmul")
    other = [f"--{name}" for name, value in options.items() if not _is_plain(name, value)]
    if other:
        return Unread(place, problem, f"has {', '.join(other)}: another kernel than the plain one")
    tags = [f"--{tag}={options[tag]}" for tag in _LAYOUTS if conv and not _is_usual(tag, options)]
    if tags:
        return Unread(place, problem, f"has {', '.join(tags)}: another layout than the plain one")
    described = problem.split()[-1].split('"')[0]
    operation = _DIRECTIONS.get(options.get("dir", "FWD_B"))
    given = _convolution(described) if conv else _product(described, options)
    if given is None or operation is None:
        return Unread(place, problem, "is no kernel of a known family")
    stated = options.get("dt") or options.get("cfg") or "f32"
    precision = _precision(stated, operation)
    if precision is None:
        return Unread(place, problem, f"multiplies {stated}, which is none of our precisions")
    run = problem_of(place, "conv" if conv else "gemm", given)
    return timing_of(place, run, operation, precision, milliseconds, "1e-3")


def _is_plain(name: str, value: str) -> bool:
    return name in _PLAIN or f"{name}={value}" in _PLAIN


def _is_usual(tag: str, options: Mapping[str, str]) -> bool:
    return options.get(tag, "any").lower() in _LAYOUTS[tag]


def _precision(stated: str, operation: str) -> str | None:
    """Return the precision of products in f32, u8s8s32 or bf16:bf16:f32; None for mixed factors."""
    types = stated.removesuffix("_wino").split(":")
    if len(types) == 1 and len(found := re.findall(r"bf16|f16|f32|s32|s8|u8", types[0])) == 3:
        types = found
    if len(types) == 1:
        types *= 3
    factors = {_TYPES.get(types[at]) for at in _MULTIPLIED[operation] if at < len(types)}
    return factors.pop() if len(factors) == 1 else None


def _convolution(text: str) -> dict[str, str | bool] | None:
    """Return the sizes of a descriptor such as mb8ic64ih56oc64oh56kh3ph1.

    Widths that are left out are like the heights, and a batch that is left out is of 2.
    """
    whole = re.fullmatch(r"((?:[a-z]{1,2}[0-9]+_*)+)(?:n.*)?", text)
    found = dict(re.findall(r"([a-z]+)([0-9]+)", whole[1])) if whole else {}
    if not {"ic", "ih", "oc", "kh"} <= set(found) or found.get("g", "1") != "1":
        return None
    if any(found.get(name, "0") != "0" for name in ("dh", "dw", "id", "kd")):
        return None
    sizes: dict[str, str | bool] = {"n": found.get("mb", "2"), "c": found["ic"], "k": found["oc"]}
    for wide, high, letter, default in (
        *(("w", "h", "i", "0"), ("s", "r", "k", "1")),
        *(("pad_w", "pad_h", "p", "0"), ("stride_w", "stride_h", "s", "1")),
    ):
        sizes[high] = found.get(f"{letter}h", default)
        sizes[wide] = found.get(f"{letter}w", sizes[high])
    return sizes


def _product(text: str, options: Mapping[str, str]) -> dict[str, str | bool] | None:
    """Return the sizes of a descriptor such as 700x2048:2048x5124, which is row-major.

    Column-major, as published, it is the product of the transposes: m and n change places.
    """
    found = re.fullmatch(r"(\d+)x(\d+):(\d+)x(\d+)\w*", text)
    if found is None or found[2] != found[3]:
        return None
    turned = {"ab": False, "any": False, "ba": True}
    a, b = (turned.get(options.get(tag, "any")) for tag in ("wtag", "stag"))
    if a is None or b is None:
        return None
    return {"m": found[4], "n": found[1], "k": found[2], "a_transposed": a, "b_transposed": b}
