"""A small site, published by asv's own command from results written by asv's own classes."""

import base64
import datetime
import gzip
import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deepbench_ops.asv_adapter import asv_api, plugin
from deepbench_ops.asv_adapter.release_repository import ReleaseRepo
from deepbench_ops.machine import machine_profile
from deepbench_ops.machine.machine_profile import Figure, Profile
from deepbench_ops.storage import compression, measurement_files, model_runs

plugin.install()

PEAK, BANDWIDTH = 1e13, 1e12
"""Of lab-1, in FLOP/s and bytes/s; times that beat them would be unsteady."""

PROFILE = Profile(
    machine="lab-1",
    date="2025-11-20",
    facts={"kernel": "6.1"},
    peaks={"cpu": {"float32": Figure(PEAK, "FLOP/s", "measured: 2048^3 GEMM")}},
    bandwidth={"cpu": Figure(BANDWIDTH, "bytes/s", "measured: triad")},
)

MODEL_RUNS = (
    {
        "kind": "latency",
        "model": "resnet50",
        "batch": 4,
        "threads": 2,
        "precision": "float32",
        "by": "eager",
        "device": "cpu",
        "release": "torch-2.5.1",
        "batches": 200,
        "median_seconds": 0.020,
        "p90_seconds": 0.024,
        "p99_seconds": 0.031,
    },
    *(
        {
            "kind": "scaling",
            "model": "wide_deep",
            "batch": 1000,
            "ranks": ranks,
            "threads": 1,
            "precision": "float32",
            "split": False,
            "device": "cpu",
            "release": "torch-2.5.1",
            "step_seconds": seconds,
        }
        for ranks, seconds in ((1, 0.10), (2, 0.125))
    ),
)

HOSTILE = '<img src=x onerror="window.pwned=1">'
"""A machine's name and a value of its profile, as a stranger might submit them."""

CONDITIONS = {"DEEPBENCH_DEVICE": "cpu", "DEEPBENCH_CACHE": "warm"}

BENCHMARK = "gemm.Training.kernel_forward"
PROBLEMS = ("'m1760_n128_k1760_NN'", "'m7680_n64_k2560_NN'")
PRECISIONS = ("'float32'", "'int8'")

Row = tuple[str, str, str, float | None]

# framework, version, date, seconds: numpy slows down by half between 1.26.4 and 2.0.2.
RELEASES: tuple[Row, ...] = (
    ("numpy", "1.24.4", "2023-06-26", 1.00e-3),
    ("numpy", "1.25.2", "2023-07-31", 1.01e-3),
    ("numpy", "1.26.4", "2024-02-05", 1.00e-3),
    ("torch", "2.3.1", "2024-06-05", 0.30e-3),
    ("numpy", "2.0.2", "2024-08-26", 1.50e-3),
    ("torch", "2.5.1", "2024-10-29", 0.31e-3),
    ("numpy", "2.1.3", "2024-11-02", 1.51e-3),
    ("numpy", "2.2.6", "2025-05-17", 1.50e-3),
    ("numpy", "2.3.5", "2025-11-16", None),
)


def unpacked(script: str) -> str:
    """The content of a page's data file."""
    match = re.fullmatch(r'deepbench\.receive\("([A-Za-z0-9+/=]*)"\);\n', script)
    assert match is not None
    return gzip.decompress(base64.b64decode(match.group(1))).decode("utf-8")


