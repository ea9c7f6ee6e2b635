"""Submissions of one machine and release, and drawn ones."""

import statistics
from datetime import date
from pathlib import Path

from hypothesis import strategies as st

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.submissions import submission
from deepbench_ops.releases.release_table import Release
from deepbench_ops.storage import facts_digest

RELEASE = Release("torch", "2.13.0", date(2026, 7, 8))
RELEASES = {RELEASE.hash: RELEASE}
KERNELS = [("'m1760_n16_k1760_NN'", "'float32'"), ("'m1760_n32_k1760_NN'", "'float32'")]
NAME = "gemm.Training.kernel_forward"
OTHER = "gemm.InferenceServer.kernel_forward"


FACTS = {"python": "3.11.7", "os": "Linux"}
DIGEST = facts_digest.digest(FACTS)


def measured(key, seconds, started=1.0, benchmark=NAME):
    """A record of raw seconds of a kernel."""
    return {
        "benchmark": benchmark,
        "params": [text.strip("'") for text in key],
        "release": "torch-2.13.0",
        "started_at": started,
        "number": 1,
        "seconds": list(seconds),
        "yardstick": [],
        "fingerprint": DIGEST,
    }


def made(points, machine="box", framework="torch", release="2.13.0", peak=1e9, records=()):
    """A submission of these (parameters, seconds, samples), and records of raw seconds."""
    figure = {"value": peak, "unit": "FLOP/s", "how": "data sheet: x"}
    content = {
        "format": submission.FORMAT,
        "version": submission.VERSION,
        "machine": {
            "machine": machine,
            **dict.fromkeys(("accelerator", "arch", "cpu", "num_cpu", "os", "ram"), "x"),
        },
        "profile": {
            "version": 1,
            "machine": machine,
            "date": "2026-11-21",
            "facts": {},
            "peaks": {"cpu": {"float32": figure}},
            "bandwidth": {},
            "yardstick_version": "",
            "yardsticks": {},
        },
        "results": [
            {
                "framework": framework,
                "release": release,
                "date": "2026-07-08",
                "environment": "release-py3",
                "variables": {"DEEPBENCH_DEVICE": "cpu", "DEEPBENCH_CACHE": "warm"},
                "libraries": {"numpy": "2.4.6"},
                "points": [
                    {"benchmark": NAME, "params": list(key), "seconds": s, "samples": list(several)}
                    for key, s, several in points
                ],
                "conditions": {DIGEST: FACTS} if records else {},
                "measurements": list(records),
            }
        ],
    }
    return sealed(content)


def sealed(content):
    content = {name: value for name, value in content.items() if name != "digest"}
    try:
        return {**content, "digest": submission.digest(content)}
    except DeepbenchError:  # a number without an end has no digest either
        return {**content, "digest": GOOD["digest"]}


def values(results):
    """The content of a results folder, by file."""
    files = sorted(path for path in results.rglob("*") if path.is_file())
    return {path.relative_to(results): path.read_bytes() for path in files}


def of_rounds(rounds, seconds):
    """A version that a history derived from so many rounds."""
    origin = {"file": "torch", "anchor": "torch-2.12.0", "rounds": rounds, "ratio": 1.0}
    bounds = {"low": 0.9, "high": 1.1, "seconds": seconds, "interval": [0.4, 0.9]}
    return (seconds, [seconds], {"ensemble": {**origin, **bounds}})


VERSIONS = (
    (0.5, [0.5, 0.6], {}),
    (0.55, [0.5, 0.6, 0.55], {}),
    (0.55, [0.55, 0.5, 0.6], {}),
    (0.7, [0.7], {}),
    (0.7, [0.7], None),
    (0.9, [], None),
    of_rounds(3, 0.8),
    of_rounds(8, 0.82),
    of_rounds(8, 0.83),
)
"""Versions of a point: seconds, samples, and fields of its raw seconds' record, if it has one."""


def taken(results, sent, releases=RELEASES, list_days=len):
    """Take in a submission; no day of publication is listed anywhere."""
    [(_, fit)] = submission.checked_all(results, {Path("sent.json"): sent}, releases)
    return submission.store(results, fit, list_days)


A_TIME = st.floats(0.5, 2.0)
A_POINT = st.fixed_dictionaries(
    {
        "benchmark": st.sampled_from([NAME, OTHER]),
        "params": st.sampled_from(KERNELS).map(list),
        "seconds": st.sampled_from([0.5, 1, 1.0]) | A_TIME,
    },
    optional={
        "samples": st.lists(A_TIME, min_size=1, max_size=3) | st.just([0.5]),
        "low": st.floats(0.1, 0.5),
        "high": st.floats(2.0, 3.0),
    },
)
READINGS = st.dictionaries(
    st.sampled_from(["1", "2"]),
    st.sampled_from([1e-3, 2e-3]).map(
        lambda value: {"compute": {"value": value, "unit": "s", "how": "measured: x"}}
    ),
)


@st.composite
def submissions(draw):
    """A submission of the same machine and release, all else drawn."""
    points = draw(
        st.lists(
            A_POINT, min_size=1, max_size=3, unique_by=lambda p: (p["benchmark"], *p["params"])
        )
    )
    records = [
        measured(point["params"], draw(st.lists(A_TIME, min_size=1, max_size=3)), started, name)
        for point in points
        for name in [point["benchmark"]]
        for started in draw(st.lists(A_TIME, max_size=2, unique=True))
    ]
    content = made([], records=records)
    [result] = content["results"]
    for point in points:
        if "samples" in point:
            point["seconds"] = statistics.median_low(point["samples"])
    result["points"] = points
    names = st.sampled_from(["numpy", "blas"])
    result["libraries"] = draw(st.dictionaries(names, st.sampled_from(["1", "2", "2 / 3"])))
    result["variables"] |= {"DEEPBENCH_DEVICE": draw(st.sampled_from(["cpu", "cpu", "cuda"]))}
    described = content["profile"]
    described["date"] = draw(st.sampled_from(["2026-11-21", "2026-11-22"]))
    described["facts"] = draw(st.dictionaries(names, st.sampled_from(["1", "2"])))
    if factor := draw(st.sampled_from([0.0, 1.3, 1.5])):
        described["factor_by_chance"] = factor
    described["yardsticks"] = draw(READINGS)
    described["yardstick_version"] = draw(st.sampled_from(["1", "1", "2"]))
    return sealed(content)


GOOD = made([(KERNELS[0], 0.5, [0.5, 0.6])], records=[measured(KERNELS[0], [0.5, 0.6])])
