"""Results of the toy framework and of numpy on a machine where nothing disturbs them."""

import datetime
import json
from pathlib import Path

import numpy as np
import published_site

from deepbench_ops.asv_adapter import asv_api
from deepbench_ops.machine import machine_profile
from deepbench_ops.machine.machine_profile import Figure, Profile
from deepbench_ops.measure import yardstick
from deepbench_ops.storage import compression, measurement_files
from deepbench_ops.storage.facts_digest import digest

BENCHMARK = "axpy.Training.kernel_forward"
PROBLEMS = ("axpy_n1000", "axpy_n1000000")
SECONDS = (1e-6, 1e-3)
"""Of each problem with toy 1.0.0 on the processor; the second one with other releases as well."""
DEVICES = {"cpu": 1.0, "toy0": 0.5}
LEVELS = (1.0, 1.0, 1.0, 1.25, 1.25, 1.25)
"""Of toy's releases: 4.0.0 is slower by a quarter."""
TOY = tuple((f"{number}.0.0", f"2024-0{number}-01") for number in range(1, 7))
NUMPY = ("2.0.2", "2024-08-26")
NOMINAL = 1e-3
MACHINE = {
    "machine": "here",
    "os": "Linux",
    "arch": "x86_64",
    "cpu": "a processor",
    "num_cpu": "2",
    "ram": "32 GiB",
    "accelerator": "none",
}


def write(root: Path) -> None:
    """Write results/ of one machine, and the release table of a project that knows numpy."""
    results = root / "results"
    (results / "here").mkdir(parents=True)
    (results / "here" / "machine.json").write_text(json.dumps({**MACHINE, "version": 1}))
    (results / "benchmarks.json").write_text(json.dumps({BENCHMARK: benchmark(), "version": 2}))
    (root / "releases.csv").write_text(
        f"framework,version,date,pins,on_request,index\nnumpy,{','.join(NUMPY)},,no,\n"
    )
    machine_profile.write(results, described())
    random = np.random.default_rng(0)
    for device, share in DEVICES.items():
        for (version, day), level in zip(TOY, LEVELS, strict=True):
            store(results, "toy", version, day, device, share * level, random)
    store(results, "numpy", *NUMPY, "cpu", 2.0, random)


def described() -> Profile:
    """The profile: peaks that no time beats, and the nominal readings of both devices."""
    return Profile(
        machine="here",
        date="2024-09-01",
        facts={"kernel": "6.1"},
        peaks={
            device: {"float32": Figure(1e13, "FLOP/s", "measured: 2048^3 GEMM")}
            for device in DEVICES
        },
        bandwidth={device: Figure(1e13, "bytes/s", "measured: copy") for device in DEVICES},
        yardstick_version=yardstick.VERSION,
        yardsticks={
            "2": {
                kind: Figure(NOMINAL, "s", "measured: fixed work")
                for kind in (*yardstick.KINDS, "toy0 compute 1", "toy0 memory 1")
            }
        },
    )


def benchmark() -> dict:
    """The entry of the benchmark in asv's list."""
    return {
        "name": BENCHMARK,
        "code": "",
        "params": [[f"'{name}'" for name in PROBLEMS], ["'float32'"]],
        "param_names": ["problem", "precision"],
        "type": "kernel",
        "unit": "seconds",
        "version": "1",
        "timeout": 60,
    }


def store(results, framework, version, day, device, level, random):
    """Write the times of two processes for each problem, within one percent of each other."""
    conditions = {"DEEPBENCH_CACHE": "warm", "DEEPBENCH_DEVICE": device}
    made = asv_api.Results(
        {**MACHINE, "python": "3"},
        {},
        published_site.commit(framework, version),
        published_site.timestamp(day),
        "3",
        "-".join(["release-py3", *(name + value for name, value in conditions.items())]),
        conditions,
    )
    rounds = [
        [base * level * np.exp(random.normal(0, 0.003, 5)) for _ in range(2)] for base in SECONDS
    ]
    samples = [[float(f"{each:.6g}") for each in np.concatenate(both)] for both in rounds]
    values = [float(np.median(each)) for each in samples]
    outcome = asv_api.run_outcome(values, samples, [1] * len(values))
    made.load_data(str(results))
    made.add_result(benchmark(), outcome, record_samples=True)
    made.save(str(results))
    path = results / asv_api.result_name("here", made.commit_hash, made.env_name)
    facts = {"framework": f"{framework} {version}", "settings": ""}
    conditions_named = digest(facts)
    lines = [{"fingerprint": conditions_named, "facts": facts}]
    lines += [
        record(name, f"{framework}-{version}", device, day, number, seconds[5 * number :][:5])
        | {"fingerprint": conditions_named}
        for name, seconds in zip(PROBLEMS, samples, strict=True)
        for number in range(2)
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    measurement_files.file_of(path).write_bytes(compression.pack(text.encode()))


def record(problem, release, device, day, number, seconds):
    """The raw record of one process."""
    began = datetime.datetime.fromisoformat(f"{day}T00:00:00+00:00").timestamp()
    return {
        "benchmark": BENCHMARK,
        "params": [problem, "float32"],
        "release": release,
        "started_at": began + 60 * number + (device == "cpu") + 2 * PROBLEMS.index(problem),
        "number": 1,
        "seconds": seconds,
        "yardstick": [NOMINAL] * len(seconds),
        "yardstick_kind": "compute" if device == "cpu" else f"{device} compute 1",
        "nominal": NOMINAL,
        "put_aside": [],
        "disturbed": 0,
        "noise": 0.003,
        "target_reached": True,
        "notes": {},
        "readings": {"load_1min": 0.0},
        "spent": {"kernel": float(sum(seconds))},
    }