# Further lines: other conditions, another set, a whole model, and a machine that others published.
# By benchmark, machine, framework, version, day: seconds of two problems, conditions.
SERVED = "gemm.InferenceServer.kernel_forward"
MODEL = "model.InferenceServer.kernel_forward"
OTHERS = {
    SERVED: ("'m5124_n700_k2048_NN'", "'m35_n700_k2048_NN'"),
    MODEL: ("'resnet50_b32'", "'resnet50_b16'"),
}
FEW = "1.25.2"
"""The release whose kernels have two samples each, which give no interval."""
UNMEASURED = f"{BENCHMARK.rpartition('.')[0]}.kernel_first_call"
CARD = "old card"
STACKS = {"2016.9.25": "7.5", "2017.7.14": "8.0"}
OLD: tuple[Row, ...] = (
    ("published", "2016.9.25", "2016-09-25", 5.0e-3),
    ("published", "2017.7.14", "2017-07-14", 2.0e-3),
)
ODD_LAYOUT = {**CONDITIONS, "DEEPBENCH_LAYOUT": "channels_last"}
COLD = {**CONDITIONS, "DEEPBENCH_CACHE": "cold"}
CUDA = {**CONDITIONS, "DEEPBENCH_DEVICE": "cuda"}
TWO_DEVICES = "card-box"
ODD_BOX = "odd box"
"""A machine with nothing under the usual conditions."""
MORE = (
    (BENCHMARK, "lab-1", *RELEASES[3][:3], 0.60e-3, ODD_LAYOUT),
    (BENCHMARK, "lab-1", *RELEASES[5][:3], 0.90e-3, ODD_LAYOUT),
    (BENCHMARK, "lab-1", *RELEASES[6][:3], 4.00e-3, COLD),
    (BENCHMARK, "lab-1", *RELEASES[7][:3], 6.00e-3, COLD),
    (SERVED, "lab-1", *RELEASES[6][:3], 4.00e-3, CONDITIONS),
    (SERVED, "lab-1", *RELEASES[7][:3], 2.00e-3, CONDITIONS),
    (MODEL, "lab-1", *RELEASES[5][:3], 2.0, ODD_LAYOUT),
    (BENCHMARK, ODD_BOX, *RELEASES[3][:3], 0.60e-3, ODD_LAYOUT),
    *((BENCHMARK, CARD, *row, {}) for row in OLD),
    *(
        (name, TWO_DEVICES, *RELEASES[at][:3], seconds, conditions)
        for name in (BENCHMARK, SERVED)
        for at, seconds, conditions in (
            (3, 8.0e-3, CONDITIONS),
            (5, 4.0e-3, CONDITIONS),
            (3, 2.0e-4, CUDA),
            (5, 4.0e-4, CUDA),
        )
    ),
)


def commit(framework: str, version: str) -> str:
    return hashlib.sha1(f"{framework}=={version}".encode()).hexdigest()


def timestamp(day: str) -> int:
    return int(datetime.datetime.fromisoformat(day + "T00:00:00+00:00").timestamp() * 1000)


def write_table(path: Path, older: Sequence[Row] = ()) -> None:
    """RELEASES as a release table, with older ones before them."""
    listed = (*older, *RELEASES)
    rows = [f"{framework},{version},{day},,no," for framework, version, day, _ in listed]
    head = "framework,version,date,pins,on_request,index"
    path.write_text("\n".join([head, *rows]) + "\n", "utf-8")


def write_results(folder: Path) -> None:
    """results/ of two machines, one of them hostile: seconds per problem, int8 skipped (NaN)."""
    folder.mkdir()
    listed = {**{name: benchmark(name) for name in (BENCHMARK, UNMEASURED)}, "version": 2}
    (folder / "benchmarks.json").write_text(json.dumps(listed), "utf-8")
    for machine in ("lab-1", HOSTILE):
        write_machine(folder, machine)
        for framework, version, day, seconds in RELEASES:
            if seconds is not None:
                results = store(
                    folder, BENCHMARK, machine, framework, version, day, seconds, CONDITIONS
                )
                if machine == "lab-1":
                    write_measurements(folder, results, seconds, version)
    machine_profile.write(folder, PROFILE)
    model_runs.add(folder / "lab-1", MODEL_RUNS)


def write_more(folder: Path) -> None:
    """Write MORE next to the files of write_results."""
    names = (BENCHMARK, UNMEASURED, *OTHERS)
    listed = {**{name: benchmark(name) for name in names}, "version": 2}
    (folder / "benchmarks.json").write_text(json.dumps(listed), "utf-8")
    for machine in (CARD, TWO_DEVICES, ODD_BOX):
        write_machine(folder, machine)
    for row in MORE:
        store(folder, *row)


def benchmark(name: str) -> dict[str, Any]:
    """The entry of a benchmark in asv's list."""
    return {
        "name": name,
        "code": "def kernel_forward(self, problem, precision):\n    return a < b",
        "params": [list(OTHERS.get(name, PROBLEMS)), list(PRECISIONS)],
        "param_names": ["problem", "precision"],
        "type": "kernel",
        "unit": "seconds",
        "version": "1",
        "timeout": 60,
    }


def machine_params(machine: str) -> dict[str, str]:
    return {"machine": machine, "arch": "x86_64", "cpu": HOSTILE, "os": "Linux", "ram": "8"}


def write_machine(folder: Path, machine: str) -> None:
    (folder / machine).mkdir()
    entry = {**machine_params(machine), "version": 1}
    (folder / machine / "machine.json").write_text(json.dumps(entry), "utf-8")


def store(
    folder: Path,
    name: str,
    machine: str,
    framework: str,
    version: str,
    day: str,
    seconds: float,
    conditions: dict[str, str],
) -> asv_api.Results:
    """Add a benchmark's times at a release to the file that they belong into."""
    environment = "-".join(
        [
            "release-py3.11",
            *(key + conditions[key] for key in conditions if conditions != CONDITIONS),
        ]
    )
    results = asv_api.Results(
        {**machine_params(machine), "python": "3.11"},
        {"CUDA Version": STACKS[version]} if framework == "published" else {},
        commit(framework, version),
        timestamp(day),
        "3.11",
        environment,
        conditions,
    )
    results.load_data(str(folder))
    off = (0.999, 1.001) if version == FEW else (0.998, 0.999, 1, 1.001, 1.002)
    results.add_result(benchmark(name), outcome(seconds, off), record_samples=True)
    results.save(str(folder))
    return results


def write_measurements(
    folder: Path, results: asv_api.Results, seconds: float, version: str
) -> None:
    """Write the records of two processes for the first problem, one per cent to either side.

    From version 2 on the kernel takes another path through another BLAS."""
    params = [text.strip("'") for text in (PROBLEMS[0], PRECISIONS[0])]
    path = folder / asv_api.result_name("lab-1", results.commit_hash, results.env_name)
    blas, route = ("new BLAS", "brgemm") if version >= "2" else ("old BLAS", "jit")
    facts = {"framework": "numpy", "blas": blas, "request_threads": HOSTILE}
    raw = {"benchmark": BENCHMARK, "params": params, "yardstick": [], "notes": {"route": route}}
    raw |= {"fingerprint": "f1"}
    lines = (
        {"fingerprint": "f1", "facts": facts},
        *({**raw, "seconds": [off * seconds], "started_at": off} for off in (0.99, 1.01)),
    )
    text = "".join(json.dumps(line) + "\n" for line in lines)
    measurement_files.file_of(path).write_bytes(compression.pack(text.encode()))


def outcome(seconds: float, off: Sequence[float]) -> Any:
    """The result of a run of the benchmark, samples times `off`: the second problem takes twice as
    long."""
    nan = float("nan")
    values = [seconds, nan, 2 * seconds, nan]
    samples = [None if v != v else [v * each for each in off] for v in values]
    number = [None if v != v else 1 for v in values]
    return asv_api.run_outcome(values, samples, number)


def publish(folder: Path) -> Path:
    """folder/html, published from results written to folder/results."""
    write_table(folder / "releases.csv")
    write_results(folder / "results")
    return published(folder)


def published(folder: Path, every_branch: bool = False) -> Path:
    """folder/html, published from the release table and the results that are in folder."""
    status(folder, every_branch)
    return folder / "html"


def status(folder: Path, every_branch: bool = False) -> int:
    """The exit status of publishing from the release table and the results that are in folder.

    every_branch: of all frameworks in the release table, not of numpy and torch alone.
    """
    conf = asv_api.configuration(
        {
            "project": "deepbench <ops>",
            "dvcs": "releases",
            "repo": str(folder / "releases.csv"),
            "branches": ["numpy", "torch"],
            "results_dir": str(folder / "results"),
            "html_dir": str(folder / "html"),
            "env_dir": str(folder / ".asv" / "env"),
        }
    )
    if every_branch:
        conf.branches = ReleaseRepo(conf.repo, "").measured_branches()
    return asv_api.publish(conf)
